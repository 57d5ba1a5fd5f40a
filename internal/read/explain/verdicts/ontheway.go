package verdicts

import (
	"strings"

	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/stuck"
	"github.com/jobledger/jobledger/internal/read/history"
)

// onTheWay adds to the verdict about a complete Job what delayed the Job, unless the verdict lists failures that it
// survived.
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
