package bench

import (
	"strings"
	"time"
)

// times adds the figures that come from the stopwatch: the times between changes of Jobs and pods.
func (r *run) times(lap *Lap) {
	var created, complete, delivered, retried, gone, successors, last []time.Duration
	var began, ended time.Time
	r.watch.in(r.namespace, func(f *field) {
		r.quantiles(lap, f.lates, keyLate50, keyLate99)
		r.quantiles(lap, f.writes, keyWrite50, keyWrite99)
		for name, t := range f.jobs {
			if t.finished.After(ended) {
				ended = t.finished
			}
			if began.IsZero() || t.created.Before(began) {
				began = t.created
			}
			if t.finished.Sub(t.asked) >= progressAfter {
				lap.Late++
			}
			lap.Seconds += t.finished.Sub(t.asked).Seconds()
			if r.workload.smallOnly && !strings.HasPrefix(name, smallPrefix) {
				continue
			}
			retried, gone, successors = append(retried, t.retries.late...), append(gone, t.released...), append(successors, t.successors...)
			last = append(last, t.releasedLate())
			created = append(created, max(0, t.firstPod.Sub(t.created)))
			complete = append(complete, max(0, t.finished.Sub(t.lastEnd)))
			if !t.delivered.IsZero() {
				delivered = append(delivered, max(0, t.delivered.Sub(t.lastEnd)))
			}
		}
	})
	r.quantiles(lap, created, keyCreated50, keyCreated99)
	r.quantiles(lap, complete, keyComplete50, keyComplete99)
	r.quantiles(lap, delivered, keyDelivered50, keyDelivered99)
	r.quantiles(lap, retried, keyRetry50, keyRetry99)
	r.quantiles(lap, gone, keyGone50, keyGone99)
	r.quantiles(lap, successors, keySuccessor50, keySuccessor99)
	r.quantiles(lap, last, "", keyLastGone99)
	lap.Figures[keyWall] = ended.Sub(began).Seconds()
	lap.Figures[keyRate] = float64(r.pods()) / ended.Sub(began).Seconds()
}

// quantiles adds the median and the 99th percentile of all to lap, under the keys median and most. It adds no median if
// that key is empty, and nothing if there are no values.
func (r *run) quantiles(lap *Lap, all []time.Duration, median, most string) {
	if len(all) == 0 {
		return
	}
	if median != "" {
		lap.Figures[median] = milliseconds(quantile(all, 50))
	}
	lap.Figures[most] = milliseconds(quantile(all, 99))
}
