package explain

import (
	"errors"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
)

// stuckTold is the minimum time that a deleted Job must have been stuck to be reported. Users who delete a Job earlier
// did not wait for it.
const stuckTold = 30 * time.Second

// troubleBefore returns the trouble of a deleted Job just before its deletion: it was failing, or stuck for at least
// stuckTold. If nobody watched then, it judges by the last watched moment.
func (f *finding) troubleBefore(c *Case) (Trouble, bool, error) {
	m := c.deletion()
	going := c.Job.State == history.StateDeleted || c.Job.State == history.StateDeleting
	if !going || m.Record == 0 || m.At.Sub(c.start()) < stuckTold {
		return Trouble{}, false, nil
	}
	until := m.At - 1
	if g := c.goneUnseen(m); g != nil {
		until = events.Time(g.From)
	}
	was, _, err := f.caseAt(c.stream, until)
	if errors.Is(err, history.ErrNoJob) {
		return Trouble{}, false, nil
	}
	if err != nil || was == nil {
		return Trouble{}, false, err
	}
	t, is := was.trouble()
	if !is {
		return Trouble{}, false, was.Unread()
	}
	how := ""
	if t.Sort == SortStuck {
		x := was.stuck(was.runningNow())
		stuck := until.Sub(x.from[0].At)
		if stuck < stuckTold {
			return Trouble{}, false, nil
		}
		how = "stuck for " + words.Span(stuck) + ": " + x.text
	} else {
		how = "failing: " + t.Why
	}
	v := c.verdict()
	gone := strings.Replace(strings.Replace(v.Text, "BEING DELETED", "being deleted", 1), "DELETED", "deleted", 1)
	t.says(phrase("%s; then %s", how, gone))
	t.Sort, t.Since, t.Cause, t.same = SortDeleted, recordjson.Instant(m.At), "deleted: "+t.Cause, ""
	t.Tries, t.Records = len(c.Tries), append(t.Records, v.Records...)
	return t, true, was.Unread()
}
