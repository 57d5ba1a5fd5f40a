package doctor

import (
	"context"
	"fmt"
	"strings"
)

// logKept asks the controller that writes the log for the log's health.
func logKept(ctx context.Context, c *Config) []Finding {
	if c.Log.Dir == "" || c.Log.Ready == nil {
		return nil // disk has reported it
	}
	lines, running, err := c.Log.Ready(ctx)
	switch {
	case err != nil:
		return []Finding{{Level: Unknown, Text: fmt.Sprintf("the log in %s: %v", c.Log.Dir, err)}}
	case !running:
		return well("no controller writes the log in " + c.Log.Dir)
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
	if found == nil {
		return well("the controller with the log in " + c.Log.Dir + " is ready")
	}
	return found
}
