package main

import (
	"encoding/json"
	"fmt"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
)

// mostPassed is how many times of incomplete recording are listed; of further ones only the number is printed.
const mostPassed = 3

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
