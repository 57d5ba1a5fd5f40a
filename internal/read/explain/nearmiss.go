package explain

import (
	"fmt"
	"strings"

	"github.com/jobledger/jobledger/internal/say/words"
)

// nearMiss reports whether a Job that succeeded had trouble before. also is what the verdict does not say: disrupted
// pods that did not count, and restarted containers.
func (c *Case) nearMiss() (also string, is bool) {
	if c.folded == nil {
		return "", false
	}
	ignored := 0
	var by By
	for _, t := range c.Tries {
		if t.Counted == CountedIgnored {
			ignored, by = ignored+1, c.ending(t).By
		}
	}
	failed, restarts, says := c.folded.Base.Failed, c.restartsText(), c.verdict().Text
	is = failed > 0 || ignored > 0 || restarts != ""
	switch told := strings.Contains(says, "survived: "); {
	case told:
	case failed > 0:
		also = "; survived: " + words.Count(int(failed), "failure")
	case ignored > 0:
		also = fmt.Sprintf("; survived: %s that did not count (the last: %s)", tries(ignored), by)
	}
	if !strings.Contains(says, "restarted ") {
		also += restarts
	}
	return also, is
}

// restartsText says how often containers were restarted; empty for never.
func (c *Case) restartsText() string {
	restarts, pods, how := uint32(0), 0, ""
	for _, t := range c.Tries {
		if t.Restarts == 0 {
			continue
		}
		if restarts += t.Restarts; how == "" && len(t.Crashed) > 0 {
			how = " (the first: " + exitOf(&t.Crashed[0]) + ")"
		}
		pods++
	}
	if restarts == 0 {
		return ""
	}
	return fmt.Sprintf("; %s in %s%s", words.Count(int(restarts), "restart"), words.Count(pods, "pod"), how)
}
