package explain

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Lines says of many Jobs, in one line each, why they ended so or what they wait for. It is not safe for concurrent
// use.
type Lines struct {
	Zone words.Zone // of the times

	src history.Source
}

// LinesOf is for a source to which nothing is appended meanwhile; what is, the lines may leave out.
func LinesOf(src history.Source) *Lines { return &Lines{src: &remembering{Source: src}} }

// LiveLines is for a source that goes on: each line reads the records of the controller again.
func LiveLines(src history.Source) *Lines { return &Lines{src: src} }

// Of is the line of a Job as of a point. Where the log is damaged there is a line with the error, as far as it can be
// read.
func (l *Lines) Of(ctx context.Context, s *history.Summary, at history.Point) (*history.Why, error) {
	c, err := Read(ctx, l.src, events.JobStream(types.UID(s.UID)), at)
	switch {
	case c == nil && errors.Is(err, history.ErrNoJob):
		return &history.Why{Text: "unknown: the log has no records of it"}, nil
	case c == nil && l.src.Beside(err):
		return &history.Why{Text: "unknown: its records are damaged"}, err
	case c == nil:
		return nil, err
	}
	c.In(l.Zone)
	line := c.line()
	return &history.Why{Text: line.Text, Whole: line.Whole, Records: line.Records}, cmp.Or(err, c.Unread())
}

// line is the verdict; of a Job that waits and is not stuck also what it waits for, and of one that was deleted what it
// had waited for.
func (c *Case) line() Sentence {
	v := c.verdict()
	var waits []Sentence
	switch c.Job.State {
	case history.StateDeleted:
		waits = c.waited()
	case history.StateWaiting, history.StateRunning:
		_, unseen := c.unseen()
		if running := c.runningNow(); !unseen && running == 0 && c.stuck(running) == nil {
			waits = c.keptBy()
		}
	}
	for _, w := range waits {
		if len(w.Records) > 0 {
			head, rest, _ := strings.Cut(v.Text, ", ")
			if rest != "" {
				rest = "; " + rest
			}
			v.set(phrase("%s; %s%s", head, w.passage(), rest))
			v.Records = append(v.Records, w.Records...)
			break
		}
	}
	return v
}
