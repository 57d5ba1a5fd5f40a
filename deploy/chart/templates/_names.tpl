{{/* The name of all objects: that of the release, which is jobledger in deploy/. */}}
{{- define "jobledger.name" -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* Whether it works under a Lease: one that observes writes nothing. */}}
{{- define "jobledger.leads" -}}
{{ if ne .Values.manage "observe" }}true{{ end }}
{{- end }}

{{/* Whether its Lease is that of all namespaces, in values.lease.namespace. One of a single namespace has its Lease there. */}}
{{- define "jobledger.leadsAll" -}}
{{ if and (include "jobledger.leads" .) (not .Values.watchNamespace) }}true{{ end }}
{{- end }}

{{/* Who the rights are for. */}}
{{- define "jobledger.subjects" -}}
subjects:
- kind: ServiceAccount
  name: {{ include "jobledger.name" . }}
  namespace: {{ .Release.Namespace }}
{{- end }}

{{/* What binds a ClusterRole of a feature: the name's end is given with it. */}}
{{- define "jobledger.clusterRoleBinding" -}}
{{- $name := include "jobledger.name" .root -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ $name }}{{ .suffix }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ $name }}{{ .suffix }}
{{ include "jobledger.subjects" .root }}
{{- end }}

{{/* The Secret with the key that all controllers of a replicated log share. */}}
{{- define "jobledger.keySecret" -}}
{{ .Values.ha.keySecret | default (printf "%s-log-key" (include "jobledger.name" .)) }}
{{- end }}
