package explain

import (
	"cmp"
	"errors"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// mayStart are the states of CronJobs that should start Jobs.
var mayStart = []history.CronState{history.CronInvalid, history.CronHeld, history.CronOverdue, history.CronRunning, history.CronWaiting}

// cronJobs looks for CronJobs that should start Jobs and are held, do not start, or starve. It finds nothing for a
// query with labels: the log keeps no labels of CronJobs.
func (f *finding) cronJobs() error {
	if f.q.Labels != nil {
		return nil
	}
	q := history.CronJobsQuery{Namespace: f.q.Namespace, States: mayStart, Limit: jobsAtOnce}
	if f.q.Until != 0 { // a CronJob that is suspended or deleted now may have been active then
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
	c, err := ReadCronJob(f.ctx, f.src, events.CronJobStream(types.UID(s.UID)), history.Point{Time: f.q.Until})
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
	if t, is := c.trouble(); is {
		f.take(t)
	}
	return c.Unread()
}

// trouble returns what keeps the CronJob from starting Jobs, or its Jobs from ending. Failures of its Jobs are troubles
// of the Jobs.
func (c *CronAnswer) trouble() (t Trouble, is bool) {
	j := &c.State
	since, is := c.troubleSince()
	if !is || c.damage != 0 {
		return t, false
	}
	v := c.verdict()
	return Trouble{
		Sort: SortStuck, Kind: kindCronJob, Since: recordjson.Instant(since), Namespace: j.Namespace, Name: j.Name, UID: j.UID,
		Why: v.Text, Whole: v.Whole, Cause: liken(v.Text, j.Name) + " of " + j.Namespace + "/" + j.Name, Records: v.Records, Work: j.Namespace + "/CronJob/" + j.Name,
	}, true
}

// troubleSince returns the time since which no due time started a Job, or no Job ended.
func (c *CronAnswer) troubleSince() (since events.Time, is bool) {
	s := &c.State
	switch s.State {
	case history.CronInvalid:
		return c.newestSpec(), true
	case history.CronHeld:
		return c.open(), c.now().Sub(c.open()) >= history.Grace(s.Spec.Deadline)
	case history.CronOverdue, history.CronRunning, history.CronWaiting:
	case history.CronUnseen, history.CronSuspended, history.CronDeleting, history.CronDeleted:
		return 0, false
	}
	if s.Next == 0 {
		return c.newestSpec(), true
	}
	if n, newest := c.missed(); n > 0 {
		return c.missedSince(), true
	} else if newest != nil {
		return 0, false // the fate of the newest due times is unknown
	}
	if _, is := c.unfinishedVerdict(); is {
		return c.oldestRun(), true
	}
	if starved := c.starved(); len(starved) >= leastStarved {
		return starved[len(starved)-1].Created, true
	}
	return 0, false
}

// oldestRun returns the creation time of the oldest running Job.
func (c *CronAnswer) oldestRun() (oldest events.Time) {
	for i := range c.State.Runs {
		if r := &c.State.Runs[i]; r.State == history.StateRunning && (oldest == 0 || events.Time(r.Created) < oldest) {
			oldest = events.Time(r.Created)
		}
	}
	return oldest
}

// newestSpec returns the time of the last edit of the spec.
func (c *CronAnswer) newestSpec() events.Time {
	if n := len(c.due.Changes); n > 0 {
		return c.due.Changes[n-1].At
	}
	return cmp.Or(events.Time(c.State.Created), c.added.At)
}

// missedSince returns the first of the newest consecutive due times that did not start.
func (c *CronAnswer) missedSince() (first events.Time) {
	all := c.dues()
	for i := len(all) - 1; i >= 0; i-- {
		e := &all[i]
		switch {
		case e.Fate == 0 && c.young(e):
			continue
		case started(e):
			return first
		}
		first = e.First
	}
	return first
}

// started reports whether a due time started a Job, was dropped with a change of the schedule or the deletion of the
// CronJob, or has an unknown fate.
func started(e *duetimes.Entry) bool {
	return e.Job != "" || e.Fate == events.TickStarted || e.Fate == events.TickReplaced || e.Fate == events.TickDeleted || e.Fate == events.TickUnknown
}
