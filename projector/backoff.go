package projector

import (
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// maxFailures limits the number of finish times kept. The backoff has reached its maximum long before: 10 s doubled
// six times exceeds the built-in's maximum of 10 minutes.
const maxFailures = 32

// batch is the time during which pod ends count as simultaneous, from the first of them on. The built-in controller
// also gathers ends for that long before a sync (SyncJobBatchPeriod, J-104). Finish times are whole seconds, so two
// ends in one second have no order. Example: a success is observed at 12.1 s, and a failure with the same finish time
// at 12.4 s. Both are in one batch, so the failure does not delay the next pod.
const batch = time.Second

// backoff records the failures since the latest success (J-104). The ends of pods are grouped in batches of one second.
// The order in which the ends of one batch are observed does not matter.
type backoff struct {
	failures []events.Time // finish times, ascending, the newest 32
	at       events.Time   // start of the newest batch: the time of the record with its first end
	before   []events.Time // failures before that batch
	failed   []events.Time // finish times of the failures in that batch
	success  events.Time   // latest finish time of the successes in that batch; 0 for none
}

// note records a pod's end in the backoff record, at most once per pod.
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
		at = j.Now // a kubelet's clock may be ahead; no wait starts in the future
	}
	p.ended = at
	j.changed(p)
	j.ends.end(j.Now, at, p.Phase == events.PodSucceeded)
}

// renote corrects the time at which an observed pod failed. The controller that runs the Job looks at the pod later
// than our watch, and uses the finish time stored by then. Example: pod garbage collection first stores the failure
// without a time, and only the deletion of the pod gives the time.
func (j *Job) renote(p *Pod) {
	if p.Phase == events.PodSucceeded || p.Finished <= p.ended || p.Finished > j.Now {
		return
	}
	j.ends.correct(p.ended, p.Finished)
	p.ended = p.Finished
	j.changed(p)
}

// unnote removes a pod's failure from the backoff record, as long as the failure is in the newest batch. It is for a
// pod whose index is no longer in range, because the spec has changed in the same batch (J-031).
func (j *Job) unnote(p *Pod) {
	if at := slices.Index(j.ends.failed, p.ended); p.Phase != events.PodSucceeded && j.ends.holds(j.Now) && at >= 0 {
		p.noted = false
		j.changed(p)
		j.ends.failed = slices.Delete(slices.Clone(j.ends.failed), at, at+1)
		j.ends.add()
	}
}

// holds reports whether the newest batch includes a pod end that was recorded at time turn.
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

// add recomputes failures: from the failures before the newest batch, and the ends in it.
func (b *backoff) add() {
	switch {
	case b.success == 0: // only failures: append them
		b.failures = slices.Concat(b.before, b.failed)
	case len(b.failed) == 0: // only successes: the record is empty
		b.failures = nil
	default: // both: failures after the latest success
		b.failures = slices.DeleteFunc(slices.Clone(b.failed), func(t events.Time) bool { return t <= b.success })
	}
	slices.Sort(b.failures)
	if n := len(b.failures); n > maxFailures {
		b.failures = b.failures[n-maxFailures:]
	}
}

// correct replaces the finish time was of a failure by is.
func (b *backoff) correct(was, is events.Time) {
	for _, times := range []*[]events.Time{&b.failed, &b.before} {
		if corrected(times, was, is) {
			break
		}
	}
	corrected(&b.failures, was, is)
}

// corrected replaces the time was by is, and reports whether was is among the times.
func corrected(times *[]events.Time, was, is events.Time) bool {
	at := slices.Index(*times, was)
	if at < 0 {
		return false
	}
	*times = slices.Clone(*times) // a copy: an encoded state may share the slice
	(*times)[at] = is
	slices.Sort(*times)
	return true
}

// shift moves the times by a clock step.
func (b *backoff) shift(step time.Duration) {
	for _, times := range [][]events.Time{b.failures, b.before, b.failed} {
		for i := range times {
			times[i] = times[i].Add(step)
		}
	}
	b.at, b.success = b.at.Add(step), b.success.Add(step)
}

// Failures returns the number of pods that failed since the latest success, at most 32, and the finish time of the
// newest (J-104).
func (j *Job) Failures() (n int, last events.Time) {
	n = len(j.ends.failures)
	if n == 0 {
		return 0, 0
	}
	return n, j.ends.failures[n-1]
}

// PodBackoffUntil returns the earliest time of the next create after failures (J-103); 0 if no backoff is running.
func (j *Job) PodBackoffUntil() events.Time {
	n, last := j.Failures()
	if n == 0 {
		return 0
	}
	return last.Add(j.PodBackoff(uint32(n)))
}

// PodWait is a backoff of new pods after failures (J-103).
type PodWait struct {
	Failures int         // failures that caused it
	Until    events.Time // 0 for no wait
	Index    int32       // index that waits; events.NoIndex for all pods
}

// NextPodWait returns the backoff of the next pod. If each index has its own, it returns the one that ends first.
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

// IndexWait returns the backoff of an index after the failure of held, its failed pod that is held back (J-109).
func (j *Job) IndexWait(held *Pod) PodWait {
	n := held.IndexFailures + held.IndexIgnoredFailures + 1
	return PodWait{int(n), held.Ended().Add(j.PodBackoff(n)), held.Index}
}

// WaitAfter returns the end of the backoff that p's failure causes; 0 for none. p must be the newest failure that
// counts.
func (j *Job) WaitAfter(p *Pod) events.Time {
	switch {
	case !j.PerIndex:
		return j.PodBackoffUntil()
	case p == nil || j.Held(p.Index) != p:
		return 0
	}
	return j.IndexWait(p).Until
}

// PodBackoff returns the backoff after n failures (J-103): Settings.PodFailureBackoff, doubled with each further
// failure up to MaxPodFailureBackoff. Example: 10 s, 20 s, 40 s after one, two and three failures.
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
