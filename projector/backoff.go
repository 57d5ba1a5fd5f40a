package projector

import (
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// maxFailures limits the number of stored finish times of failed pods. More would not change the backoff: 10 s doubled
// six times is 640 s, and that exceeds the built-in controller's maximum of 10 minutes.
const maxFailures = 32

// batch is the time during which pod ends count as simultaneous, measured from the first of them. The built-in
// controller also gathers ends for that long before a sync (SyncJobBatchPeriod, J-104). Finish times are whole seconds,
// so two ends in one second have no order. Example: a success is observed at 12.1 s, and a failure with the same finish
// time at 12.4 s. Both are in one batch, so the failure does not delay the next pod.
const batch = time.Second

// backoff records the failures since the latest success (J-104). The ends of pods are grouped in batches of one second.
// The order in which the ends of one batch are observed does not matter.
type backoff struct {
	failures []events.Time // finish times, ascending, the newest 32
	at       events.Time   // start of the newest batch: the time of the record with its first end
	before   []events.Time // failures before the newest batch
	failed   []events.Time // finish times of the failures in the newest batch
	success  events.Time   // latest finish time of the successes in the newest batch; 0 for none
}

// note enters a pod's end into the backoff record (Job.ends), at most once per pod.
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
		at = j.Now // a kubelet's clock may be ahead; a backoff must not start in the future
	}
	p.ended = at
	j.changed(p)
	j.ends.end(j.Now, at, p.Phase == events.PodSucceeded)
}

// renote corrects the recorded finish time of a failed pod whose Job another controller runs. That controller looks at
// the pod later than our watch, and uses the finish time stored by then. Example: pod garbage collection first stores
// the failure without a time, and only the deletion of the pod gives the time.
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

// holds reports whether an end recorded at time turn belongs to the newest batch: less than one second after its start.
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

// add recomputes failures from before (the failures before the newest batch) and the ends in the newest batch.
func (b *backoff) add() {
	switch {
	case b.success == 0: // only failures: append them
		b.failures = slices.Concat(b.before, b.failed)
	case len(b.failed) == 0: // only successes: no failure remains
		b.failures = nil
	default: // both: failures after the latest success
		b.failures = slices.DeleteFunc(slices.Clone(b.failed), func(t events.Time) bool { return t <= b.success })
	}
	slices.Sort(b.failures)
	if n := len(b.failures); n > maxFailures {
		b.failures = b.failures[n-maxFailures:]
	}
}

// correct changes the finish time of one recorded failure: it was `was`, and is `is` now.
func (b *backoff) correct(was, is events.Time) {
	for _, times := range []*[]events.Time{&b.failed, &b.before} {
		if corrected(times, was, is) {
			break
		}
	}
	corrected(&b.failures, was, is)
}

// corrected replaces the first element equal to `was` by `is`, and sorts the times. It reports whether it found `was`.
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

// shift adds a clock step to all recorded times, because our clock was set forward or back by that much.
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

// PodBackoffUntil returns the earliest time at which the next pod may be created after failures (J-103); 0 if there is
// no backoff.
func (j *Job) PodBackoffUntil() events.Time {
	n, last := j.Failures()
	if n == 0 {
		return 0
	}
	return last.Add(j.PodBackoff(uint32(n)))
}

// PodWait says how long failures delay the creation of the next pod (J-103).
type PodWait struct {
	Failures int         // number of failures that caused the wait
	Until    events.Time // 0 for no wait
	Index    int32       // index that waits; events.NoIndex for all pods
}

// NextPodWait returns the backoff before the next pod. In a Job with backoffLimitPerIndex each index has its own
// backoff; the one that ends first is returned.
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

// IndexWait returns the backoff of one index (J-109). held is the index's failed pod whose finalizer is kept until the
// replacement pod exists.
func (j *Job) IndexWait(held *Pod) PodWait {
	n := held.IndexFailures + held.IndexIgnoredFailures + 1
	return PodWait{int(n), held.Ended().Add(j.PodBackoff(n)), held.Index}
}

// WaitAfter returns the time until which the failure of p delays the next pod; 0 for no delay. p must be the newest
// failure that counts.
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
