{{/* The Pod's template. Arguments: a list of the root and perch's arguments. */}}
{{- define "perch.pod" -}}
{{- $ := index . 0 -}}
{{- $args := index . 1 -}}
{{- $name := include "perch.name" $ -}}
{{- $serve := eq $.Values.kind "deployment" -}}
metadata:
  labels:
    {{- include "perch.labels" $ | nindent 4 }}
    {{- with omit $.Values.podLabels "app.kubernetes.io/name" "app.kubernetes.io/instance" }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    perch.example/config-hash: {{ include "perch.config" $ | sha256sum | trunc 16 | quote }}
    {{- with $.Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  restartPolicy: {{ ternary "Always" "Never" $serve }}
  terminationGracePeriodSeconds: 15
  serviceAccountName: {{ include "perch.account" $ | quote }}
  automountServiceAccountToken: {{ eq $.Values.state.kind "configmap" }}
  enableServiceLinks: false
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    {{- if eq $.Values.state.kind "file" }}
    fsGroup: 65532
    fsGroupChangePolicy: OnRootMismatch
    {{- end }}
    seccompProfile: {type: RuntimeDefault}
  {{- range $key := list "imagePullSecrets" "dnsConfig" "hostAliases" "nodeSelector" "tolerations" "affinity" }}
  {{- with get $.Values $key }}
  {{ $key }}:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- end }}
  {{- range $key := list "dnsPolicy" "runtimeClassName" "priorityClassName" }}
  {{- with get $.Values $key }}
  {{ $key }}: {{ quote . }}
  {{- end }}
  {{- end }}
  {{- if $.Values.hostNetwork }}
  hostNetwork: true
  {{- end }}
  {{- if and $serve (gt (int $.Values.replicas) 1) }}
  topologySpreadConstraints:
    {{- range $key := list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
    - maxSkew: 1
      topologyKey: {{ $key }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "perch.labels" $ | nindent 10 }}
    {{- end }}
  {{- end }}
  containers:
    - name: perch
      image: {{ include "perch.image" $ | quote }}
      {{- with $.Values.image.pullPolicy }}
      imagePullPolicy: {{ quote . }}
      {{- end }}
      args:
        {{- toYaml (concat $args $.Values.extraArgs) | nindent 8 }}
      {{- if $serve }}
      ports:
        - {name: metrics, containerPort: {{ int $.Values.metricsPort }}, protocol: TCP}
      livenessProbe:
        httpGet: {path: /healthz, port: metrics}
        periodSeconds: 10
        timeoutSeconds: 3
        failureThreshold: 3
      readinessProbe:
        httpGet: {path: /readyz, port: metrics}
        periodSeconds: 10
        timeoutSeconds: 3
        failureThreshold: 3
      {{- end }}
      env:
        - {name: GOMEMLIMIT, value: {{ $.Values.goMemoryLimit | quote }}}
        {{- if eq $.Values.kind "indexed-job" }}
        - {name: JOB_COMPLETION_COUNT, value: {{ int $.Values.shards | quote }}}
        {{- end }}
        - {name: PERCH_NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
        - {name: PERCH_POD_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
        - {name: PERCH_ZONE, valueFrom: {fieldRef: {fieldPath: "metadata.labels['topology.kubernetes.io/zone']"}}}
        {{- range $.Values.secretEnv }}
        - name: {{ quote . }}
          valueFrom:
            secretKeyRef: {name: {{ quote $name }}, key: {{ . | lower | replace "_" "-" | quote }}, optional: true}
        {{- end }}
        {{- with $.Values.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      resources:
        requests: {cpu: {{ quote $.Values.cpuRequest }}, memory: {{ $.Values.memory }}}
        limits: {memory: {{ $.Values.memory }}}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
      volumeMounts:
        - {name: config, mountPath: /etc/perch/config, readOnly: true}
        - {name: secrets, mountPath: /etc/perch/secrets, readOnly: true}
        - {name: policy, mountPath: /etc/perch/policy, readOnly: true}
        {{- if eq $.Values.state.kind "file" }}
        - {name: state, mountPath: /var/lib/perch}
        {{- end }}
        {{- with $.Values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: config
      configMap: {name: {{ quote $name }}}
    - name: secrets
      secret: {secretName: {{ quote $name }}, optional: true}
    - name: policy
      configMap: {name: {{ quote $.Values.policyConfigMap }}, optional: true}
    {{- if eq $.Values.state.kind "file" }}
    - name: state
      persistentVolumeClaim: {claimName: {{ $name }}-state}
    {{- end }}
    {{- with $.Values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}
