package loop

import (
	"github.com/jobledger/jobledger/events"
)

// A Job that had gone and is there again proves that the cluster went back: the UID of an object is never given out
// twice. This finds a restored cluster that has passed every version which was known of the old one (docs/design/0007).
// From there on nothing is taken in and nothing is decided until the informer, which has to be told, says that another
// life of the log begins.

// returned reports whether the watch or a list shows a Job that had gone in this life of the log.
func (l *Loop) returned(o *events.Observation) bool {
	f, ok := o.Facts.(*events.JobSeen)
	if !ok {
		return false
	}
	s := events.JobStream(o.Job.UID)
	var gone uint64
	switch j := l.world.Job(s); {
	case l.world.Retired(s) != nil, j == nil && l.past(s) == 0:
		return false
	case j != nil && j.Known():
		gone, ok = j.Version, j.Gone
	default:
		gone, ok = l.wentAt(s)
	}
	if ok {
		l.back = &events.Rewind{Resource: events.Jobs, Known: gone, Found: f.Version, Object: o.Job.UID}
	}
	return ok
}

// passOver is how many inputs are of the past that the cluster does not have, as far as a Job that had gone has proven
// it.
func (l *Loop) passOver(inputs []Input) (n int) {
	if l.back == nil {
		return 0
	}
	for _, in := range inputs {
		if in.Observation != nil {
			if _, ok := in.Observation.Facts.(*events.EpochChanged); ok {
				l.back = nil
				break
			}
		}
		n++
	}
	return n
}

// wentAt is the version at which the Job of a stream had gone; ok is false when it had not, by this life of the log.
func (l *Loop) wentAt(s events.Stream) (version uint64, ok bool) {
	for rec := range l.backward(s) {
		switch f := rec.Facts.(type) {
		case *events.JobGone:
			return f.Version, true
		case *events.JobSeen:
			return 0, false
		}
	}
	return 0, false
}

// Returned is the proof that the cluster went back, which a Job that had gone gives, and the life of the log in which
// that was found; ok is false when there is none.
func (l *Loop) Returned() (life events.Identity, proof events.Rewind, ok bool) {
	if l.back == nil {
		return events.Identity{}, events.Rewind{}, false
	}
	return l.world.Identity, *l.back, true
}
