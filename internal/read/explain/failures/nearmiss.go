package failures

import (
	"fmt"
	"strings"

	"github.com/jobledger/jobledger/internal/read/explain/ending"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/explain/verdicts"
	"github.com/jobledger/jobledger/internal/say/words"
)

// nearMiss reports whether a Job succeeded in spite of trouble (result is). The text (result also) has what the verdict
// does not say about it: failures, pods that disruptions ended and that did not count, and restarts of containers.
func nearMiss(c *jobcase.Case) (also string, is bool) {
	if c.Folded == nil {
		return "", false
	}
	ignored := 0
	var by try.By
	for _, t := range c.Tries {
		if t.Counted == try.CountedIgnored {
			ignored, by = ignored+1, ending.Of(c, t).By
		}
	}
	failed, restarts, says := c.Folded.Base.Failed, restartsText(c), verdicts.Of(c).Text
	is = failed > 0 || ignored > 0 || restarts != ""
	switch told := strings.Contains(says, "survived: "); {
	case told:
	case failed > 0:
		also = "; survived: " + words.Count(int(failed), "failure")
	case ignored > 0:
		also = fmt.Sprintf("; survived: %s that did not count (the last: %s)", try.Count(ignored), by)
	}
	if !strings.Contains(says, "restarted ") {
		also += restarts
	}
	return also, is
}

// restartsText says how often containers of the Job's pods were restarted; empty if never.
func restartsText(c *jobcase.Case) string {
	restarts, pods, how := uint32(0), 0, ""
	for _, t := range c.Tries {
		if t.Restarts == 0 {
			continue
		}
		if restarts += t.Restarts; how == "" && len(t.Crashed) > 0 {
			how = " (the first: " + try.ExitOf(&t.Crashed[0]) + ")"
		}
		pods++
	}
	if restarts == 0 {
		return ""
	}
	return fmt.Sprintf("; %s in %s%s", words.Count(int(restarts), "restart"), words.Count(pods, "pod"), how)
}
