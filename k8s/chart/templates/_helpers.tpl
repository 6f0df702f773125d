{{- define "perch.name" -}}
{{ regexReplaceAll "-+$" (.Values.name | default .Release.Name | trunc 40) "" }}
{{- end }}

{{- define "perch.labels" -}}
app.kubernetes.io/name: perch
app.kubernetes.io/instance: {{ include "perch.name" . | quote }}
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

{{/* The image, by its digest where there is one. */}}
{{- define "perch.image" -}}
{{- $tag := .Values.image.tag -}}
{{- if not (or $tag .Values.image.digest) }}{{ $tag = .Chart.AppVersion }}{{ end -}}
{{ .Values.image.repository }}{{ with $tag }}:{{ . }}{{ end }}{{ with .Values.image.digest }}@{{ . }}{{ end }}
{{- end }}

{{/* perch.yaml: the text as it is but for an editor's marks, or the values with the state that the chart makes. */}}
{{- define "perch.config" -}}
{{- if kindIs "string" .Values.config -}}
{{ .Values.config | trimPrefix "\ufeff" | replace "\r\n" "\n" }}
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
