package projector

import (
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
)

// maxFailures bounds the finish times that are kept: the backoff has reached its longest long before.
const maxFailures = 32

// note enters a pod's end into the backoff record, once: the failures since the latest success, by finish time (J-104).
func (j *Job) note(p *Pod) {
	if p.noted {
		return
	}
	p.noted = true
	at := p.Finished
	if at == 0 || at > j.Now {
		at = j.Now // a kubelet's clock may be ahead; a wait never begins in the future
	}
	if p.Phase == events.PodSucceeded {
		j.success = max(j.success, at)
		j.failures = slices.DeleteFunc(j.failures, func(t events.Time) bool { return t <= at })
		return
	}
	if at <= j.success {
		return
	}
	k, _ := slices.BinarySearch(j.failures, at)
	j.failures = slices.Insert(j.failures, k, at)
	if len(j.failures) > maxFailures {
		j.failures = slices.Delete(j.failures, 0, len(j.failures)-maxFailures)
	}
}

// refused notes a refusal: the next try waits, twice as long each time (J-017), and at least as long as the server asked.
func (r *Retry) refused(s *events.Settings, now events.Time, class events.RefusalClass, after time.Duration) {
	r.Class = class
	r.Count++
	r.Until = now.Add(max(doubled(s.APIBackoff, s.MaxAPIBackoff, r.Count), after))
}

// cleared forgets refusals after a success.
func (r *Retry) cleared() { *r = Retry{} }

// doubled is first × 2^(n-1), at most limit; 0 for n = 0.
func doubled(first, limit time.Duration, n uint32) time.Duration {
	if n == 0 {
		return 0
	}
	d := first
	for range n - 1 {
		if d >= limit/2 {
			return limit
		}
		d *= 2
	}
	return min(d, limit)
}

// PodBackoffUntil is when the next pod may be created after failures (J-103); 0 when there is nothing to wait for.
func (j *Job) PodBackoffUntil() events.Time {
	n, last := j.Failures()
	if n == 0 {
		return 0
	}
	return last.Add(doubled(j.Settings.PodFailureBackoff, j.Settings.MaxPodFailureBackoff, uint32(n)))
}

// shift moves every wait with the clock, so that what has been served of it stays served.
func (j *Job) shift(step time.Duration) {
	for _, t := range []*events.Time{
		&j.Start, &j.Lagging, &j.success, &j.Creating.Until, &j.Podding.Until, &j.Writing.Until,
		&j.EndInDoubt,
	} {
		*t = t.Add(step)
	}
	for i := range j.failures {
		j.failures[i] = j.failures[i].Add(step)
	}
	for _, c := range j.creates {
		c.Sent = c.Sent.Add(step)
	}
}

// lag notes since when the published status has been behind what is known.
func (j *Job) lag() {
	behind := j.Known() && !j.Gone && !j.Finished() && j.behind()
	switch {
	case !behind:
		j.Lagging = 0
	case j.Lagging == 0:
		j.Lagging = j.Now
	}
}

func (j *Job) behind() bool {
	t := &j.tally
	return j.Base.Active != t.Active || j.Base.Ready != t.Ready || j.Base.Terminating != t.Terminating ||
		j.fresh.n > 0 || t.Settled > 0 || !j.Base.HasUncounted || (j.Start != 0 && j.Base.StartTime == 0)
}
