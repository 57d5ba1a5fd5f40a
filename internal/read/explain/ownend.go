package explain

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// withDeadline says of a pod that its kubelet stopped by the pod's own deadline what the template has of that, unless
// admission changed it.
func (c *Case) withDeadline(t *Try, e Ending) Ending {
	const field = "activeDeadlineSeconds"
	if e.By != ByDeadline {
		return e
	}
	if slices.ContainsFunc(t.Admitted, func(name string) bool { return strings.TrimLeft(name, "+-") == field }) {
		e.Why += " (admission changed it)"
		return e
	}
	template, at := c.templateFor(t)
	var x struct {
		Spec struct {
			ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds"`
		} `json:"spec"`
	}
	if json.Unmarshal(template, &x) != nil || x.Spec.ActiveDeadlineSeconds == nil {
		return e
	}
	e.Why += fmt.Sprintf(" (%d in its template)", *x.Spec.ActiveDeadlineSeconds)
	e.Marks = append(e.Marks, record(at))
	return e
}

// bare are what a verdict says of tries that their kubelets ended, in words that name no cause, and what begins the
// words that do.
var bare = []struct{ says, named string }{
	{"terminated by the kubelet", "terminated by the kubelet ("},
	{"failed (Evicted)", "failed (Evicted: "},
	{"failed (DeadlineExceeded)", "failed ("},
}

// named is a verdict with the cause where it has words that name none: why a kubelet ended tries, as it says itself, or
// by which limit of their own. Of several causes it is the first.
func (c *Case) named(v Sentence) Sentence {
	for i, words := range bare {
		head, rest, is := strings.Cut(v.Text, words.says)
		if !is {
			continue
		}
		var causes []passage
		var from []Mark
		for _, t := range c.failedTries() {
			e := c.ending(t)
			if p := kubeletText(t, &e); bareOf(t, &e) == i && p.cut != "" && !slices.Contains(causes, p) {
				causes, from = append(causes, p), append(from, e.Marks...)
			}
		}
		if len(causes) == 0 {
			continue
		}
		first := ""
		if len(causes) > 1 {
			first = "the first: "
		}
		said := say(from[:min(len(from), mostCited)], "%s%s%s%s)%s", head, words.named, first, causes[0], rest)
		v.Text, v.Whole = said.Text, said.Whole
		for _, n := range said.Records {
			if !slices.Contains(v.Records, n) {
				v.Records = append(v.Records, n)
			}
		}
	}
	return v
}

// bareOf is which of the bare words a verdict would say of such a try; -1 for none.
func bareOf(t *Try, e *Ending) int {
	switch {
	case t.Disrupted != nil && e.By == ByKubelet:
		return 0
	case t.Disrupted == nil && t.Reason == "Evicted":
		return 1
	case t.Disrupted == nil && e.By == ByDeadline:
		return 2
	}
	return -1
}

// kubeletText is why a kubelet ended a try: the first sentence of what it said; empty where it said nothing.
func kubeletText(t *Try, e *Ending) passage {
	if e.By == ByDeadline {
		return passage{e.Why, e.Why}
	}
	says := strings.TrimSpace(t.Message)
	if t.Disrupted != nil && t.Disrupted.Message != "" {
		says = strings.TrimSpace(t.Disrupted.Message)
	}
	if says == "" && t.Disrupted != nil {
		says = t.Reason
	}
	first, _, _ := strings.Cut(says, ". ")
	return passage{begin(strings.TrimSuffix(first, "."), mostLine), strings.TrimSuffix(says, ".")}
}
