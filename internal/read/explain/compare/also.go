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

// Also compares a failed Job with the Jobs that ran at the same time. It says how many of them had the same cause, and
// whether Jobs on the same nodes, or with the same images, failed much more often. It leaves out Jobs that failed for
// other causes.
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
	_, template := c.FirstSpec()
	mine, theirs := jobcase.Images(template), make(map[*peer][]string, len(c.peers))
	for _, p := range c.peers {
		theirs[p] = slices.Collect(maps.Values(jobcase.Images(p.template)))
	}
	alike := func(p *peer) bool { // the other Job has an image in common with this one
		return slices.ContainsFunc(theirs[p], func(image string) bool {
			return slices.Contains(slices.Collect(maps.Values(mine)), image)
		})
	}
	for _, how := range c.befell() {
		a.ends(how, alike)
	}
	for _, name := range slices.Sorted(maps.Keys(mine)) {
		a.compare("image "+mine[name], "with others", func(p *peer) bool { return slices.Contains(theirs[p], mine[name]) })
	}
	nodes := map[string]bool{}
	for _, t := range ending.FailedTries(c.Case) {
		if t.Node != "" && !nodes[t.Node] && len(nodes) < 2 {
			nodes[t.Node] = true
			a.compare(t.Node, "elsewhere", func(p *peer) bool { return p.nodes[t.Node] })
		}
	}
	if len(a.parts) == 0 {
		return nil
	}
	return []explain.Sentence{explain.Say(a.from, "of %s around then: %s", words.Count(len(a.peers), "other Job"),
		strings.Join(a.parts, " · "))}
}

// fewest is the smallest size of a group that another group is compared with: the failure rate of fewer than 3 Jobs
// says nothing.
const fewest = 3

// account collects the parts of the sentence of Also: what the other Jobs of that time (peers) have in common with this
// one. failed is how many peers failed; from has the records to cite.
type account struct {
	peers  []*peer
	failed int
	parts  []string
	from   []explain.Mark
}

func (p *peer) failed() bool { return p.sum.State == history.StateFailed }

// ends adds to the sentence how many peers (Jobs that ran at the same time) had the trouble in the parameter how, such
// as an exit code, and how many of these succeeded nevertheless. If there are none, it adds nothing. If the program
// ended by itself (how.own), a peer counts only if it ran the same program (alike), or wrote the same message.
func (a *account) ends(how lot, alike func(*peer) bool) {
	n, survived := 0, 0
	for _, p := range a.peers {
		m, is := p.ends[how.text]
		if !is || how.own && !alike(p) && (how.says == "" || p.says[how.text] != how.says) {
			continue
		}
		if n++; !p.failed() {
			survived++
		}
		if len(a.from) < explain.MostCited {
			a.from = append(a.from, m)
		}
	}
	text := fmt.Sprintf("%s in %d of them", how.text, n)
	switch {
	case n == 0:
		return
	case survived == n:
		text += ", and none of these failed"
	case survived > 0:
		text += fmt.Sprintf("; %d of these succeeded", survived)
	}
	a.parts = append(a.parts, text)
}

// compare compares how often two groups of peers (Jobs that ran at the same time) failed: those for which has is true,
// and the rest. For example: "image a:2: 5 of 5 failed, with others 1 of 9". what and others name the groups. It says
// nothing if the first rate is not at least twice the other, if fewer than two failed, or if the rest has fewer than
// fewest Jobs.
func (a *account) compare(what, others string, has func(*peer) bool) {
	with := slices.DeleteFunc(slices.Clone(a.peers), func(p *peer) bool { return !has(p) })
	n, failed := len(with), 0
	for _, p := range with {
		if p.failed() {
			failed++
		}
	}
	restN, restFailed := len(a.peers)-n, a.failed-failed
	if failed < 2 || restN < fewest || failed*restN < 2*restFailed*n {
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

// lot is one trouble that a Job had, such as "main exit 3". Its texts contain no names, so that the troubles of
// different Jobs can be compared.
type lot struct {
	text string
	own  bool   // the program ended by itself; nobody ended the pod
	says string // message of the program, without names and numbers
}

// befell returns the trouble that the Job had, for comparison: how its first failed try (pod) ended. If the Job's
// deadline passed, it adds what the pods were waiting for.
func (c *Jobs) befell() (out []lot) {
	if failed := ending.FailedTries(c.Case); len(failed) > 0 {
		t := failed[0]
		by := ending.Of(c.Case, t).By
		if how := fate(t, by); how != "" {
			own := by == try.ByItself || by == try.BySignal
			out = append(out, lot{how, own, explain.Liken(messageOf(t), c.Job.Name)})
		}
	}
	at := c.PassedAt()
	if at.Record == 0 {
		return out
	}
	add := func(text string) {
		if text != "" && !slices.ContainsFunc(out, func(l lot) bool { return l.text == text }) {
			out = append(out, lot{text: text})
		}
	}
	for _, t := range stuck.HeldAt(c.Case, at) {
		add(waitFate(t.WaitAt(at).Reason))
	}
	for _, x := range c.Refusals {
		if x.Kind == events.CommandCreatePod && x.First.Record < at.Record {
			add(refusalFate(x.Class))
		}
	}
	return out
}

// messageOf returns the termination message of the first failed container of a pod that wrote one; empty if none did.
func messageOf(t *try.Try) string {
	for _, k := range try.Failures(t.Containers) {
		if k.Message != "" {
			return k.Message
		}
	}
	return ""
}

const podsRefused = "pods refused"

// fate returns what ended try t (a pod), in words without names, so that pods of different Jobs can be compared; empty
// if unknown. by is the kind of cause.
func fate(t *try.Try, by try.By) string {
	switch {
	case by == try.ByOwnLimit:
		return "a limit of the pod's own"
	case by == try.ByDeadline:
		return "the pod's own deadline"
	// Without a reason, only the kubelet's message says what it did, and messages are not compared.
	case by == try.ByKubelet && t.Reason == "":
		return ""
	case by == try.ByKubelet:
		return "ended by a kubelet (" + t.Reason + ")"
	case by == try.ByItself || by == try.BySignal:
		return try.ExitText(t)
	case by == try.ByEviction, by == try.ByPreemption, by == try.ByTaint, by == try.ByDevice, by == try.ByOther,
		by == try.ByNodeGone:
		return string(by)
	}
	return ""
}

// waitFate returns a common name for a waiting reason that does not pass by itself; empty for other reasons.
func waitFate(word string) string {
	switch {
	case word == "ErrImagePull": // a kubelet alternates between this reason and ImagePullBackOff
		return "ImagePullBackOff"
	case try.StuckWords[word]:
		return word
	}
	return ""
}

func refusalFate(class events.RefusalClass) string { return podsRefused + " (" + class.String() + ")" }
