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

{{/* Whether several controllers copy the log of the one that leads. */}}
{{- define "jobledger.follows" -}}
{{ if and .Values.ha.enabled (eq .Values.ha.mode "follow") }}true{{ end }}
{{- end }}

{{/* Whether several controllers have their log from a stream of NATS. */}}
{{- define "jobledger.replicates" -}}
{{ if and .Values.ha.enabled (eq .Values.ha.mode "replicate") }}true{{ end }}
{{- end }}

{{/* How many controllers there are. */}}
{{- define "jobledger.replicas" -}}
{{ if not .Values.ha.enabled }}1{{ else if .Values.ha.replicas }}{{ .Values.ha.replicas }}{{ else if include "jobledger.follows" . }}2{{ else }}3{{ end }}
{{- end }}

{{/* The name of the controllers' Service in DNS, for which their certificate is. Each of its addresses is a controller. */}}
{{- define "jobledger.host" -}}
{{ include "jobledger.name" . }}.{{ .Release.Namespace }}.svc
{{- end }}

{{/* The Secret with the certificate of the port; empty where it serves no TLS. Controllers that follow each other need one. */}}
{{- define "jobledger.tlsSecret" -}}
{{ if .Values.metrics.tlsSecret }}{{ .Values.metrics.tlsSecret }}{{ else if include "jobledger.follows" . }}{{ include "jobledger.name" . }}-tls{{ end }}
{{- end }}

{{/* Whether the chart makes that Secret, with the CA in it. */}}
{{- define "jobledger.makesTLS" -}}
{{ if and (include "jobledger.follows" .) (not .Values.metrics.tlsSecret) }}true{{ end }}
{{- end }}

{{/* The Secret with the key of the log, which all controllers share. */}}
{{- define "jobledger.keySecret" -}}
{{ .Values.ha.keySecret | default (printf "%s-log-key" (include "jobledger.name" .)) }}
{{- end }}
