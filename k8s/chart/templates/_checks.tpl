{{/* What of perch.yaml the chart's objects depend on, as JSON; of a text, too. */}}
{{- define "perch.facts" -}}
{{- $config := include "perch.config" . | fromYaml -}}
{{- with $config.Error }}{{ fail (printf "the config cannot be read: %s" .) }}{{ end -}}
{{- $state := ternary $config.state dict (kindIs "map" $config.state) -}}
{{- $metrics := ternary $config.metrics dict (kindIs "map" $config.metrics) -}}
{{- $targets := ternary $config.targets list (kindIs "slice" $config.targets) -}}
{{- dict "configmap" ($state.configmap | default "") "file" ($state.file | default "") "listen" ($metrics.listen | default ":9877") "targets" (len $targets) | toJson -}}
{{- end }}

{{/* What would be refused later, by the API server or by perch. */}}
{{- define "perch.check" -}}
{{- $facts := include "perch.facts" . | fromJson -}}
{{- include "perch.checkKind" . -}}
{{- include "perch.checkName" . -}}
{{- include "perch.checkState" (list . $facts) -}}
{{- include "perch.checkConfig" (list . $facts) -}}
{{- end }}

{{- define "perch.checkName" -}}
{{- $name := include "perch.name" . -}}
{{- if not (regexMatch "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" $name) -}}
{{- fail (printf "the objects would be called %q, as the release is: want small letters, digits and - alone; set another with --set name=NAME" $name) -}}
{{- end -}}
{{- if has .Values.policyConfigMap (list $name (printf "%s-state" $name)) -}}
{{- fail (printf "policyConfigMap %s: a ConfigMap of the chart's own would be called so, and perch's release decides what is in it: set another name with --set name=NAME" .Values.policyConfigMap) -}}
{{- end -}}
{{- if and (eq .Values.kind "deployment") .Values.serviceMonitor.enabled (regexMatch "^[0-9]" $name) -}}
{{- fail (printf "the Service of serviceMonitor would be called %q: a Service's name begins with a letter; set another with --set name=NAME, or use podMonitor" $name) -}}
{{- end -}}
{{- end }}

{{- define "perch.checkState" -}}
{{- $kind := (index . 0).Values.state.kind -}}
{{- $facts := index . 1 -}}
{{- $name := printf "%s-state" (include "perch.name" (index . 0)) -}}
{{- if and (eq $kind "configmap") (ne (toString $facts.configmap) $name) -}}
{{- fail (printf "the config does not name the chart's state: want state: {configmap: %s} in it, or state.kind file or none in the values" $name) -}}
{{- end -}}
{{- if and (eq $kind "file") (ne (toString $facts.file | clean | dir) "/var/lib/perch") -}}
{{- fail "the config does not keep its state on the chart's volume: want state: {file: /var/lib/perch/state} in it" -}}
{{- end -}}
{{- if and (eq $kind "none") (or $facts.configmap $facts.file) -}}
{{- fail "the config keeps a state, and state.kind is none: want state.kind configmap or file in the values, or no state in the config" -}}
{{- end -}}
{{- end }}

{{- define "perch.checkConfig" -}}
{{- $values := (index . 0).Values -}}
{{- $facts := index . 1 -}}
{{- if and (eq $values.kind "indexed-job") (gt (int $values.shards) (int $facts.targets)) -}}
{{- fail (printf "shards is %d, and a target is in one shard, whole: the config has %d of them" (int $values.shards) (int $facts.targets)) -}}
{{- end -}}
{{- if eq $values.kind "deployment" -}}
{{- $listen := toString $facts.listen -}}
{{- if not (regexMatch "^(0\\.0\\.0\\.0|\\[::\\])?:[0-9]+$" $listen) -}}
{{- fail (printf "metrics.listen is %q: the kubelet and Prometheus come to the Pod's own address; want :%d" $listen (int $values.metricsPort)) -}}
{{- end -}}
{{- if not (hasSuffix (printf ":%d" (int $values.metricsPort)) $listen) -}}
{{- fail (printf "metrics.listen is %q in the config, and metricsPort %d in the values: want the same port in both" $listen (int $values.metricsPort)) -}}
{{- end -}}
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
{{- if and (gt (int .Values.replicas) 1) (ne .Values.kind "deployment") -}}
{{- fail (printf "replicas %d: only kind: deployment runs all the time, and this is %s, whose next run needs no replica" (int .Values.replicas) .Values.kind) -}}
{{- end -}}
{{- if and (gt (int .Values.replicas) 1) (ne .Values.state.kind "configmap") -}}
{{- fail (printf "replicas %d: replicas elect the one that probes by the Lease of the state's ConfigMap, and state.kind is %s: with it each would probe, or wait for a volume that is on another node; want state.kind configmap" (int .Values.replicas) .Values.state.kind) -}}
{{- end -}}
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
