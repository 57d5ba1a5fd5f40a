package loop

import (
	"github.com/jobledger/jobledger/events"
)

// A Job or a CronJob that had gone and is there again proves that the cluster went back: the UID of an object is never
// given out twice. This finds a restored cluster that has passed every version which was known of the old one
// (docs/design/0007). From there on nothing is taken in and nothing is decided until the informer, which has to be told,
// says that another life of the log begins.

// returned reports whether the watch or a list shows a Job or a CronJob that had gone in this life of the log.
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

// jobWent is the version at which a Job had gone; ok is false when it had not, or when the log tells nothing of it.
func (l *Loop) jobWent(s events.Stream) (version uint64, ok bool) {
	switch j := l.world.Job(s); {
	case l.world.Retired(s) != nil, j == nil && l.past(s) == 0:
		return 0, false
	case j != nil && j.Known():
		return j.Version, j.Gone
	}
	return l.wentAt(s)
}

// cronJobWent is the version at which a CronJob had gone, as jobWent is of a Job.
func (l *Loop) cronJobWent(s events.Stream) (version uint64, ok bool) {
	switch c := l.world.CronJob(s); {
	case c == nil && l.past(s) == 0:
		return 0, false
	case c != nil && c.Known():
		return c.Seen.Version, c.Gone
	}
	return l.wentAt(s)
}

// wentAt is the version at which the object of a stream had gone; ok is false when it had not, by the stream's newest
// record that shows it.
func (l *Loop) wentAt(s events.Stream) (version uint64, ok bool) {
	for rec := range l.backward(s) {
		switch f := rec.Facts.(type) {
		case *events.JobGone:
			return f.Version, true
		case *events.CronJobGone:
			return f.Version, true
		case *events.JobSeen, *events.CronJobSeen:
			return 0, false
		}
	}
	return 0, false
}

// Returned is the proof that the cluster went back, which an object that had gone gives, and the life of the log in which
// that was found; ok is false when there is none.
func (l *Loop) Returned() (life events.Identity, proof events.Rewind, ok bool) {
	if l.back == nil {
		return events.Identity{}, events.Rewind{}, false
	}
	return l.world.Identity, *l.back, true
}
