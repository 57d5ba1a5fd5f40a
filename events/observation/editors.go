package observation

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
)

const (
	maxEditors = 16
	specKey    = "f:spec"
)

// editors reads from managed fields who last changed which fields of a Job's or a CronJob's spec. It caches the result
// for each text.
type editors struct{ read memo[specFields] }

// specFields is a set of fields of the spec, as managed fields name them.
type specFields struct {
	names []string // sorted, without the prefix "f:"
	text  string   // managed fields with just these names: {"f:spec":{"f:suspend":{}}}
}

// strip reduces managed fields to the entries that changed fields of the spec, and to these fields. It is idempotent.
func (e *editors) strip(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	var kept []metav1.ManagedFieldsEntry
	for _, entry := range entries {
		if entry.Subresource != "" || entry.Time == nil || entry.FieldsV1 == nil || len(kept) == maxEditors {
			continue
		}
		if fields := e.fields(entry.FieldsV1); len(fields.names) > 0 {
			kept = append(kept, metav1.ManagedFieldsEntry{
				Manager: entry.Manager, Operation: entry.Operation, Time: entry.Time, FieldsV1: metav1.NewFieldsV1(fields.text),
			})
		}
	}
	return kept
}

// of returns the last editor of each field of the spec, from stripped managed fields.
func (e *editors) of(managed []metav1.ManagedFieldsEntry) []events.Editor {
	var all []events.Editor
	for _, entry := range managed {
		if entry.Subresource != "" || entry.FieldsV1 == nil {
			continue
		}
		all = append(all, events.Editor{Edit: events.Edit{
			Manager: bounded(entry.Manager, maxReason), Operation: string(entry.Operation), Time: instant(entry.Time),
		}, Fields: e.fields(entry.FieldsV1).names})
	}
	return all
}

// fields returns the fields of the spec that f names; none if f is not valid JSON.
func (e *editors) fields(f *metav1.FieldsV1) specFields {
	raw := f.GetRawBytes()
	if !bytes.Contains(raw, []byte(specKey)) {
		return specFields{}
	}
	fields, err := e.read.of(raw, func() (specFields, error) { return readSpecFields(raw) })
	if err != nil {
		return specFields{}
	}
	return fields
}

func readSpecFields(raw []byte) (fields specFields, err error) {
	var set struct {
		Spec map[string]json.RawMessage `json:"f:spec"`
	}
	if err := json.Unmarshal(raw, &set); err != nil {
		return fields, err
	}
	kept := map[string]struct{}{}
	for _, name := range slices.Sorted(maps.Keys(set.Spec)) {
		if short, is := strings.CutPrefix(name, "f:"); is && len(kept) < maxEditors {
			kept[name] = struct{}{}
			fields.names = append(fields.names, short)
		}
	}
	text, err := json.Marshal(map[string]any{specKey: kept})
	fields.text = string(text)
	return fields, err
}
