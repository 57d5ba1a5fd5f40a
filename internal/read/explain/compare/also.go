package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/ending"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/stuck"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Also compares a failed Job with the Jobs that ran at the same time: how many of them failed, and what they had in
// common with it.
func (c *Jobs) Also() []explain.Sentence {
	if c.Job.State != history.StateFailed || len(c.peers) == 0 {
		return nil
	}
	a := account{peers: c.peers}
	for _, p := range c.peers {
		if p.failed() {
			a.failed++
		}
	}
	failed := ending.FailedTries(c.Case)
	for _, how := range befell(c.Case) {
		a.ends(how)
	}
	_, template := c.FirstSpec()
	mine, theirs := jobcase.Images(template), make(map[*peer][]string, len(c.peers))
	for _, p := range c.peers {
		theirs[p] = slices.Collect(maps.Values(jobcase.Images(p.template)))
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
	for _, p := range c.peers { // cites the failed Jobs
		if len(a.from) == 0 && (p.failed() || a.failed == 0) {
			a.cite(p)
		}
	}
	how := "none failed"
	if a.failed > 0 {
		how = fmt.Sprintf("%d failed", a.failed)
	}
	return []explain.Sentence{explain.Say(a.from, "of %s around then %s", words.Count(len(a.peers), "other Job"),
		strings.Join(append([]string{how}, a.parts...), " · "))}
}

// fewest is the minimum number of other Jobs whose failure rate is compared.
const fewest = 3

// account collects the comparison with other Jobs.
type account struct {
	peers  []*peer
	failed int
	parts  []string
	from   []explain.Mark
}

func (p *peer) failed() bool { return p.sum.State == history.StateFailed }

// ends says how many of the peers the ending how befell, and how many of those succeeded nevertheless.
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
		if len(a.from) < explain.MostCited {
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
		text = fmt.Sprintf("%s in %d of them; %d of these succeeded", how, n, survived)
	case n > 0:
		text = fmt.Sprintf("%s in %d of them", how, n)
	}
	a.parts = append(a.parts, text)
}

// compare says how many Jobs failed among the peers for which has is true, and among the rest. It adds nothing if the
// first rate is not higher, or if the rest has fewer than fewest Jobs. Example: "image a:2: 5 of 5 failed, with others
// 1 of 9".
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
	if len(a.from) < explain.MostCited {
		a.from = append(a.from, p.marks...)
	}
}

// befell returns what happened to the Job, in words that are equal for other Jobs: how its first try failed, or what
// ended it. If the Job's deadline passed it adds the deadline, and what the pods waited for until then.
func befell(c *jobcase.Case) (out []string) {
	if failed := ending.FailedTries(c); len(failed) > 0 {
		if how := fate(failed[0], ending.Of(c, failed[0]).By); how != "" {
			out = append(out, how)
		}
	}
	at := c.PassedAt()
	if at.Record == 0 {
		return out
	}
	out = append(out, c.Settled.Reason)
	for _, t := range stuck.HeldAt(c, at) {
		if w := waitFate(t.WaitAt(at).Reason); w != "" && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	for _, x := range c.Refusals {
		w, before := refusalFate(x.Class), x.First.Record < at.Record
		if x.Kind == events.CommandCreatePod && before && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// unseenOf reports whether the log may not show how for a Job of another controller.
func unseenOf(how string) bool { return strings.HasPrefix(how, podsRefused) }

const podsRefused = "pods refused"

// fate returns how a try was ended, in words that are equal for the tries of other Jobs; empty if unknown.
func fate(t *try.Try, by try.By) string {
	switch {
	case by == try.ByOwnLimit:
		return "a limit of the pod's own"
	case by == try.ByDeadline:
		return "the pod's own deadline"
	case by == try.ByKubelet && t.Reason == "": // the message of the pod's end says it
		return ""
	case by == try.ByKubelet:
		return "ended by its node (" + t.Reason + ")"
	case by == try.ByItself || by == try.BySignal:
		return try.ExitText(t)
	case by == try.ByEviction, by == try.ByPreemption, by == try.ByTaint, by == try.ByDevice, by == try.ByOther,
		by == try.ByNodeGone:
		return string(by)
	}
	return ""
}

// waitFate returns the name of a wait that does not end by itself; empty for other waits.
func waitFate(word string) string {
	switch {
	case word == "ErrImagePull": // a pod alternates between the two reasons
		return "ImagePullBackOff"
	case slices.Contains(try.StuckWords, word):
		return word
	}
	return ""
}

func refusalFate(class events.RefusalClass) string { return podsRefused + " (" + class.String() + ")" }
