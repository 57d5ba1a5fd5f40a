package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

// mostPassed is how many times a listing names; it counts the others.
const mostPassed = 3

// tellPassed notes the requested times in which not everything was recorded because a namespace was over its log
// budget, beginning with since, the time of the first record shown. For programs it prints a document of its own.
func tellPassed(ctx context.Context, c *cli.CLI, src history.Source, f *eventsFlags, q *history.Query, since events.Time, names *words.Names) error {
	passed, err := history.PassedSince(ctx, src, since)
	if errors.Is(err, store.ErrPruned) || passed == nil {
		return err
	}
	namespace := q.Namespace
	if q.Stream != nil {
		namespace = names.Job(*q.Stream).Namespace
	}
	times := passed.Touching(namespace, namespace == "", since, q.Until)
	if f.output.Document() {
		return errors.Join(err, passedLine(c, &f.output, times))
	}
	noteTimes(c, times, f.output.Zone())
	return err
}

// noteTimes notes for a listing the times in which not everything was recorded.
func noteTimes(c *cli.CLI, times []history.Passed, zone words.Zone) {
	for i := range times {
		if i == mostPassed && len(times) > mostPassed+1 {
			fmt.Fprintf(c.Err, "note: and in %d times more: events --kind PassedOver lists them\n", len(times)-i)
			break
		}
		fmt.Fprintf(c.Err, "note: not all is recorded %s\n", show.Passed(&times[i], zone))
	}
}

func passedLine(c *cli.CLI, o *cli.OutputFlag, times []history.Passed) error {
	if len(times) == 0 {
		return nil
	}
	line, err := json.Marshal(map[string][]history.Passed{"passedOver": times})
	if err != nil {
		return err
	}
	if o.Format == cli.FormatYAML {
		fmt.Fprintln(c.Out, "---")
	}
	return c.Document(o.Format, recordjson.VisibleJSON(line))
}

// notePassed notes for a list the namespaces over their log budget: objects may be missing, and shown ones may be late.
func notePassed(c *cli.CLI, now []history.Passed, output *cli.OutputFlag) {
	for i := range now {
		if i == mostPassed && len(now) > mostPassed+1 {
			fmt.Fprintf(c.Err, "note: %d namespaces more are over their budgets of log\n", len(now)-i)
			break
		}
		fmt.Fprintf(c.Err, "note: %s; new objects may be missing\n", show.Late(&now[i], output.Zone()))
	}
}
