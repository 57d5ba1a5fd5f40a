package verdicts

import (
	"strings"

	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/stuck"
	"github.com/jobledger/jobledger/internal/read/history"
)

// onTheWay adds to verdict v about a complete Job what delayed the Job most. It does not if the verdict already lists
// failures that the Job survived.
func onTheWay(c *jobcase.Case, v explain.Sentence) explain.Sentence {
	if c.Job.State != history.StateComplete || strings.Contains(v.Text, "survived: ") {
		return v
	}
	text, from := stuck.Delayed(c)
	if text.Cut == "" {
		return v
	}
	with := explain.Say(append(v.Marks(), from...), "%s; %s", v.Passage(), text)
	with.Unsaid = v.Unsaid
	return with
}
