package informer

import (
	"bytes"
	"encoding/json"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
)

const (
	maxEditors = 16
	specKey    = "f:spec"
)

// stripEditors leaves of managed fields who changed which fields of the spec, and no more: {"f:spec":{"f:suspend":{}}}.
// Stripping twice is stripping once.
func stripEditors(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	var kept []metav1.ManagedFieldsEntry
	for _, e := range entries {
		if e.Subresource != "" || e.Time == nil || e.FieldsV1 == nil || len(kept) == maxEditors {
			continue
		}
		if fields := specFields(e.FieldsV1.GetRawBytes()); len(fields) > 0 {
			raw, err := json.Marshal(map[string]any{specKey: fields})
			if err == nil {
				kept = append(kept, metav1.ManagedFieldsEntry{
					Manager: e.Manager, Operation: e.Operation, Time: e.Time, FieldsV1: metav1.NewFieldsV1(string(raw)),
				})
			}
		}
	}
	return kept
}

// specFields are the fields of the spec that a set of managed fields names, with nothing below them.
func specFields(raw []byte) map[string]struct{} {
	if !bytes.Contains(raw, []byte(specKey)) {
		return nil
	}
	var set struct {
		Spec map[string]json.RawMessage `json:"f:spec"`
	}
	if json.Unmarshal(raw, &set) != nil {
		return nil
	}
	fields := map[string]struct{}{}
	for name := range set.Spec {
		if strings.HasPrefix(name, "f:") && len(fields) < maxEditors {
			fields[name] = struct{}{}
		}
	}
	return fields
}

// editorsOf are who last changed which fields of the spec of a Job or a CronJob, by its stripped managed fields.
func editorsOf(managed []metav1.ManagedFieldsEntry) []events.Editor {
	var editors []events.Editor
	for _, e := range managed {
		if e.Subresource != "" || e.FieldsV1 == nil {
			continue
		}
		editor := events.Editor{Edit: events.Edit{
			Manager: bounded(e.Manager, maxReason), Operation: string(e.Operation), Time: instant(e.Time),
		}}
		for name := range specFields(e.FieldsV1.GetRawBytes()) {
			editor.Fields = append(editor.Fields, strings.TrimPrefix(name, "f:"))
		}
		editors = append(editors, editor)
	}
	return editors
}
