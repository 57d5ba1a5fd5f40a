package projector

import (
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// maxFailures bounds the finish times that are kept: the backoff has reached its longest long before.
const maxFailures = 32

// batch is how long ends are taken together, from the first of them on: the time that the built-in controller gathers
// them before a sync (SyncJobBatchPeriod, J-104). Finish times are whole seconds, so one second does not say which of two
// ends came first; taken one by one, a failure that is heard after a success of the same second would delay the next pod.
const batch = time.Second

// backoff is the record of failures since the latest success (J-104). Ends that become known within one batch are taken
// together, in whatever order they are heard.
type backoff struct {
	failures []events.Time // finish times, ascending, the newest 32
	at       events.Time   // when the newest batch began: the turn of its first end
	before   []events.Time // failures before that batch
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
	j.changed(p)
	j.ends.end(j.Now, at, p.Phase == events.PodSucceeded)
}

// renote corrects when a pod failed. Whoever runs the Job looks at the pod later than we did, and takes that time as it
// is stored by then: pod garbage collection stores first that the pod failed, and only its deletion says when.
func (j *Job) renote(p *Pod) {
	if p.Phase == events.PodSucceeded || p.Finished <= p.ended || p.Finished > j.Now {
		return
	}
	j.ends.correct(p.ended, p.Finished)
	p.ended = p.Finished
	j.changed(p)
}

// unnote takes a failure out of the record again: the spec that was seen in the same batch has no place for the pod's
// index any more (J-031).
func (j *Job) unnote(p *Pod) {
	if at := slices.Index(j.ends.failed, p.ended); p.Phase != events.PodSucceeded && j.ends.holds(j.Now) && at >= 0 {
		p.noted = false
		j.changed(p)
		j.ends.failed = slices.Delete(slices.Clone(j.ends.failed), at, at+1)
		j.ends.add()
	}
}

// holds reports whether an end of that turn belongs to the newest batch.
func (b *backoff) holds(turn events.Time) bool {
	return b.at != 0 && b.at <= turn && turn < b.at.Add(batch)
}

func (b *backoff) end(turn, at events.Time, succeeded bool) {
	if !b.holds(turn) {
		b.at, b.before, b.failed, b.success = turn, b.failures, nil, 0
	}
	if succeeded {
		b.success = max(b.success, at)
	} else {
		b.failed = append(b.failed, at)
	}
	b.add()
}

// add makes the record of what there was before the batch and of what ended in it.
func (b *backoff) add() {
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

// correct says that what failed at one time did so at another.
func (b *backoff) correct(was, is events.Time) {
	for _, times := range []*[]events.Time{&b.failed, &b.before} {
		if corrected(times, was, is) {
			break
		}
	}
	corrected(&b.failures, was, is)
}

// corrected puts one time in the place of another, and reports whether that was there.
func corrected(times *[]events.Time, was, is events.Time) bool {
	at := slices.Index(*times, was)
	if at < 0 {
		return false
	}
	*times = slices.Clone(*times) // it may be shared
	(*times)[at] = is
	slices.Sort(*times)
	return true
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

// Failures is the number of pods that failed since the latest success, at most 32, and when the newest of them finished
// (J-104).
func (j *Job) Failures() (n int, last events.Time) {
	n = len(j.ends.failures)
	if n == 0 {
		return 0, 0
	}
	return n, j.ends.failures[n-1]
}

// PodBackoffUntil is when the next pod may be created after failures (J-103); 0 when there is nothing to wait for.
func (j *Job) PodBackoffUntil() events.Time {
	n, last := j.Failures()
	if n == 0 {
		return 0
	}
	return last.Add(j.PodBackoff(uint32(n)))
}

// PodWait is a wait of new pods after failures (J-103).
type PodWait struct {
	Failures int         // after which it began
	Until    events.Time // 0 when there is nothing to wait for
	Index    int32       // whose pods wait; events.NoIndex for all
}

// NextPodWait is the wait of the next pod after failures, the one that ends first where each index has its own.
func (j *Job) NextPodWait() PodWait {
	if !j.PerIndex {
		n, _ := j.Failures()
		return PodWait{n, j.PodBackoffUntil(), events.NoIndex}
	}
	var first PodWait
	for p := range j.HeldAll() {
		if w := j.IndexWait(p); first.Until == 0 || w.Until < first.Until {
			first = w
		}
	}
	return first
}

// IndexWait is the wait of an index whose failed pod is held back (J-109).
func (j *Job) IndexWait(held *Pod) PodWait {
	n := held.IndexFailures + held.IndexIgnoredFailures + 1
	return PodWait{int(n), held.Ended().Add(j.PodBackoff(n)), held.Index}
}

// WaitAfter is until when pods wait because of that pod's failure, as far as it is the newest of those that count; 0 for
// not at all.
func (j *Job) WaitAfter(p *Pod) events.Time {
	switch {
	case !j.PerIndex:
		return j.PodBackoffUntil()
	case p == nil || j.Held(p.Index) != p:
		return 0
	}
	return j.IndexWait(p).Until
}

// PodBackoff is how long the next pod waits after n failures (J-103).
func (j *Job) PodBackoff(n uint32) time.Duration {
	return commands.Doubled(j.Settings.PodFailureBackoff, j.Settings.MaxPodFailureBackoff, n)
}

func (b *backoff) toWire() *pb.Backoff {
	if b.at == 0 {
		return nil
	}
	return &pb.Backoff{
		Failures: timesToWire(b.failures), At: int64(b.at), Before: timesToWire(b.before), Failed: timesToWire(b.failed),
		Success: int64(b.success),
	}
}

func backoffFromWire(w *pb.Backoff) backoff {
	return backoff{
		failures: timesFromWire(w.GetFailures()), at: events.Time(w.GetAt()), before: timesFromWire(w.GetBefore()),
		failed: timesFromWire(w.GetFailed()), success: events.Time(w.GetSuccess()),
	}
}

func timesToWire(times []events.Time) []int64 {
	out := make([]int64, len(times))
	for i, t := range times {
		out[i] = int64(t)
	}
	return out
}

func timesFromWire(ws []int64) []events.Time {
	out := make([]events.Time, len(ws))
	for i, t := range ws {
		out[i] = events.Time(t)
	}
	return out
}
