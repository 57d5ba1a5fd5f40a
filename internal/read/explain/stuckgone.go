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

// stuckTold is for how long a Job was stuck, at least, that is told of after its deletion: who deletes one sooner has
// not waited for it.
const stuckTold = 30 * time.Second

// troubleBefore is the trouble that a Job had when its object was deleted, or its deletion was asked for, if it had
// any: it had been stuck for a while, or it was failing. It is told as of the moment before the deletion was seen, or
// where nobody watched then, as of the last moment that was watched.
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
