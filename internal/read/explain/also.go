package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// also says whether other Jobs fared likewise: counts among Jobs that ran at the same time, failed or not.
func (c *Case) also() []Sentence {
	if c.Job.State != history.StateFailed || len(c.peers) == 0 {
		return nil
	}
	a := account{peers: c.peers}
	for _, p := range c.peers {
		if p.failed() {
			a.failed++
		}
	}
	failed := c.failedTries()
	for _, how := range c.befell() {
		a.ends(how)
	}
	_, template := c.firstSpec()
	mine, theirs := images(template), make(map[*peer][]string, len(c.peers))
	for _, p := range c.peers {
		theirs[p] = slices.Collect(maps.Values(images(p.template)))
	}
	for _, name := range slices.Sorted(maps.Keys(mine)) {
		a.compare("image "+mine[name], "with others", func(p *peer) bool { return slices.Contains(theirs[p], mine[name]) })
	}
	nodes := map[string]bool{}
	for _, t := range failed {
		if t.Node != "" && !nodes[t.Node] && len(nodes) < 2 {
			nodes[t.Node] = true
			a.compare(t.Node, "elsewhere", func(p *peer) bool { return p.nodes[t.Node] })
		}
	}
	for _, p := range c.peers { // those that failed stand for the counts
		if len(a.from) == 0 && (p.failed() || a.failed == 0) {
			a.cite(p)
		}
	}
	how := "none failed"
	if a.failed > 0 {
		how = fmt.Sprintf("%d failed", a.failed)
	}
	return []Sentence{say(a.from, "of %s around then %s", words.Count(len(a.peers), "other Job"), strings.Join(append([]string{how}, a.parts...), " · "))}
}

// fewest is how many others there must be for a rate of theirs to be compared with.
const fewest = 3

// account is what is told of other Jobs.
type account struct {
	peers  []*peer
	failed int
	parts  []string
	from   []Mark
}

func (p *peer) failed() bool { return p.sum.State == history.StateFailed }

// ends says how many of them it befell too, and how many of those succeeded all the same.
func (a *account) ends(how string) {
	n, survived := 0, 0
	for _, p := range a.peers {
		m, is := p.ends[how]
		if !is {
			continue
		}
		if n++; !p.failed() {
			survived++
		}
		if len(a.from) < mostCited {
			a.from = append(a.from, m)
		}
	}
	text := how + " in none of them"
	switch {
	case n == 0 && unseenOf(how):
		return
	case n > 0 && survived == n && a.failed > 0:
		text = fmt.Sprintf("%s in %d of them, and none of these failed", how, n)
	case n > 0 && survived > 0 && a.failed > 0:
		text = fmt.Sprintf("%s in %d of them, of which %d succeeded", how, n, survived)
	case n > 0:
		text = fmt.Sprintf("%s in %d of them", how, n)
	}
	a.parts = append(a.parts, text)
}

// compare says how many failed of those that had something in common with this one, and of the others; nothing where it
// made no difference for the worse.
func (a *account) compare(what, others string, has func(*peer) bool) {
	with := slices.DeleteFunc(slices.Clone(a.peers), func(p *peer) bool { return !has(p) })
	n, failed := len(with), 0
	for _, p := range with {
		if p.failed() {
			failed++
		}
	}
	restN, restFailed := len(a.peers)-n, a.failed-failed
	if n == 0 || restN < fewest || failed*restN <= restFailed*n {
		return
	}
	for _, p := range with {
		a.cite(p)
	}
	a.parts = append(a.parts, fmt.Sprintf("%s: %d of %d failed, %s %d of %d", what, failed, n, others, restFailed, restN))
}

func (a *account) cite(p *peer) {
	if len(a.from) < mostCited {
		a.from = append(a.from, p.marks...)
	}
}
