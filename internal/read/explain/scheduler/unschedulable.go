package scheduler

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
)

// Message is a message of the scheduler about a pod without a node: "0/7 nodes are available: 2 node(s) didn't match
// Pod's node affinity/selector, 4 node(s) had untolerated taint(s), 1 Insufficient cpu. preemption: …". The scheduler
// counts each node under the first plugin that refuses it. So the numbers do not show which reason matters most, and
// answers do not claim that.
type Message struct {
	head  string // the beginning: "0/7 nodes are available"
	Parts []SchedulerPart
	Tail  string // the end of the message, about preemption
}

// SchedulerPart is one reason in the scheduler's message, and the number of nodes that it excludes.
type SchedulerPart struct {
	text  string
	nodes int
	asks  string // field of the pod's spec that it is about; empty if only about the nodes
}

// The fields of a pod's spec that can exclude nodes for the pod.
const (
	asksNodes    = "nodeSelector"
	asksTaints   = "tolerations"
	asksVolumes  = "volumes"
	asksPods     = "affinity"
	asksSpread   = "topologySpreadConstraints"
	asksCapacity = "resources"
)

// asked has phrases of the scheduler, and for each the field of the pod's spec that it is about. If several phrases are
// in a reason, the first in this list counts.
var asked = []struct{ words, field string }{
	{"node affinity/selector", asksNodes}, {"taint", asksTaints}, {"volume", asksVolumes}, {"topology spread", asksSpread},
	{"affinity", asksPods}, {"Insufficient", asksCapacity},
}

var noNodes = regexp.MustCompile(`^(0/\d+ nodes are available): (\d+ .*)$`)

// Parse splits a message of the scheduler about a pod into its reasons; ok is false for other messages.
func Parse(message string) (u Message, ok bool) {
	m := noNodes.FindStringSubmatch(strings.TrimSpace(message))
	if m == nil {
		return u, false
	}
	reasons, tail, _ := strings.Cut(m[2], ". ")
	u.head, u.Tail = m[1], tail
	for _, text := range strings.Split(strings.TrimSuffix(reasons, "."), ", ") {
		count, _, _ := strings.Cut(text, " ")
		nodes, err := strconv.Atoi(count)
		if err != nil && len(u.Parts) == 0 {
			return u, false
		}
		if err != nil { // a part without a number continues the reason before it, which contains a comma
			u.Parts[len(u.Parts)-1].text += ", " + text
			continue
		}
		u.Parts = append(u.Parts, SchedulerPart{text: text, nodes: nodes})
	}
	for i := range u.Parts {
		p := &u.Parts[i]
		if at := slices.IndexFunc(asked, func(x struct{ words, field string }) bool {
			return strings.Contains(p.text,
				x.words)
		}); at >= 0 {
			p.asks = asked[at].field
		}
	}
	// The reason with the fewest nodes comes first, because large numbers are usually the nodes of other teams. The
	// nodes that the pod's own selector excludes come last.
	slices.SortStableFunc(u.Parts, func(a, b SchedulerPart) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.nodes, b.nodes))
	})
	return u, true
}

func (p *SchedulerPart) rank() int {
	if p.asks == asksNodes {
		return 1
	}
	return 0
}

// Reasons says why the scheduler has no node for try t (a pod), one sentence for each reason in u. The first sentence
// begins with before and cites the records from; the others cite said, the record with the message. If a reason is
// about a field of the pod template, its sentence shows the field's value, if the log has it.
func Reasons(c *jobcase.Case, t *try.Try, u *Message, said explain.Mark, from []explain.Mark,
	before string) []explain.Sentence {
	template, at := c.TemplateFor(t)
	var out []explain.Sentence
	for i := range u.Parts {
		text, cited := u.Parts[i].text, []explain.Mark{said}
		if i == 0 {
			text, cited = before+u.head+": "+text, from
		}
		if own := asks(t, template, &u.Parts[i]); own != "" {
			text, cited = text+" ("+own+")", append(slices.Clone(cited), explain.RecordMark(at))
		}
		out = append(out, explain.Say(cited, "%s", text))
	}
	if u.Tail != "" {
		out = append(out, explain.Say([]explain.Mark{said}, "%s", u.Tail))
	}
	return out
}

// podAsks has the fields of a pod template that can keep a pod from nodes.
type podAsks struct {
	Spec struct {
		NodeSelector map[string]string
		Affinity     map[string]json.RawMessage
		Tolerations  []struct{ Key, Operator, Value, Effect string }
		Containers   []struct {
			Name      string
			Resources struct{ Requests map[string]string }
		}
		Volumes []struct {
			PersistentVolumeClaim *struct{ ClaimName string }
		}
	}
}

// asks returns the field of the pod template that reason p is about, with the field's value; empty if unknown.
func asks(t *try.Try, template []byte, p *SchedulerPart) string {
	var x podAsks
	if len(template) == 0 || json.Unmarshal(template, &x) != nil {
		return ""
	}
	if slices.ContainsFunc(t.Admitted, func(name string) bool {
		return strings.HasPrefix(strings.TrimLeft(name, "+-"),
			p.asks)
	}) && p.asks != "" {
		return "admission changed its " + p.asks
	}
	switch p.asks {
	case asksNodes:
		return x.nodes()
	case asksTaints:
		return x.tolerates()
	case asksVolumes:
		return x.claims()
	case asksCapacity:
		return x.requests(strings.Fields(p.text))
	}
	return ""
}

func (x *podAsks) nodes() string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(x.Spec.NodeSelector)) {
		parts = append(parts, key+"="+x.Spec.NodeSelector[key])
	}
	text := ""
	if len(parts) > 0 {
		text = "its nodeSelector is " + strings.Join(parts, ",")
	}
	if x.Spec.Affinity["nodeAffinity"] != nil {
		text = strings.TrimPrefix(text+"; it has a nodeAffinity", "; ")
	}
	return text
}

func (x *podAsks) tolerates() string {
	var parts []string
	for _, t := range x.Spec.Tolerations {
		text := cmp.Or(t.Key, "every taint")
		if t.Operator != "Exists" && t.Value != "" {
			text += "=" + t.Value
		}
		if t.Effect != "" {
			text += ":" + t.Effect
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return "its pod template has no tolerations"
	}
	return "its pod template tolerates " + strings.Join(parts, ", ")
}

func (x *podAsks) claims() string {
	var names []string
	for _, v := range x.Spec.Volumes {
		if v.PersistentVolumeClaim != nil {
			names = append(names, v.PersistentVolumeClaim.ClaimName)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "it claims " + strings.Join(names, ", ")
}

// large returns the quantity n, with a request of very many CPUs in full. In "cpu: 1M" the M means a million; it is
// often a typing error for m (1/1000).
func large(resource, n string) string {
	for suffix, zeros := range map[string]string{"k": "000", "M": "000000", "G": "000000000"} {
		if digits, is := strings.CutSuffix(n, suffix); is && resource == "cpu" {
			return ", that is " + digits + zeros + " CPUs"
		}
	}
	return ""
}

// requests says how much of a resource the containers request: "requested: main 2" for the reason "3 Insufficient cpu",
// given in words.
func (x *podAsks) requests(words []string) string {
	resource := strings.TrimRight(words[len(words)-1], ".,")
	var parts []string
	for i := range x.Spec.Containers {
		k := &x.Spec.Containers[i]
		if n := k.Resources.Requests[resource]; n != "" {
			parts = append(parts, k.Name+" "+n+large(resource, n))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("requested: %s", strings.Join(parts, ", "))
}
