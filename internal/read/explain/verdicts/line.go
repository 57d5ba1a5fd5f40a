package verdicts

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/ending"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/stuck"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Lines makes one line about each of many Jobs: why it ended, or what it waits for. Not safe for concurrent use.
type Lines struct {
	Zone words.Zone // the time zone of times

	src history.Source
}

// LinesOf returns Lines for a source (a log) that does not grow. It caches what it has read, so its lines do not cover
// later records.
func LinesOf(src history.Source) *Lines { return &Lines{src: &explain.Remembering{Source: src}} }

// LiveLines returns Lines for a source (a log) that grows: for each line it reads the controller's records again.
func LiveLines(src history.Source) *Lines { return &Lines{src: src} }

// Of returns the line about Job s as of a point. If the log is damaged, it returns the error, and a line by the
// readable records.
func (l *Lines) Of(ctx context.Context, s *history.Summary, at history.Point) (*history.Why, error) {
	c, err := ending.Read(ctx, l.src, events.JobStream(types.UID(s.UID)), at)
	switch {
	case c == nil && errors.Is(err, history.ErrNoJob):
		return &history.Why{Text: "unknown: the log has no records of it"}, nil
	case c == nil && l.src.Beside(err):
		return &history.Why{Text: "unknown: its records are damaged"}, err
	case c == nil:
		return nil, err
	}
	c.In(l.Zone)
	line := Line(c)
	return &history.Why{Text: line.Text, Whole: line.Whole, Records: line.Records}, cmp.Or(err, c.Unread())
}

// Line returns the verdict about a Job. If the Job waits and is not stuck, it adds what the Job waits for.
func Line(c *jobcase.Case) explain.Sentence {
	v := Of(c)
	var waits []explain.Sentence
	switch c.Job.State {
	case history.StateWaiting, history.StateRunning:
		_, unseen := c.Unseen()
		if running := stuck.RunningNow(c); !unseen && running == 0 && stuck.Find(c, running) == nil {
			waits = stuck.KeptBy(c, nil)
		}
	}
	for _, w := range waits {
		if len(w.Records) > 0 {
			head, rest, _ := strings.Cut(v.Text, ", ")
			if rest != "" {
				rest = "; " + rest
			}
			v.Set(explain.Phrase("%s; %s%s", head, w.Passage(), rest))
			v.Records = append(v.Records, w.Records...)
			break
		}
	}
	return v
}
