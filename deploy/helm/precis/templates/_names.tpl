{{/* Labels of every object; the caller adds app.kubernetes.io/component. */}}
{{- define "precis.labels" -}}
{{ include "precis.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "precis.selector" -}}
app.kubernetes.io/name: precis
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "precis.name" -}}
{{ .Release.Name | trunc 50 | trimSuffix "-" }}-precis
{{- end }}

{{- define "precis.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* Settings as variables: the sections of a map, joined by two underscores. Takes prefix and map. */}}
{{- define "precis.variables" -}}
{{- range $name, $value := .map }}
{{- $variable := printf "%s%s" $.prefix (upper $name) }}
{{- if kindIs "map" $value }}
{{- include "precis.variables" (dict "prefix" (printf "%s__" $variable) "map" $value) }}
{{- else if kindIs "slice" $value }}
{{ $variable }}: {{ toJson $value | quote }}
{{- else if and (kindIs "float64" $value) (eq (floor $value) $value) }}
{{ $variable }}: {{ int64 $value | quote }} # not 6.7e+07
{{- else }}
{{ $variable }}: {{ toString $value | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* What every container may not do. */}}
{{- define "precis.confined" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- define "precis.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile: {type: RuntimeDefault}
{{- end }}
