package explain

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
)

// unschedulable is a message of the scheduler about a pod without a node: "0/7 nodes are available: 2 node(s) didn't
// match Pod's node affinity/selector, 4 node(s) had untolerated taint(s), 1 Insufficient cpu. preemption: …". The
// scheduler counts each node under the first plugin that refused it, so the numbers do not show which part decides, and
// answers do not claim it.
type unschedulable struct {
	head  string // "0/7 nodes are available"
	parts []schedulerPart
	tail  string // the part about preemption
}

// schedulerPart is one reason of the scheduler, and its number of nodes.
type schedulerPart struct {
	text  string
	nodes int
	asks  string // the field of the pod's spec that it is about; empty if it is only about the nodes
}

// The fields of a pod's spec that keep it from a node.
const (
	asksNodes    = "nodeSelector"
	asksTaints   = "tolerations"
	asksVolumes  = "volumes"
	asksPods     = "affinity"
	asksSpread   = "topologySpreadConstraints"
	asksCapacity = "resources"
)

// asked maps phrases of the scheduler's plugins to the fields of the pod's spec that they are about. The first match
// counts.
var asked = []struct{ words, field string }{
	{"node affinity/selector", asksNodes}, {"taint", asksTaints}, {"volume", asksVolumes}, {"topology spread", asksSpread},
	{"affinity", asksPods}, {"Insufficient", asksCapacity},
}

var noNodes = regexp.MustCompile(`^(0/\d+ nodes are available): (\d+ .*)$`)

// parseUnschedulable splits a message of the scheduler; ok is false for other messages.
func parseUnschedulable(message string) (u unschedulable, ok bool) {
	m := noNodes.FindStringSubmatch(strings.TrimSpace(message))
	if m == nil {
		return u, false
	}
	reasons, tail, _ := strings.Cut(m[2], ". ")
	u.head, u.tail = m[1], tail
	for _, text := range strings.Split(strings.TrimSuffix(reasons, "."), ", ") {
		count, _, _ := strings.Cut(text, " ")
		nodes, err := strconv.Atoi(count)
		if err != nil && len(u.parts) == 0 {
			return u, false
		}
		if err != nil { // a comma within a reason
			u.parts[len(u.parts)-1].text += ", " + text
			continue
		}
		u.parts = append(u.parts, schedulerPart{text: text, nodes: nodes})
	}
	for i := range u.parts {
		p := &u.parts[i]
		if at := slices.IndexFunc(asked, func(x struct{ words, field string }) bool { return strings.Contains(p.text, x.words) }); at >= 0 {
			p.asks = asked[at].field
		}
	}
	// The reason with the fewest nodes comes first: large numbers are most often the nodes of other teams. Nodes that
	// the pod's own selector excludes come last.
	slices.SortStableFunc(u.parts, func(a, b schedulerPart) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.nodes, b.nodes))
	})
	return u, true
}

func (p *schedulerPart) rank() int {
	if p.asks == asksNodes {
		return 1
	}
	return 0
}

// reasons says why the scheduler has no node for a try, one sentence for each part of u. The first sentence begins with
// before and cites the records of from; the others cite said. A part about a field of the pod template has the
// template's value, if that is kept.
func (c *Case) reasons(t *Try, u *unschedulable, said Mark, from []Mark, before string) []Sentence {
	template, at := c.templateFor(t)
	var out []Sentence
	for i := range u.parts {
		text, cited := u.parts[i].text, []Mark{said}
		if i == 0 {
			text, cited = before+u.head+": "+text, from
		}
		if own := t.asks(template, &u.parts[i]); own != "" {
			text, cited = text+" ("+own+")", append(slices.Clone(cited), record(at))
		}
		out = append(out, say(cited, "%s", text))
	}
	if u.tail != "" {
		out = append(out, say([]Mark{said}, "%s", u.tail))
	}
	return out
}

// templateFor returns the redacted pod template of a try, and the record that stores it; nil if it is not kept.
func (c *Case) templateFor(t *Try) (template []byte, at events.Sequence) {
	for _, s := range c.specs {
		if at == 0 || s.from <= t.Seen.Record {
			at = s.at
		}
	}
	if at == 0 {
		return nil, 0
	}
	spec, err := history.Record(c.ctx, c.src, at)
	c.miss(c.src, err)
	for _, cause := range spec.Causes {
		r, err := history.Record(c.ctx, c.src, cause)
		if c.miss(c.src, err); err == nil && r.Kind == events.KindTemplateStored {
			return r.Evidence.Template, cause
		}
	}
	return nil, 0
}

// specSeen says from which record on the Job had the spec stored at at.
type specSeen struct{ from, at events.Sequence }

func (c *Case) seeSpec(r *events.Record, at events.Sequence) {
	if n := len(c.specs); at != 0 && (n == 0 || c.specs[n-1].at != at) {
		c.specs = append(c.specs, specSeen{r.Sequence, at})
	}
}

// podAsks is the part of a pod template that keeps a pod from nodes.
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

// asks returns the pod template's field that a part is about; empty if unknown.
func (t *Try) asks(template []byte, p *schedulerPart) string {
	var x podAsks
	if len(template) == 0 || json.Unmarshal(template, &x) != nil {
		return ""
	}
	if slices.ContainsFunc(t.Admitted, func(name string) bool { return strings.HasPrefix(strings.TrimLeft(name, "+-"), p.asks) }) && p.asks != "" {
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

// requests returns the containers' requests for the resource in words: for "3 Insufficient cpu" it is "requested: main
// 2".
func (x *podAsks) requests(words []string) string {
	resource := strings.TrimRight(words[len(words)-1], ".,")
	var parts []string
	for i := range x.Spec.Containers {
		k := &x.Spec.Containers[i]
		if n := k.Resources.Requests[resource]; n != "" {
			parts = append(parts, k.Name+" "+n)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("requested: %s", strings.Join(parts, ", "))
}
