package controller

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/cronjob"
	"github.com/jobledger/jobledger/projector"
)

// overdueLook is the time between checks for CronJobs with a due time (a time at which the schedule asks for a Job)
// whose Job did not start. overdueAfter is how long after that time the Job may start.
const (
	overdueLook  = time.Minute
	overdueAfter = 100 * time.Second
)

// overdue sets a gauge: the number of CronJobs whose Job should have started long ago. It counts them even if another
// controller starts the Jobs, because then no record says that one did not start. Only the loop's goroutine uses it.
type overdue struct {
	gauge  *prometheus.GaugeVec
	looked time.Time
	next   map[events.Stream]nextDue
}

// nextDue caches a CronJob's first due time (at) after an instant (through), where by is how due times are counted. It
// is computed again only when through or by changes.
type nextDue struct {
	through events.Time
	by      cronjob.Counting
	at      events.Time
}

func newOverdue() overdue {
	return overdue{gauge: prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "jobledger_cronjobs_overdue",
		Help: "CronJobs with a due time that has been open for 100 s, or for the starting deadline, by what holds it back: Forbid, Refused, UnknownTimeZone, or nothing that is known.",
	}, []string{"hold"})}
}

// show counts the CronJobs that are late with a Job, once a minute, and sets the gauge. wall is this machine's time,
// and now is the time of the log.
func (o *overdue) show(w *projector.World, wall time.Time, now events.Time) {
	if w.Listing || wall.Sub(o.looked) < overdueLook {
		return
	}
	o.looked = wall
	counts, next := map[string]int{}, map[events.Stream]nextDue{}
	for _, c := range w.CronJobs() {
		open, hold := o.open(c, next)
		// A Job counts as late after overdueAfter, or after a shorter startingDeadlineSeconds. The deadline does not
		// count if we run the CronJob and no record mentions the due time yet: the decision may come up to a minute
		// late (C-085).
		after := overdueAfter
		if d := c.Seen.Deadline; d != nil && *d < int64(after/time.Second) && (c.Observed() || c.Ledger.Open != 0) {
			after = time.Duration(*d) * time.Second
		}
		if open != 0 && now.Sub(open) >= after {
			counts[hold.String()]++
		}
	}
	o.next = next
	o.gauge.Reset()
	o.gauge.WithLabelValues("").Set(0)
	for hold, n := range counts {
		o.gauge.WithLabelValues(hold).Set(float64(n))
	}
}

// open returns the CronJob's first due time whose Job was neither started nor given up, and what prevents the start.
// The time may be in the future. It is 0 for a suspended or deleted CronJob, and if there is no such time. next gets
// what is cached for the next call.
func (o *overdue) open(c *projector.CronJob, next map[events.Stream]nextDue) (events.Time, events.TickHold) {
	plan := c.Plan()
	switch l := &c.Ledger; {
	case !c.Settings.CronJobs || !c.Known() || c.Gone || c.Seen.Deleted != 0 || c.Seen.Suspend || l.Closed || plan.Err != nil:
		return 0, events.NotHeld
	case !c.Observed() && l.Open != 0:
		return l.Open, l.Hold
	}
	k := nextDue{through: c.DueThrough(), by: c.CountsBy()}
	if was, ok := o.next[c.Stream]; ok && was.through == k.through && was.by.Equal(k.by) {
		k.at = was.at
	} else if at := c.View(plan).Next(k.through.Go()); !at.IsZero() {
		k.at = events.At(at)
	}
	next[c.Stream] = k
	hold := events.NotHeld
	if c.Observed() {
		hold = c.Held()
	}
	return k.at, hold
}
