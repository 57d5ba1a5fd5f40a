{{/* What it may do with Jobs and pods, and that it sees CronJobs. */}}
{{- define "jobledger.rules" -}}
{{- if eq .Values.manage "observe" -}}
- apiGroups: [batch]
  resources: [jobs]
  verbs: [list, watch]
- apiGroups: [""]
  resources: [pods]
  verbs: [list, watch]
{{- if .Values.cronJobs }}
- apiGroups: [batch]
  resources: [cronjobs]
  verbs: [list, watch]
{{- end }}
{{- else -}}
- apiGroups: [batch]
  resources: [jobs]
  verbs: [get, list, watch]
- apiGroups: [batch]
  resources: [jobs/status]
  verbs: [update]
- apiGroups: [batch]
  resources: [jobs/finalizers] # pods block the deletion of their Job, which some clusters ask this right for
  verbs: [update]
- apiGroups: [""]
  resources: [pods]
  verbs: [list, watch, create, delete, patch]
- apiGroups: [""]
  resources: [events]
  verbs: [create, patch]
{{- if .Values.cronJobs }}
- apiGroups: [batch]
  resources: [cronjobs]
  verbs: [list, watch]
{{- end }}
{{- end }}
{{- end }}

{{/* What it may do with Leases in the namespace of its own. */}}
{{- define "jobledger.leaseRules" -}}
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create] # what is created has no name yet that a role could check
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [jobledger]
  verbs: [get, update]
{{- end }}

{{/* To find another controller that runs the same Jobs. */}}
{{- define "jobledger.rivalRules" -}}
# To find another controller that runs the same Jobs: by its Lease in the namespace jobledger or kube-system, without the right to read
# which none starts, or in a namespace that it runs alone, which gets time to end. A Lease that a tenant writes under this name delays a
# start by two minutes at most.
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [jobledger]
  verbs: [get, list]
{{- end }}

{{/* To delete Jobs whose TTL has passed. */}}
{{- define "jobledger.ttlRules" -}}
- apiGroups: [batch]
  resources: [jobs]
  verbs: [delete]
{{- end }}

{{/* The groups of pods that are to start together. Each is looked for once, so nothing watches them. */}}
{{- define "jobledger.gangRules" -}}
- apiGroups: [scheduling.k8s.io]
  resources: [workloads]
  verbs: [get, list, create, patch]
- apiGroups: [scheduling.k8s.io]
  resources: [podgroups]
  verbs: [get, list, create, patch]
{{- end }}

{{/* To run CronJobs, beside what shows them. */}}
{{- define "jobledger.cronJobRules" -}}
- apiGroups: [batch]
  resources: [cronjobs]
  verbs: [get]
- apiGroups: [batch]
  resources: [cronjobs/status]
  verbs: [update]
- apiGroups: [batch]
  resources: [cronjobs/finalizers] # Jobs block the deletion of their CronJob, which some clusters ask this right for
  verbs: [update]
- apiGroups: [batch]
  resources: [jobs]
  verbs: [create, delete]
{{- end }}
