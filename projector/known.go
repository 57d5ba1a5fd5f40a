package projector

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// Package intake, which turns observations into records, calls these methods to find out whether an observation is new.

// WhereIs returns the pod with that UID, and the subject (Job, or orphan pods of a namespace) that holds it; nil if
// unknown.
func (w *World) WhereIs(uid types.UID) (Subject, *Pod) {
	s := w.subjects[w.homes[uid]]
	if s == nil {
		return nil, nil
	}
	return s, PodOf(s, uid)
}

// RunOf returns the stream of the CronJob that owns the Job; ok is false if none does.
func (w *World) RunOf(job types.UID) (cronJob events.Stream, ok bool) {
	cronJob, ok = w.runs[job]
	return cronJob, ok
}

// RunUIDs returns the UIDs of all Jobs that CronJobs own, sorted.
func (w *World) RunUIDs() []types.UID { return slices.Sorted(maps.Keys(w.runs)) }

// SpecAt returns the newest record that stores the spec with that hash. It returns 0 if the newest file has no such
// record (a spec in an older file only is stored again).
func (w *World) SpecAt(hash string) events.Sequence { return w.specs.At(hash) }

// TemplateAt returns the newest record that stores the redacted pod template with that hash; 0 if the newest file has
// none.
func (w *World) TemplateAt(hash string) events.Sequence { return w.specs.TemplateAt(hash) }

// PoliciesAt returns the newest record that stores the pod failure and success policies with that hash; 0 if the newest
// file has none.
func (w *World) PoliciesAt(hash string) events.Sequence { return w.specs.PoliciesAt(hash) }

// ZoneAt returns the newest record that stores the rules of a time zone; ok is false if none is known.
func (w *World) ZoneAt(name events.ZoneName) (at events.Sequence, ok bool) {
	return w.zones.At(name)
}

// BuiltinWrote returns the time of the built-in controller's newest status write, as the Job's object shows it.
func (j *Job) BuiltinWrote() events.Time { return j.rivalry.wrote }

// ReadsCondition reports whether a podFailurePolicy rule of the Job names pod conditions of that type.
func (j *Job) ReadsCondition(kind string) bool { return j.policies.Reads(kind) }

// Unowned returns the pods without an owner whose records are in the Job's stream, by UID. The caller must not change
// the map.
func (j *Job) Unowned() map[types.UID]*Pod { return j.unowned }

// Written reports whether a status write in flight accounts for the pod.
func (p *Pod) Written() bool { return p.written }
