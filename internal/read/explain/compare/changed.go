package compare

import (
	"fmt"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/differs"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/say/words"
)

// admissionSince says how the changes that admission made in this Job's pods differ from those in the pods of an
// earlier run, before.
func admissionSince(c *jobcase.Case, before *peer) []string {
	var out []string
	now, then := c.Admitted, before.admitted
	if more := words.Admitted(slices.DeleteFunc(slices.Clone(now), func(n string) bool {
		return slices.Contains(then,
			n)
	})); more != "" {
		text := "admission changes more of its pods: " + more
		if then == nil {
			text += " (nothing is recorded of then)"
		}
		out = append(out, text)
	}
	if less := words.Admitted(slices.DeleteFunc(slices.Clone(then), func(n string) bool {
		return slices.Contains(now,
			n)
	})); less != "" {
		out = append(out, "admission changes less of its pods: no longer "+less)
	}
	return out
}

// Changed says what differs from the last successful run of the same work, for example of the same CronJob.
func (c *Jobs) Changed() []explain.Sentence { return append(c.sinceSuccess(), c.movedOn()...) }

func (c *Jobs) sinceSuccess() []explain.Sentence {
	r := c.runs
	switch {
	case r == nil || c.Added.Record == 0:
		return nil
	case r.last == nil && r.failed > 0:
		return []explain.Sentence{explain.Say(nil, "no earlier run with %s succeeded: %d failed, as far as the log tells",
			r.what, r.failed)}
	case r.last == nil:
		return []explain.Sentence{explain.Detail(explain.Say(nil, "the log has no earlier run with %s", r.what))}
	}
	s := &r.last.sum
	text := fmt.Sprintf("since the last success (%s, %s; of %d earlier runs with %s %d succeeded): ", s.Name,
		c.Zone.In(events.Time(s.Finished)).Format("2 Jan 15:04:05"), r.succeeded+r.failed, r.what, r.succeeded)
	spec, template := c.FirstSpec()
	from := append(slices.Clone(r.last.marks), c.Added)
	diff := append(explain.Passages(differs.Specs(r.last.spec, spec)), differs.Templates(r.last.template, template)...)
	if differs := admissionSince(c.Case, r.last); len(differs) > 0 {
		diff, from = append(diff, explain.Passages(differs)...), append(from, c.AdmittedAt)
	}
	if len(diff) == 0 {
		diff = explain.Passages([]string{c.sameTemplate(r.last.spec, spec)})
	}
	took := ""
	// If a kubelet's clock is behind, a Job may end before its start: then leave out how long it took.
	if s.Started != 0 && s.Finished >= s.Started {
		took = fmt.Sprintf("; it took %s then", words.Span(events.Time(s.Finished).Sub(events.Time(s.Started))))
	}
	out := []explain.Sentence{explain.Say(from, "%s%s%s", text, explain.Joined(diff[:min(len(diff),
		differs.MostDifferences)], " · "), took)}
	if len(diff) > differs.MostDifferences {
		out = append(out, explain.Detail(explain.Say(from, "also: %s", explain.Joined(diff[differs.MostDifferences:],
			" · "))))
	}
	return out
}

// sameTemplate says what is known about the pod templates of two specs whose recorded fields are equal.
func (c *Jobs) sameTemplate(old, now *events.JobSpec) string {
	switch {
	case old == nil || now == nil:
		return "unknown: the spec of then is no longer kept"
	case old.Key != now.Key || old.Template == "":
		return "nothing that is recorded; values of env, commands and arguments cannot be compared"
	case old.Template != now.Template:
		return "a value that is not kept in the log: of env, command, arguments or annotations"
	}
	return "nothing: spec and pod template are the same"
}
