package verdicts

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/ending"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
)

// way is one way in which pods can end, with the phrase that package verdict has for it. That package knows only the
// state of the Job. An answer has the records, too, and can name the cause.
type way struct {
	phrase *regexp.Regexp // the words in a verdict
	is     func(t *try.Try, e *try.Ending) bool
	cause  func(c *jobcase.Case, t *try.Try, e *try.Ending) cause
}

// cause names the cause of a pod's end, in place of a phrase of the verdict: "evicted through the eviction API (by whom
// is unknown)".
type cause struct {
	does   string          // text that replaces the phrase; empty to keep the phrase
	why    explain.Passage // added in brackets
	unsaid string          // phrase for what no record tells, added in the same brackets
	from   []explain.Mark
}

// ways has all ways in which pods can end and for which a cause can be named. Each phrase must follow "try" or "tries",
// so that it is not found in a quoted message.
var ways = []way{
	{
		after(`terminated(?: by the kubelet)?`),
		func(t *try.Try, _ *try.Ending) bool {
			return t.Disrupted != nil && t.Disrupted.Reason == "TerminationByKubelet"
		},
		func(_ *jobcase.Case, t *try.Try, e *try.Ending) cause {
			why, from := kubeletText(t)
			return cause{"terminated by the kubelet" + of(t.Node), why, e.Unsaid, from}
		},
	},
	{
		after(`failed \(Evicted\)|exited [^,;]+, Evicted`),
		func(t *try.Try, _ *try.Ending) bool { return t.Disrupted == nil && t.Reason == "Evicted" },
		func(_ *jobcase.Case, t *try.Try, e *try.Ending) cause {
			why, from := kubeletText(t)
			switch {
			case e.Rejected:
				why = explain.Phrase("rejected by %s, Evicted: %s", node(t), why.Each(func(text string) string {
					return strings.TrimPrefix(text, try.NotAdmitted)
				}))
				return cause{"failed", why, "", from}
			case t.OwnLimit() == "":
				return cause{"failed" + try.On(t.Node), explain.Phrase("Evicted: %s", why), "", from}
			}
			return cause{"failed", explain.Phrase("Evicted: %s", why), "", from}
		},
	},
	{
		after(`rejected(?: by the node)? \(\w+\)`),
		func(_ *try.Try, e *try.Ending) bool { return e.Rejected },
		func(_ *jobcase.Case, t *try.Try, e *try.Ending) cause {
			return cause{"rejected by " + node(t), whole(e.Why), "", e.Marks}
		},
	},
	{
		after(`failed, no container says why`),
		func(t *try.Try, e *try.Ending) bool { return e.By == try.ByUnknown && strings.HasPrefix(e.Why, "how ") },
		func(_ *jobcase.Case, _ *try.Try, e *try.Ending) cause {
			return cause{"failed", whole(e.Why), "", e.Marks}
		},
	},
	{
		after(`ran (?:longer than (?:its|their) own activeDeadlineSeconds|over (?:its|their) own deadline)`),
		func(t *try.Try, _ *try.Ending) bool { return t.Disrupted == nil && t.Reason == "DeadlineExceeded" },
		func(_ *jobcase.Case, t *try.Try, _ *try.Ending) cause {
			limit := strings.Trim(t.Deadline, " ()")
			return cause{"ran longer than its own activeDeadlineSeconds", whole(limit), "",
				[]explain.Mark{t.Ended, t.DeadlineFrom}}
		},
	},
	{
		after(`evicted(?: through the eviction API)?`),
		func(_ *try.Try, e *try.Ending) bool { return e.By == try.ByEviction },
		evicted,
	},
	{
		after(`preempted(?: by the scheduler)?`),
		func(_ *try.Try, e *try.Ending) bool { return e.By == try.ByPreemption },
		func(_ *jobcase.Case, _ *try.Try, e *try.Ending) cause {
			return cause{"", explain.Passage{}, e.Unsaid, e.Marks}
		},
	},
	{
		after(`deleted for a (?:taint of a device|device's taint)`),
		func(_ *try.Try, e *try.Ending) bool { return e.By == try.ByDevice },
		func(_ *jobcase.Case, _ *try.Try, e *try.Ending) cause {
			return cause{"", explain.Passage{}, e.Unsaid, e.Marks}
		},
	},
	{after(`deleted for a taint(?: of the node)?`), func(_ *try.Try, e *try.Ending) bool { return e.By == try.ByTaint }, taint},
	{
		after(`deleted by (?:the pod garbage collector|PodGC)`),
		func(_ *try.Try, e *try.Ending) bool { return e.By == try.ByNodeGone },
		nodeGone,
	},
	{
		after(`deleted before (?:its|their) end`),
		func(t *try.Try, e *try.Ending) bool { return t.Failed() && deletes[e.By] },
		deleted,
	},
}

func after(phrase string) *regexp.Regexp {
	return regexp.MustCompile(`\b(?:try|tries)(?: was| were)? (` + phrase + `)( \(ignored\))?`)
}

func of(node string) string {
	if node == "" {
		return ""
	}
	return " of " + node
}

func node(t *try.Try) string {
	if t.Node == "" {
		return "its node"
	}
	return t.Node
}

// named replaces phrases in verdict v by the causes that the records show. If the pods have several causes, it names
// the first. Each phrase about what no record tells appears only once.
func named(c *jobcase.Case, v explain.Sentence) explain.Sentence {
	var found []foundPhrase
	for _, w := range ways {
		if at := w.phrase.FindStringSubmatchIndex(v.Text); at != nil {
			if all := w.causes(c); len(all) > 0 {
				found = append(found, foundAt(v.Text, at, all))
			}
		}
	}
	found = append(found, stopped(c, v.Text)...)
	slices.SortFunc(found, func(a, b foundPhrase) int { return cmp.Compare(a.begin, b.begin) })
	var said explain.Passage
	done, told := 0, ""
	for _, x := range found {
		if x.unsaid == told {
			x.unsaid = ""
		}
		if x.unsaid != "" {
			told = cmp.Or(told, x.unsaid)
			v.Unsaid = append(v.Unsaid, x.unsaid)
		}
		said = explain.Phrase("%s%s%s", said, v.Text[done:x.begin], x.text())
		done = x.end
		for _, m := range explain.Marks(x.from[:min(len(x.from), explain.MostCited)]...) {
			if n := uint64(m.Record); !slices.Contains(v.Records, n) {
				v.Records = append(v.Records, n)
			}
		}
	}
	v.Set(explain.Phrase("%s%s", said, v.Text[done:]))
	return v
}

// causes returns the different causes of those of the Job's pods that ended in this way.
func (w *way) causes(c *jobcase.Case) (all []cause) {
	for _, t := range c.Tries {
		e := ending.Of(c, t)
		if t.Phase == events.PodSucceeded || !t.Over() || !w.is(t, &e) {
			continue
		}
		x := w.cause(c, t, &e)
		if !slices.ContainsFunc(all, func(y cause) bool { return y.does == x.does && y.why == x.why }) {
			all = append(all, x)
		} else {
			all[0].from = append(all[0].from, x.from...)
		}
	}
	return all
}

// foundPhrase is a phrase in a verdict, and the text that replaces it.
type foundPhrase struct {
	begin, end int
	does       string
	brackets   []explain.Passage
	unsaid     string
	from       []explain.Mark
}

// foundAt returns the phrase that a regular expression matched in the verdict (at has the positions), with the causes
// all that replace it.
func foundAt(verdict string, at []int, all []cause) foundPhrase {
	x := all[0]
	f := foundPhrase{begin: at[2], end: max(at[3], at[5]), does: x.does, unsaid: x.unsaid, from: x.from}
	why := x.why
	if phrase := verdict[at[2]:at[3]]; x.does == "" {
		f.does = phrase
	} else if strings.Contains(phrase, "their own") {
		f.does = strings.Replace(f.does, " its own ", " their own ", 1)
	} else if len(all) > 1 { // the causes differ, so the words of the first do not fit all pods: keep the phrase
		does := x.does
		if f.does = phrase; why.Cut != "" && strings.HasPrefix(does, phrase) {
			does = ""
		}
		why = explain.Phrase("the first: %s", joined([]explain.Passage{whole(does), why}, ": "))
	}
	f.brackets = []explain.Passage{why}
	if at[4] >= 0 {
		f.brackets = append(f.brackets, whole("ignored"))
	}
	return f
}

func (x *foundPhrase) text() explain.Passage {
	brackets := joined(append(slices.Clone(x.brackets), whole(x.unsaid)), "; ")
	if brackets.Cut == "" {
		return whole(x.does)
	}
	return explain.Phrase("%s (%s)", x.does, brackets)
}

// joined joins the passages that are not empty, with sep between them.
func joined(all []explain.Passage, sep string) explain.Passage {
	return explain.Joined(slices.DeleteFunc(all, func(p explain.Passage) bool { return p.Cut == "" }), sep)
}

func whole(s string) explain.Passage { return explain.Passage{Cut: s, Whole: s} }

// kubeletText returns the first sentence of the kubelet's message that says why it ended pod t, and the record that has
// it.
func kubeletText(t *try.Try) (explain.Passage, []explain.Mark) {
	says, from := strings.TrimSpace(t.Message), t.Ended
	if t.Disrupted != nil {
		if from = t.DisruptedAt; t.Disrupted.Message != "" {
			says = strings.TrimSpace(t.Disrupted.Message)
		} else if says == "" {
			says = t.Reason
		}
	}
	says = strings.TrimPrefix(says, try.InResponseTo)
	first, _, _ := strings.Cut(says, ". ")
	return explain.Passage{Cut: explain.Begin(strings.TrimSuffix(first, "."), explain.MostLine),
		Whole: strings.TrimSuffix(says, ".")}, []explain.Mark{from}
}
