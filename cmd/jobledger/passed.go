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

// mostPassed is how many times of incomplete recording are listed; of further ones only the number is printed.
const mostPassed = 3

// tellPassed prints notes about the requested times, from since on, in which not everything was recorded because a
// namespace was over its log budget (what it may write in an hour). since is the time of the first record shown. For
// JSON and YAML it prints a document instead.
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

// noteTimes prints notes about times in which not everything was recorded.
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

// notePassed prints notes about namespaces that are over their log budget (what they may write in an hour) now: objects
// may be missing in the list, and those shown may be out of date.
func notePassed(c *cli.CLI, now []history.Passed, output *cli.OutputFlag) {
	for i := range now {
		if i == mostPassed && len(now) > mostPassed+1 {
			fmt.Fprintf(c.Err, "note: %d namespaces more are over their budgets of log\n", len(now)-i)
			break
		}
		fmt.Fprintf(c.Err, "note: %s; new objects may be missing\n", show.Late(&now[i], output.Zone()))
	}
}
