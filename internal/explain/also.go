package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/internal/history"
	"github.com/jobledger/jobledger/internal/words"
)

// also says whether other Jobs fared likewise: counts among Jobs that ran at the same time, failed or not.
func (c *Case) also() []Sentence {
	if c.Job.State != history.StateFailed || len(c.peers) == 0 {
		return nil
	}
	var parts []string
	var from []Mark
	tell := func(what string, has func(*peer) bool) {
		n, failed := 0, 0
		for _, p := range c.peers {
			if !has(p) {
				continue
			}
			n++
			if p.sum.State == history.StateFailed {
				failed++
			}
			if len(from) < mostCited {
				from = append(from, p.marks...)
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d of %d failed", what, failed, n))
		}
	}
	_, template := c.firstSpec()
	mine := images(template)
	for _, name := range sortedKeys(mine) {
		image := mine[name]
		tell("image "+image, func(p *peer) bool {
			for _, other := range images(p.template) {
				if other == image {
					return true
				}
			}
			return false
		})
	}
	nodes := map[string]bool{}
	for _, t := range c.failedTries() {
		if t.Node != "" && !nodes[t.Node] && len(nodes) < 2 {
			nodes[t.Node] = true
			tell(t.Node, func(p *peer) bool { return p.nodes[t.Node] })
		}
	}
	if failed := c.failedTries(); len(failed) > 0 {
		how := exitText(failed[0])
		n := 0
		for _, p := range c.peers {
			if p.ends[how] {
				n++
			}
		}
		in := "in no other"
		if n > 0 {
			in = fmt.Sprintf("in %d of them too", n)
		}
		parts = append(parts, how+": "+in)
	}
	if len(parts) == 0 {
		return nil
	}
	all := 0
	for _, p := range c.peers {
		if p.sum.State == history.StateFailed {
			all++
		}
	}
	return []Sentence{say(from, "of %s around then %d failed. %s", words.Count(len(c.peers), "other Job"), all, strings.Join(parts, " · "))}
}

func sortedKeys(m map[string]string) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
