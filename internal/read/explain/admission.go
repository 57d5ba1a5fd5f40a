package explain

import (
	"fmt"
	"slices"

	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// admission says in which fields its pods differ from the Job's pod template because admission changed them. It is a
// detail if the Job had no trouble.
func (c *JobCase) admission() []Sentence {
	failed := c.failedTries()
	trouble := len(failed) > 0 || !c.over() || c.Job.State == history.StateFailed
	var out []Sentence
	for i, t := range c.Tries {
		text := words.Admitted(t.Admitted)
		if text == "" || slices.ContainsFunc(c.Tries[:i], func(u *Try) bool { return u.AdmittedAt == t.AdmittedAt }) {
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
		s := say(marks(t.AdmittedAt), "%s from the Job's pod template: %s", whose, text)
		s.Detail = !trouble
		out = append(out, s)
	}
	return fewer(out, 2)
}

// admissionSince compares what admission changed of this Job's pods and of an earlier run's pods.
func (c *Case) admissionSince(before *peer) []string {
	var out []string
	now, then := c.admitted, before.admitted
	if more := words.Admitted(slices.DeleteFunc(slices.Clone(now), func(n string) bool { return slices.Contains(then, n) })); more != "" {
		text := "admission changes more of its pods: " + more
		if then == nil {
			text += " (nothing is recorded of then)"
		}
		out = append(out, text)
	}
	if less := words.Admitted(slices.DeleteFunc(slices.Clone(then), func(n string) bool { return slices.Contains(now, n) })); less != "" {
		out = append(out, "admission changes less of its pods: no longer "+less)
	}
	return out
}
