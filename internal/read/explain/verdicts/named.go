package verdicts

import (
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
)

// bare are phrases of a verdict about tries that a kubelet ended without a cause, and the phrases that begin the same
// with a cause.
var bare = []struct{ says, named string }{
	{"terminated by the kubelet", "terminated by the kubelet ("},
	{"failed (Evicted)", "failed (Evicted: "},
	{"failed (DeadlineExceeded)", "failed ("},
}

// named adds the cause to a verdict that has a bare phrase: the kubelet's message, or the pod's own limit. If there are
// several causes it adds the first.
func named(c *jobcase.Case, v explain.Sentence) explain.Sentence {
	for i, words := range bare {
		head, rest, is := strings.Cut(v.Text, words.says)
		if !is {
			continue
		}
		var causes []explain.Passage
		var from []explain.Mark
		for _, t := range c.Tries {
			p, m := kubeletText(t)
			if bareOf(t) == i && p.Cut != "" && !slices.Contains(causes, p) {
				causes, from = append(causes, p), append(from, m...)
			}
		}
		if len(causes) == 0 {
			continue
		}
		first := ""
		if len(causes) > 1 {
			first = "the first: "
		}
		said := explain.Say(from[:min(len(from), explain.MostCited)], "%s%s%s%s)%s", head, words.named, first, causes[0],
			rest)
		v.Text, v.Whole = said.Text, said.Whole
		for _, n := range said.Records {
			if !slices.Contains(v.Records, n) {
				v.Records = append(v.Records, n)
			}
		}
	}
	return v
}

// bareOf returns the index of the bare phrase that a verdict has for the try; -1 for none.
func bareOf(t *try.Try) int {
	switch {
	case t.Phase == events.PodSucceeded || t.Ended.Record == 0 && t.Gone.Record == 0:
		return -1
	case t.Disrupted != nil && t.Disrupted.Reason == "TerminationByKubelet":
		return 0
	case t.Disrupted == nil && t.Reason == "Evicted":
		return 1
	case t.Disrupted == nil && t.Reason == "DeadlineExceeded":
		return 2
	}
	return -1
}

// kubeletText returns why a kubelet ended the try: the first sentence of its message, or the pod's own deadline. It is
// empty without a message.
func kubeletText(t *try.Try) (explain.Passage, []explain.Mark) {
	if t.Reason == "DeadlineExceeded" {
		text := try.OwnDeadline + t.Deadline
		return explain.Passage{Cut: text, Whole: text}, []explain.Mark{t.Ended, t.DeadlineFrom}
	}
	says, from := strings.TrimSpace(t.Message), t.Ended
	if t.Disrupted != nil {
		if from = t.DisruptedAt; t.Disrupted.Message != "" {
			says = strings.TrimSpace(t.Disrupted.Message)
		} else if says == "" {
			says = t.Reason
		}
	}
	first, _, _ := strings.Cut(says, ". ")
	return explain.Passage{Cut: explain.Begin(strings.TrimSuffix(first, "."), explain.MostLine),
		Whole: strings.TrimSuffix(says, ".")}, []explain.Mark{from}
}
