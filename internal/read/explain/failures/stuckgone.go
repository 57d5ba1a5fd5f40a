package failures

import (
	"errors"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/deletion"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/stuck"
	"github.com/jobledger/jobledger/internal/read/explain/verdicts"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
)

// stuckTold is how long a deleted Job must have been stuck to be reported. A user who deletes a Job earlier had not
// waited for it.
const stuckTold = 30 * time.Second

// troubleBefore returns the trouble that a deleted Job had just before its deletion: it was failing, or it had been
// stuck for stuckTold (30 s). If nobody watched at the deletion, it decides by the last moment that was watched.
func (f *finding) troubleBefore(c *jobcase.Case) (Trouble, bool, error) {
	m := c.Deletion()
	going := c.Job.State == history.StateDeleted || c.Job.State == history.StateDeleting
	if !going || m.Record == 0 || m.At.Sub(c.Start()) < stuckTold {
		return Trouble{}, false, nil
	}
	until := m.At - 1
	if g := deletion.GoneUnseen(c, m); g != nil {
		until = events.Time(g.From)
	}
	was, _, err := f.caseAt(c.Stream, until)
	if errors.Is(err, history.ErrNoJob) {
		return Trouble{}, false, nil
	}
	if err != nil || was == nil {
		return Trouble{}, false, err
	}
	t, is := trouble(was)
	if !is {
		return Trouble{}, false, was.Unread()
	}
	how := ""
	if t.Sort == SortStuck {
		x := stuck.Find(was, stuck.RunningNow(was))
		stuck := until.Sub(x.From[0].At)
		if stuck < stuckTold {
			return Trouble{}, false, nil
		}
		how = "stuck for " + words.Span(stuck) + ": " + x.Text
	} else {
		how = "failing: " + t.Why
	}
	v := verdicts.Of(c)
	gone := strings.Replace(strings.Replace(v.Text, "BEING DELETED", "being deleted", 1), "DELETED", "deleted", 1)
	for _, rest := range []string{", while ", ", before "} { // cut what the Job waited for: the cause already says it
		gone, _, _ = strings.Cut(gone, rest)
	}
	t.says(explain.Phrase("%s; then %s", how, gone))
	t.Sort, t.Since, t.Cause, t.same = SortDeleted, recordjson.Instant(m.At), "deleted: "+t.Cause, ""
	t.Tries, t.Records = len(c.Tries), append(t.Records, v.Records...)
	return t, true, was.Unread()
}
