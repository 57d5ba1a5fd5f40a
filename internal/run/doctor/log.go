package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/jobledger/jobledger/store/open"
)

// logKept reports whether the log is healthy; it asks the controller that writes the log.
func logKept(ctx context.Context, c *Config) []Finding {
	if c.Log.Dir == "" || c.Log.Ready == nil {
		return nil // the check named disk has reported that no log was named
	}
	lines, running, err := c.Log.Ready(ctx)
	switch {
	case err != nil:
		return []Finding{{Level: Unknown, Text: fmt.Sprintf("the log in %s: %v", c.Log.Dir, err)}}
	case !running:
		return append(branches(c), well("no controller writes the log in "+c.Log.Dir)...)
	}
	var found []Finding
	for _, line := range lines {
		if said, is := strings.CutPrefix(line, "[-]"); is {
			found = append(found, Finding{Level: Problem, Text: "the controller is not ready: " + said, Do: "its own output tells more"})
		}
		if said, is := strings.CutPrefix(line, "[~]"); is {
			found = append(found, Finding{Level: Warning, Text: "the controller says: " + said, Do: "docs/troubleshooting.md says what each of these means"})
		}
	}
	if found = append(found, branches(c)...); found == nil {
		return well("the controller with the log in " + c.Log.Dir + " is ready")
	}
	return found
}

// branches reports the branches of the log: records at its end that were set aside, because a new leader did not have
// them.
func branches(c *Config) (found []Finding) {
	all, err := open.Branches(c.Log.Dir)
	if err != nil {
		return []Finding{{Level: Unknown, Text: fmt.Sprintf("the branches of the log in %s: %v", c.Log.Dir, err)}}
	}
	for _, says := range all {
		found = append(found, Finding{
			Level: Note, Text: says, Do: "read it with 'jobledger events --log " + c.Log.Dir + "/FOLDER'; remove it when it is of no use any more",
		})
	}
	return found
}
