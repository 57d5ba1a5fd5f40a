package intake

import (
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// editOf returns who changed the Job's spec: the newest editor of a changed field in metadata.managedFields. For a new
// Job it returns the creator. It returns nil if the object names none.
func editOf(j *projector.Job, o *events.Observation) *events.Edit {
	switch {
	case j == nil || j.Spec == nil:
		return makerOf(o, o.Facts.(*events.JobSeen).Created)
	case o.Spec == nil || o.Spec.Hash == j.Spec.Hash:
		return nil
	}
	return editorOf(o, j.Spec.Differs(o.Spec))
}

// makerOf returns the creator of an object: the field manager whose entry has the object's creation time; nil for none.
func makerOf(o *events.Observation, created events.Time) *events.Edit {
	return newestEdit(o, func(e *events.Editor) bool { return e.Time == created })
}

// editorOf returns the field manager who edited one of the changed fields last; nil if none is named.
func editorOf(o *events.Observation, changed []string) *events.Edit {
	return newestEdit(o, func(e *events.Editor) bool {
		return slices.ContainsFunc(e.Fields, func(f string) bool { return slices.Contains(changed, f) })
	})
}

func newestEdit(o *events.Observation, is func(*events.Editor) bool) *events.Edit {
	var newest *events.Edit
	for i := range o.Editors {
		if e := &o.Editors[i]; is(e) && (newest == nil || e.Time > newest.Time) {
			edit := e.Edit
			newest = &edit
		}
	}
	return newest
}
