package projector

import (
	"slices"

	"github.com/jobledger/jobledger/events"
)

// editOf is who changed the spec that an observation shows, of a Job that was seen before; else who made the Job. It is the newest
// editor of a field that has changed, and nil when none is named.
func editOf(j *Job, o *events.Observation) *events.Edit {
	var newest *events.Edit
	take := func(e *events.Editor) {
		if newest == nil || e.Time > newest.Time {
			edit := e.Edit
			newest = &edit
		}
	}
	made := o.Facts.(*events.JobSeen).Created
	if j == nil || j.Spec == nil {
		for i := range o.Editors {
			if e := &o.Editors[i]; e.Time == made {
				take(e)
			}
		}
		return newest
	}
	if o.Spec == nil || o.Spec.Hash == j.Spec.Hash {
		return nil
	}
	changed := j.Spec.Differs(o.Spec)
	for i := range o.Editors {
		e := &o.Editors[i]
		if slices.ContainsFunc(e.Fields, func(f string) bool { return slices.Contains(changed, f) }) {
			take(e)
		}
	}
	return newest
}
