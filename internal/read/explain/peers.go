package explain

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/store"
)

// Bounds of what is read of other Jobs for one answer.
const (
	mostRuns        = 500 // Jobs among which earlier runs are looked for
	mostPeers       = 40  // Jobs that ran at the same time
	mostPeerRecords = 200 // of each
	peerWindow      = time.Hour
)

// peer is another Job, as far as it is compared with.
type peer struct {
	sum      history.Summary
	spec     *events.JobSpec
	template []byte
	marks    []Mark   // the records that say so
	admitted []string // what admission changed of its pods, as told last
	nodes    map[string]bool
	ends     map[string]Mark // what befell it, by the words of fate, and which record shows it first
}

// Compare looks at other Jobs, for one that failed: earlier runs of the same work, and what ran at the same time; for
// one that is stuck, at those that the same held up. What it finds is in the answer from then on.
func (c *Case) Compare(ctx context.Context) error {
	switch {
	case c.Spec == nil:
		return nil
	case !c.finished():
		return cmp.Or(c.findFreed(ctx), c.Unread())
	case c.Job.State != history.StateFailed:
		return c.Unread() // it is compared with nothing
	}
	for _, find := range []func(context.Context) error{c.findRuns, c.findTemplate, c.findPeers} {
		if err := find(ctx); err != nil {
			return err
		}
	}
	return c.Unread()
}

// listedBefore is where the list of Jobs that had begun before this one begins.
func (c *Case) listedBefore() string { return strconv.FormatUint(max(c.Job.First, 1), 10) }

var tail = regexp.MustCompile(`-[0-9]+$`)

// lineage says which names belong to runs of the same work, and what to call them.
func (c *Case) lineage() (is func(name string) bool, what string) {
	name := c.Job.Name
	switch {
	case c.origin != nil && c.origin.Kind == "CronJob":
		stem := c.origin.Name + "-"
		return func(n string) bool {
			return strings.HasPrefix(n, stem) && !strings.Contains(n[len(stem):], "-")
		}, "CronJob " + c.origin.Name
	case c.origin != nil && c.origin.GenerateName != "":
		stem := c.origin.GenerateName
		return func(n string) bool { return strings.HasPrefix(n, stem) && len(n) == len(name) }, "name " + stem + "*"
	case tail.MatchString(name):
		stem := tail.ReplaceAllString(name, "")
		return func(n string) bool { return tail.ReplaceAllString(n, "") == stem }, "name " + stem + "-*"
	}
	return func(n string) bool { return n == name }, "the same name"
}

// findRuns looks for earlier runs of the same work.
func (c *Case) findRuns(ctx context.Context) error {
	page, err := c.src.Jobs(ctx, history.JobsQuery{Namespace: c.Job.Namespace, Limit: mostRuns, Continue: c.listedBefore()})
	if err != nil && !c.src.Beside(err) {
		return fmt.Errorf("look for earlier runs: %w", err)
	}
	is, what := c.lineage()
	r := &runs{what: what}
	for i := range page.Items {
		s := &page.Items[i]
		if !is(s.Name) {
			continue
		}
		switch {
		case s.State == history.StateComplete && r.last == nil:
			if r.last, err = c.peerOf(ctx, s); err != nil {
				return err
			}
			r.succeeded++
		case s.State == history.StateComplete:
			r.succeeded++
		case s.State == history.StateFailed && r.last == nil:
			r.failedSince++
			r.failed++
		case s.State == history.StateFailed:
			r.failed++
		}
	}
	c.runs = r
	return nil
}

// runs are earlier runs of the same work, of those that were looked at.
type runs struct {
	what              string // they have in common
	last              *peer  // the newest that succeeded; nil for none
	failedSince       int    // behind it
	succeeded, failed int
}

// findPeers looks at Jobs that ran at the same time.
func (c *Case) findPeers(ctx context.Context) error {
	end := c.lastEnd().Record
	if s := c.settled; s != nil {
		end = max(end, s.Stored.Record, s.Seen.Record)
	}
	page, err := c.src.Jobs(ctx, history.JobsQuery{
		Limit: mostPeers + 1, Since: c.start().Add(-peerWindow), Continue: strconv.FormatUint(uint64(end)+1, 10),
	})
	if err != nil && !c.src.Beside(err) {
		return fmt.Errorf("look for Jobs at the same time: %w", err)
	}
	for i := range page.Items {
		s := &page.Items[i]
		if s.UID == c.Job.UID || (s.State != history.StateComplete && s.State != history.StateFailed) ||
			events.Time(s.Finished) > events.Time(c.Job.AsOf.Time) || len(c.peers) == mostPeers {
			continue
		}
		p, err := c.peerOf(ctx, s)
		if err != nil {
			return err
		}
		c.peers = append(c.peers, p)
	}
	return nil
}

// peerOf reads what is compared of a Job: its first spec, and where and how its tries ended.
func (c *Case) peerOf(ctx context.Context, s *history.Summary) (*peer, error) {
	p := &peer{sum: *s, nodes: map[string]bool{}, ends: map[string]Mark{}}
	n := 0
	for r, err := range c.src.ReadStream(ctx, events.JobStream(types.UID(s.UID)), 0, store.Forward) {
		if c.src.Beside(err) {
			break
		}
		if err != nil {
			return nil, err
		}
		if n++; n > mostPeerRecords {
			break
		}
		switch f := r.Facts.(type) {
		case *events.JobSeen:
			if p.spec == nil {
				p.marks = append(p.marks, markOf(&r))
				p.spec, p.template = c.contents(ctx, f.SpecAt)
			}
		case *events.PodSeen:
			if told := r.Evidence.Admitted; told != nil {
				p.admitted, p.marks = told, append(p.marks, markOf(&r))
			}
			if r.Evidence.Node != "" {
				p.nodes[r.Evidence.Node] = true
			}
		}
		p.fared(&r)
	}
	return p, nil
}

// fared takes in how another Job fared, as a record shows.
func (p *peer) fared(r *events.Record) {
	add := func(how string) {
		if _, known := p.ends[how]; !known && how != "" {
			p.ends[how] = markOf(r)
		}
	}
	switch f := r.Facts.(type) {
	case *events.PodSeen:
		e := &r.Evidence
		t := Try{Containers: e.Containers, Reason: e.Reason, Message: e.Message, Phase: f.Phase}
		for i := range r.Evidence.Conditions {
			if k := &r.Evidence.Conditions[i]; k.Type == "DisruptionTarget" && k.Status == "True" {
				t.Disrupted = k
			}
		}
		limit, node, by := t.ownLimit(), nodeReasons[t.Reason], ByNobody
		if t.Disrupted != nil {
			by = cmp.Or(disruptions[t.Disrupted.Reason], ByOther)
		}
		silent, exit := len(failures(t.Containers)) == 0, exitText(&t)
		add(t.fate(by))
		switch {
		case f.Phase != events.PodFailed:
		case limit == ownDeadline:
			add(t.fate(ByDeadline))
		case limit != "":
			add(t.fate(ByOwnLimit))
		case t.Reason != "" && silent || node:
			add(t.fate(ByKubelet))
		case !silent:
			add(exit)
		}
		add(waitFate(f.Waiting))
	case *events.JobSeen:
		if f.Status != nil && slices.ContainsFunc(f.Status.Conditions, func(k events.JobCondition) bool {
			return k.Status == "True" && k.Reason == "DeadlineExceeded"
		}) {
			add("DeadlineExceeded")
		}
	case *events.CommandEnded:
		if f.Ending == events.Refused && f.Type == events.CommandCreatePod {
			add(refusalFate(f.Class))
		}
	}
}

// content is what a record of a spec stores. Many Jobs of one template have one record.
type content struct {
	spec     *events.JobSpec
	template []byte // redacted
}

// contents are the spec that a record stores, and its redacted pod template; nil where they are not kept. Each record
// is read once.
func (c *Case) contents(ctx context.Context, at events.Sequence) (*events.JobSpec, []byte) {
	known, ok := c.stored[at]
	if !ok {
		known = c.readContents(ctx, at)
		if c.stored == nil {
			c.stored = map[events.Sequence]content{}
		}
		c.stored[at] = known
	}
	return known.spec, known.template
}

func (c *Case) readContents(ctx context.Context, at events.Sequence) content {
	if at == 0 {
		return content{}
	}
	r, err := history.Record(ctx, c.src, at)
	if c.miss(c.src, err); err != nil {
		return content{}
	}
	spec, _ := r.Facts.(*events.JobSpec)
	for _, cause := range r.Causes {
		t, err := history.Record(ctx, c.src, cause)
		if c.miss(c.src, err); err == nil && t.Kind == events.KindTemplateStored {
			return content{spec, t.Evidence.Template}
		}
	}
	return content{spec: spec}
}

// images are those of a redacted template's containers, by name.
func images(template []byte) map[string]string {
	var t struct {
		Spec struct {
			Containers, InitContainers []struct{ Name, Image string }
		} `json:"spec"`
	}
	out := map[string]string{}
	if json.Unmarshal(template, &t) != nil {
		return out
	}
	for _, k := range slices.Concat(t.Spec.InitContainers, t.Spec.Containers) {
		out[k.Name] = k.Image
	}
	return out
}

// regulars are the names of the regular containers of a pod template; none where they are not known.
func regulars(template []byte) []string { return namesIn(template, "containers") }

// initials are the names of its init containers, sidecars among them; likewise.
func initials(template []byte) []string { return namesIn(template, "initContainers") }

func namesIn(template []byte, list string) (names []string) {
	var t struct {
		Spec map[string]json.RawMessage `json:"spec"`
	}
	var containers []struct{ Name string }
	if json.Unmarshal(template, &t) != nil || json.Unmarshal(t.Spec[list], &containers) != nil {
		return nil
	}
	for _, k := range containers {
		names = append(names, k.Name)
	}
	return names
}
