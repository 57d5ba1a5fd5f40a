package job

import (
	"fmt"
	"slices"

	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/ending"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// admission says which fields of the Job's pods were changed at admission, for example by a webhook. If the Job had no
// trouble, the sentence is a detail.
func (c *Case) admission() []explain.Sentence {
	failed := ending.FailedTries(c.Case)
	trouble := len(failed) > 0 || !c.Over() || c.Job.State == history.StateFailed
	var out []explain.Sentence
	for i, t := range c.Tries {
		text := words.Admitted(t.Admitted)
		if text == "" || slices.ContainsFunc(c.Tries[:i], func(u *try.Try) bool { return u.AdmittedAt == t.AdmittedAt }) {
			continue
		}
		alike := 0
		for _, u := range c.Tries {
			if u.AdmittedAt == t.AdmittedAt {
				alike++
			}
		}
		whose := t.Pod + " differs"
		if alike > 1 {
			whose = fmt.Sprintf("%s and %s differ", t.Pod, words.Count(alike-1, "other pod"))
		}
		s := explain.Say(explain.Marks(t.AdmittedAt), "%s from the Job's pod template: %s", whose, text)
		s.Detail = !trouble
		out = append(out, s)
	}
	return explain.Fewer(out, 2)
}
