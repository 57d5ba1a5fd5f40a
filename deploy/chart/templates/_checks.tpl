{{/* What the schema cannot see: values that do not go together. It gives no text. */}}
{{- define "jobledger.checks" -}}
{{- $max := include "jobledger.kibibytes" .Values.log.maxSize | int64 -}}
{{- $volume := include "jobledger.kibibytes" .Values.log.volume.size | int64 -}}
{{- if and $max (lt $max 16384) -}}
{{- fail (printf "log.maxSize: %s is too small: give 16Mi or more, or 0Gi for no bound" .Values.log.maxSize) -}}
{{- end -}}
{{- if ge $max $volume -}}
{{- fail (printf "log.maxSize: %s must be less than log.volume.size, which is %s: the log would fill the volume, and then nothing is done" .Values.log.maxSize .Values.log.volume.size) -}}
{{- end -}}
{{- if and .Values.copy.secret (not .Values.copy.url) -}}
{{- fail "copy.secret goes with copy.url, which is empty" -}}
{{- end -}}
{{- if and .Values.reader.enabled (not .Values.metrics.tlsSecret) -}}
{{- fail "reader.enabled goes with metrics.tlsSecret, which is empty: the reader shows the controller a token, and checks its certificate" -}}
{{- end -}}
{{- if and .Values.reader.enabled (eq .Values.reader.namespace .Release.Namespace) -}}
{{- fail "reader.namespace is that of the controller: who may forward ports to the reader would reach all that the controller tells on loopback" -}}
{{- end -}}
{{- if and .Values.metrics.authorize (not (include "jobledger.tlsSecret" .)) -}}
{{- fail "metrics.authorize goes with metrics.tlsSecret, which is empty: a token needs TLS" -}}
{{- end -}}
{{- if .Values.ha.enabled -}}
{{- include "jobledger.haChecks" . -}}
{{- end -}}
{{- range $key := list "caSecret" "credsSecret" -}}
{{- if and (get $.Values.nats $key) (not $.Values.nats.url) -}}
{{- fail (printf "nats.%s goes with nats.url, which is empty: the controller would refuse to start" $key) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Of several controllers: what does not go with them, and what goes with one mode only. */}}
{{- define "jobledger.haChecks" -}}
{{- $ha := .Values.ha -}}
{{- if eq .Values.manage "observe" -}}
{{- fail "ha.enabled does not go with manage: observe: who observes writes nothing to the cluster, and needs no standby" -}}
{{- end -}}
{{- if .Values.copy.url -}}
{{- fail "ha.enabled does not go with copy.url: the controller refuses it. Each controller has the whole log" -}}
{{- end -}}
{{- if eq (int $ha.replicas) 1 -}}
{{- fail "ha.replicas: with 1 nobody takes over. Give 0 for the usual number, or 2 and more" -}}
{{- end -}}
{{- if include "jobledger.follows" . -}}
{{- range $key := list "url" "monitorUrl" "assumeSynced" "credsSecret" -}}
{{- if get $ha $key -}}
{{- fail (printf "ha.%s goes with ha.mode: replicate, and the mode is follow, which needs no NATS (docs/ha.md)" $key) -}}
{{- end -}}
{{- end -}}
{{- if gt (int $ha.replicas) 3 -}}
{{- fail (printf "ha.replicas: %d are too many for ha.mode: follow: two are enough, and a third does no harm" (int $ha.replicas)) -}}
{{- end -}}
{{- if and $ha.caSecret (not .Values.metrics.tlsSecret) -}}
{{- fail "ha.caSecret goes with metrics.tlsSecret, which is empty: the chart makes a certificate then, and has its CA" -}}
{{- end -}}
{{- else -}}
{{- if not $ha.url -}}
{{- fail "ha.mode: replicate goes with ha.url, which is empty: name the NATS servers that are to hold the log (docs/ha.md)" -}}
{{- end -}}
{{- if not (or $ha.monitorUrl $ha.assumeSynced) -}}
{{- fail "ha.mode: replicate goes with ha.monitorUrl, where each NATS server proves that it syncs what it stores, or with ha.assumeSynced" -}}
{{- end -}}
{{- if and $ha.monitorUrl $ha.assumeSynced -}}
{{- fail "ha.monitorUrl and ha.assumeSynced: one of the two" -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* A size such as 8Gi, in KiB. */}}
{{- define "jobledger.kibibytes" -}}
{{- mul (regexFind "^[0-9]+" . | int64) (get (dict "Ki" 1 "Mi" 1024 "Gi" 1048576 "Ti" 1073741824) (regexFind "[KMGT]i$" .)) }}
{{- end }}
