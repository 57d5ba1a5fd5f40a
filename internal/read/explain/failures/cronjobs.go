package failures

import (
	"errors"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/cron"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// mayStart are the states in which a CronJob should start Jobs.
var mayStart = []history.CronState{history.CronInvalid, history.CronHeld, history.CronOverdue, history.CronRunning,
	history.CronWaiting}

// cronJobs adds to the list the CronJobs that should start Jobs and do not, or whose Jobs never end. If the query has
// labels, it adds none, because the log keeps no labels of CronJobs.
func (f *finding) cronJobs() error {
	if f.q.Labels != nil {
		return nil
	}
	q := history.CronJobsQuery{Namespace: f.q.Namespace, States: mayStart, Limit: jobsAtOnce}
	if f.q.Until != 0 { // what is suspended or deleted now may have been active at the time of the report
		q.States = nil
	}
	for {
		page, err := f.src.CronJobs(f.ctx, q)
		if f.src.Beside(err) {
			f.unread = err
		} else if err != nil {
			return err
		}
		for i := range page.Items {
			f.CronJobs++
			if err := f.lookAtCron(&page.Items[i]); err != nil {
				return err
			}
		}
		if q.Continue = page.Continue; q.Continue == "" {
			return nil
		}
	}
}

func (f *finding) lookAtCron(s *history.CronSummary) error {
	c, err := cron.Read(f.ctx, f.src, events.CronJobStream(types.UID(s.UID)), history.Point{Time: f.q.Until})
	switch {
	case errors.Is(err, history.ErrNoCronJob):
		return nil
	case f.src.Beside(err):
		f.unread = err
	case err != nil:
		return err
	}
	if c == nil {
		return nil
	}
	c.In(f.q.Zone)
	if t, is := cronTrouble(c); is {
		f.take(t)
	}
	return c.Unread()
}

// cronTrouble returns the trouble of a CronJob itself: it starts no Jobs, or they do not end. Failures of its Jobs are
// not its trouble. It returns false if there is none.
func cronTrouble(c *cron.Case) (t Trouble, is bool) {
	j := &c.State
	since, is := c.TroubleSince()
	if !is || c.Damage != 0 {
		return t, false
	}
	v := c.Verdict()
	return Trouble{
		Sort: SortStuck, Kind: kindCronJob, Since: recordjson.Instant(since), Namespace: j.Namespace, Name: j.Name,
		UID: j.UID,
		Why: v.Text, Whole: v.Whole, Cause: explain.Liken(v.Text, j.Name) + " of " + j.Namespace + "/" + j.Name,
		Records: v.Records, Work: j.Namespace + "/CronJob/" + j.Name,
	}, true
}
