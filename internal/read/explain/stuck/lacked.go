package stuck

import (
	"fmt"

	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Lacked says when the Job, which another controller runs, wanted pods and none came (a Lack), and which records would
// explain it. If lasts is set, it is about such a period that has not ended, otherwise about those that have.
func Lacked(c *jobcase.Case, lasts bool) []explain.Sentence {
	var out []explain.Sentence
	for _, x := range c.Lacks() {
		if lasts != (x.Until.Record == 0 && !c.Over()) {
			continue
		}
		until := "to " + c.Clock(x.Until.At)
		if x.Cut {
			until += ", when it was watched no more"
		}
		if x.Until.Record == 0 {
			until = "until it was deleted"
			if c.Job.State != history.StateDeleted {
				until = "on"
			}
		}
		text := fmt.Sprintf("%s, from %s %s (%s): why is unknown", x.NoPods(), c.Clock(x.From.At), until,
			words.Span(c.LackUntil(x).Sub(x.From.At)))
		if len(out) == 0 {
			text += "; missing: what the API server answered " + c.Controller() +
				", if that asked (quota, webhook, right): only its Events tell it, and they are not read"
		}
		out = append(out, explain.Say(explain.Marks(x.From, x.Until), "%s", text))
	}
	return explain.Fewer(out, 2)
}
