package loop

import (
	"github.com/jobledger/jobledger/events"
)

// A Job or CronJob that was deleted and exists again proves that the cluster was restored to an earlier state (a
// rewind), because a UID is never reused. This finds a restored cluster even if its resource versions have already
// passed the known ones (docs/design/0007). From then on no input is processed and nothing is decided, until the
// informer reports the next epoch (life of the log). The method Returned gives the proof to the informer.

// returned reports whether an observation shows a Job or CronJob that was deleted earlier in this epoch.
func (l *Loop) returned(o *events.Observation) bool {
	uid := o.Job.UID
	proof, went := events.Rewind{Object: uid}, false
	if f, ok := o.Facts.(*events.JobSeen); ok {
		proof.Resource, proof.Found = events.Jobs, f.Version
		proof.Known, went = l.jobWent(events.JobStream(uid))
	}
	if f, ok := o.Facts.(*events.CronJobSeen); ok {
		proof.Resource, proof.Found = events.CronJobs, f.Version
		proof.Known, went = l.cronJobWent(events.CronJobStream(uid))
	}
	if went {
		l.back = &proof
	}
	return went
}

// jobWent returns the resourceVersion at which a Job was deleted; ok is false if it was not deleted, or if the log does
// not tell.
func (l *Loop) jobWent(s events.Stream) (version uint64, ok bool) {
	switch j := l.world.Job(s); {
	case l.world.Retired(s) != nil, j == nil && l.past(s) == 0:
		return 0, false
	case j != nil && j.Known():
		return j.Version, j.Gone
	}
	return l.wentAt(s)
}

// cronJobWent returns the resourceVersion at which a CronJob was deleted; ok is false if it was not deleted, or if the
// log does not tell.
func (l *Loop) cronJobWent(s events.Stream) (version uint64, ok bool) {
	switch c := l.world.CronJob(s); {
	case c == nil && l.past(s) == 0:
		return 0, false
	case c != nil && c.Known():
		return c.Seen.Version, c.Gone
	}
	return l.wentAt(s)
}

// wentAt returns the resourceVersion at which the Job or CronJob of a stream was deleted. It uses the newest record
// that shows the object; ok is false if that record does not show a deletion.
func (l *Loop) wentAt(s events.Stream) (version uint64, ok bool) {
	for rec := range l.backward(s) {
		switch object, subject := rec.Subject(); {
		case subject && object.Gone:
			return object.Version, true
		case subject:
			return 0, false
		}
	}
	return 0, false
}

// Returned returns the proof that the cluster was restored to an earlier state, and the epoch (life of the log) in
// which it was found. ok is false if there is no proof.
func (l *Loop) Returned() (life events.Identity, proof events.Rewind, ok bool) {
	if l.back == nil {
		return events.Identity{}, events.Rewind{}, false
	}
	return l.world.Identity, *l.back, true
}
