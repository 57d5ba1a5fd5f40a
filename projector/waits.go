package projector

import (
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
)

// maxFailures bounds the finish times that are kept: the backoff has reached its longest long before.
const maxFailures = 32

// backoff is the record of failures since the latest success (J-104). Ends that become known at one time, which is that of
// one turn, are taken together, as the built-in controller takes those of one sync.
type backoff struct {
	failures []events.Time // finish times, ascending, the newest 32
	at       events.Time   // the turn that newest ended in it
	before   []events.Time // failures before that turn
	failed   []events.Time // finish times of those that failed in it
	success  events.Time   // latest finish time of those that succeeded in it; 0 for none
}

// note enters a pod's end into the backoff record, once.
func (j *Job) note(p *Pod) {
	if p.noted {
		return
	}
	p.noted = true
	at := p.Finished
	if at == 0 {
		at = p.Deleted
	}
	if at == 0 || at > j.Now {
		at = j.Now // a kubelet's clock may be ahead; a wait never begins in the future
	}
	p.ended = at
	j.ends.end(j.Now, at, p.Phase == events.PodSucceeded)
}

func (b *backoff) end(turn, at events.Time, succeeded bool) {
	if b.at != turn {
		b.at, b.before, b.failed, b.success = turn, b.failures, nil, 0
	}
	if succeeded {
		b.success = max(b.success, at)
	} else {
		b.failed = append(b.failed, at)
	}
	switch {
	case b.success == 0: // only failures: they add up
		b.failures = slices.Concat(b.before, b.failed)
	case len(b.failed) == 0: // only successes
		b.failures = nil
	default: // both: what finished after the latest success
		b.failures = slices.DeleteFunc(slices.Clone(b.failed), func(t events.Time) bool { return t <= b.success })
	}
	slices.Sort(b.failures)
	if n := len(b.failures); n > maxFailures {
		b.failures = b.failures[n-maxFailures:]
	}
}

// shift moves the record with the clock.
func (b *backoff) shift(step time.Duration) {
	for _, times := range [][]events.Time{b.failures, b.before, b.failed} {
		for i := range times {
			times[i] = times[i].Add(step)
		}
	}
	b.at, b.success = b.at.Add(step), b.success.Add(step)
}

// PodBackoffUntil is when the next pod may be created after failures (J-103); 0 when there is nothing to wait for.
func (j *Job) PodBackoffUntil() events.Time {
	n, last := j.Failures()
	if n == 0 {
		return 0
	}
	return last.Add(j.PodBackoff(uint32(n)))
}

// PodBackoff is how long the next pod waits after n failures (J-103).
func (j *Job) PodBackoff(n uint32) time.Duration {
	return doubled(j.Settings.PodFailureBackoff, j.Settings.MaxPodFailureBackoff, n)
}

// shift moves every wait with the clock, so that the part of it that is over stays so.
func (j *Job) shift(step time.Duration) {
	for _, t := range []*events.Time{
		&j.Start, &j.Lagging, &j.EndInDoubt, &j.LatePod,
	} {
		*t = t.Add(step)
	}
	j.Creating.shift(step)
	j.Writing.shift(step)
	j.Group.Retry.shift(step)
	for _, r := range j.claims {
		r.shift(step)
	}
	j.Confirmed = 0
	j.ends.shift(step)
	for _, c := range j.creates {
		c.Sent = c.Sent.Add(step)
	}
	for _, p := range j.pods {
		p.ended, p.DropDoubt, p.LateCreate = p.ended.Add(step), p.DropDoubt.Add(step), p.LateCreate.Add(step)
		for _, f := range []*Flight{p.Drop, p.Delete} {
			if f.refused() {
				f.Refused.shift(step)
			}
		}
	}
}

// lag notes since when the published status has been behind what is known; a confirmed write begins that again, so that
// writes which only show progress do not follow each other at once.
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
	active, ready, terminating := t.Shown()
	if j.Base.Active != active || max(j.Base.Ready, 0) != ready || max(j.Base.Terminating, 0) != terminating ||
		(j.Indexed() && !(j.Base.Completed.Below(j.Completions()) && j.Base.FailedIndexes.Below(j.Completions()))) ||
		(j.Indexed() && j.Base.Succeeded > j.Base.Completed.Len() && j.MayLower()) ||
		j.unlisted.n > 0 || t.Countable > 0 {
		return true
	}
	// What every status gets once says nothing while the pods are just being made, and nothing stands in their way.
	making := len(j.creates) > 0 && j.Creating.Count == 0
	return !making && (j.Base.Ready == events.Unset || j.Base.Terminating == events.Unset ||
		!j.Base.HasUncounted || (j.Start != 0 && j.Base.StartTime == 0))
}
