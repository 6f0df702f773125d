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

{{/* What a config that was given as text has to say of the state. */}}
{{- define "perch.check" -}}
{{- $text := include "perch.config" . -}}
{{- $name := printf "%s-state" (include "perch.name" .) -}}
{{- if and (eq .Values.state.kind "configmap") (not (regexMatch (printf "configmap: *[\"']?%s[\"']? *[},#\\n]" $name) (print $text "\n"))) -}}
{{- fail (printf "the config does not name the chart's state: want state: {configmap: %s} in it, or state.kind file or none in the values" $name) -}}
{{- end -}}
{{- if and (eq .Values.state.kind "file") (not (regexMatch "file: *[\"']?/var/lib/perch/" $text)) -}}
{{- fail "the config does not keep its state on the chart's volume: want state: {file: /var/lib/perch/state} in it" -}}
{{- end -}}
{{- end }}
