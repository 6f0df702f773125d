{{- define "perch.name" -}}
{{ .Values.name | default .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "perch.labels" -}}
app.kubernetes.io/name: perch
app.kubernetes.io/instance: {{ include "perch.name" . }}
{{- end }}

{{- define "perch.account" -}}
{{ .Values.serviceAccount.name | default (include "perch.name" .) }}
{{- end }}

{{/* The names of the state's ConfigMaps and Leases, one for each shard. */}}
{{- define "perch.stateNames" -}}
{{- $name := printf "%s-state" (include "perch.name" .) -}}
{{- if eq .Values.kind "indexed-job" -}}
{{- $names := list -}}
{{- range $i := until (int .Values.shards) }}{{ $names = append $names (printf "%s-%d" $name $i) }}{{ end -}}
{{ toJson $names }}
{{- else -}}
{{ toJson (list $name) }}
{{- end -}}
{{- end }}

{{/* perch.yaml: the text as it is, or the values with the state that the chart makes. */}}
{{- define "perch.config" -}}
{{- if kindIs "string" .Values.config -}}
{{ .Values.config }}
{{- else -}}
{{- $config := deepCopy .Values.config -}}
{{- if and (eq .Values.state.kind "configmap") (not (hasKey $config "state")) -}}
{{- $_ := set $config "state" (dict "configmap" (printf "%s-state" (include "perch.name" .))) -}}
{{- else if and (eq .Values.state.kind "file") (not (hasKey $config "state")) -}}
{{- $_ := set $config "state" (dict "file" "/var/lib/perch/state") -}}
{{- end -}}
{{ toYaml $config }}
{{- end -}}
{{- end }}

{{/* Seconds of a duration such as 3m30s. */}}
{{- define "perch.seconds" -}}
{{- $seconds := 0.0 -}}
{{- range regexFindAll "[0-9.]+[hms]" . -1 -}}
{{- $each := get (dict "h" 3600.0 "m" 60.0 "s" 1.0) (regexFind "[hms]" .) -}}
{{- $seconds = addf $seconds (mulf $each (regexFind "[0-9.]+" . | float64)) -}}
{{- end -}}
{{ $seconds }}
{{- end }}

{{/* What the values' schema cannot say in words. */}}
{{- define "perch.checkKind" -}}
{{- if eq .Values.kind "deployment" -}}
{{- if and .Values.podMonitor.enabled .Values.serviceMonitor.enabled -}}
{{- fail "podMonitor and serviceMonitor are both enabled: perch would be scraped twice; want one of them" -}}
{{- end -}}
{{- else -}}
{{- if or .Values.podMonitor.enabled .Values.serviceMonitor.enabled -}}
{{- fail (printf "podMonitor and serviceMonitor are for kind: deployment, and this is %s, whose Pods are gone before they are scraped: want both disabled, and metrics.push in the config" .Values.kind) -}}
{{- end -}}
{{- if not (regexMatch "^ *(@[a-z]+|[^ ]+( +[^ ]+){4}) *$" .Values.schedule) -}}
{{- fail (printf "schedule %q: want cron's five fields, such as \"7-59/15 * * * *\"; perch manifest --schedule 15m prints those of an interval" .Values.schedule) -}}
{{- end -}}
{{- if lt (float64 .Values.activeDeadlineSeconds) (addf (include "perch.seconds" .Values.deadline | float64) 20.0) -}}
{{- fail (printf "activeDeadlineSeconds %d: Kubernetes would end perch before it has ended itself, saved and told: want 20 more than deadline (%s) at least; perch manifest prints both for your config" (int .Values.activeDeadlineSeconds) .Values.deadline) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* What a config that was given as text has to say of the state. */}}
{{- define "perch.check" -}}
{{- include "perch.checkKind" . -}}
{{- $text := include "perch.config" . -}}
{{- $name := printf "%s-state" (include "perch.name" .) -}}
{{- if and (eq .Values.state.kind "configmap") (not (regexMatch (printf "configmap: *[\"']?%s[\"']? *[},#\\n]" $name) (print $text "\n"))) -}}
{{- fail (printf "the config does not name the chart's state: want state: {configmap: %s} in it, or state.kind file or none in the values" $name) -}}
{{- end -}}
{{- if and (eq .Values.state.kind "file") (not (regexMatch "file: *[\"']?/var/lib/perch/" $text)) -}}
{{- fail "the config does not keep its state on the chart's volume: want state: {file: /var/lib/perch/state} in it" -}}
{{- end -}}
{{- end }}
