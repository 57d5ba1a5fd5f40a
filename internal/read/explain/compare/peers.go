package compare

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/store"
)

// Limits for the reads of other Jobs, for one answer.
const (
	mostRuns        = 500 // listed Jobs among which earlier runs are searched
	mostPeers       = 40  // Jobs that ran at the same time and are compared
	mostPeerRecords = 200 // records that are read of each of them
	peerWindow      = time.Hour
)

// peer is another Job, with the fields by which it is compared with this one.
type peer struct {
	sum      history.Summary
	spec     *events.JobSpec
	template []byte
	marks    []explain.Mark // records that show the nodes of its pods
	admitted []string       // what admission changed in its pods, by the newest record of it
	nodes    map[string]bool
	ends     map[string]explain.Mark // kinds of trouble that it had (as fate names them), with the first record of each
	says     map[string]string       // by kind of trouble: the program's message, without names and numbers
}

// Jobs is what is known about a Job, and the other Jobs with which it is compared.
type Jobs struct {
	*jobcase.Case
	template *templateEdit // a later edit of the CronJob's template; nil if there is none, or it was not read
	runs     *runs         // earlier runs of the same work, such as a CronJob; nil if not read
	peers    []*peer       // Jobs that ran at the same time
	others   *others       // for a stuck Job: Jobs with the same obstacle; nil if not read
}

// Read reads the other Jobs with which this one is compared; without it, the other methods say nothing. For a failed
// Job these are earlier runs of the same work, and Jobs that ran at the same time; for a stuck Job, Jobs with the same
// obstacle. Read returns failed reads, except damage of the log.
func (c *Jobs) Read(ctx context.Context) error {
	switch {
	case c.Spec == nil:
		return nil
	case !c.Finished():
		return cmp.Or(c.findFreed(ctx), c.Unread())
	case c.Job.State != history.StateFailed:
		return c.Unread() // a Job that completed is not compared with others
	}
	for _, find := range []func(context.Context) error{c.findRuns, c.findTemplate, c.findPeers} {
		if err := find(ctx); err != nil {
			return err
		}
	}
	return c.Unread()
}

// listedBefore returns the page token for the list of Jobs that begins with the Jobs before this one.
func (c *Jobs) listedBefore() string { return strconv.FormatUint(max(c.Job.First, 1), 10) }

var tail = regexp.MustCompile(`-[0-9]+$`)

// lineage returns a function that reports, from its name, whether a Job belongs to the same recurring work as this Job,
// and a text that names this work: "CronJob backup".
func (c *Jobs) lineage() (is func(name string) bool, what string) {
	name := c.Job.Name
	switch {
	case c.Origin != nil && c.Origin.Kind == "CronJob":
		stem := c.Origin.Name + "-"
		return func(n string) bool {
			return strings.HasPrefix(n, stem) && !strings.Contains(n[len(stem):], "-")
		}, "CronJob " + c.Origin.Name
	case c.Origin != nil && c.Origin.GenerateName != "":
		stem := c.Origin.GenerateName
		return func(n string) bool { return strings.HasPrefix(n, stem) && len(n) == len(name) }, "name " + stem + "*"
	case tail.MatchString(name):
		stem := tail.ReplaceAllString(name, "")
		return func(n string) bool { return tail.ReplaceAllString(n, "") == stem }, "name " + stem + "-*"
	}
	return func(n string) bool { return n == name }, "the same name"
}

// findRuns reads the earlier runs of the same work, such as the earlier Jobs of the same CronJob.
func (c *Jobs) findRuns(ctx context.Context) error {
	page, err := c.Src.Jobs(ctx, history.JobsQuery{Namespace: c.Job.Namespace, Limit: mostRuns,
		Continue: c.listedBefore()})
	if err != nil && !c.Src.Beside(err) {
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

// runs has the earlier runs of the same work that were found in the list of Jobs.
type runs struct {
	what              string // what the runs have in common: "CronJob backup"
	last              *peer  // newest successful run; nil if there is none
	failedSince       int    // number of failed runs after last
	succeeded, failed int
}

// findPeers reads the Jobs that ran at the same time.
func (c *Jobs) findPeers(ctx context.Context) error {
	end := c.LastEnd().Record
	if s := c.Settled; s != nil {
		end = max(end, s.Stored.Record, s.Seen.Record)
	}
	page, err := c.Src.Jobs(ctx, history.JobsQuery{
		Limit: mostPeers + 1, Since: c.Start().Add(-peerWindow), Continue: strconv.FormatUint(uint64(end)+1, 10),
	})
	if err != nil && !c.Src.Beside(err) {
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

// peerOf reads the Job s, and returns the fields by which it is compared: its first spec, the nodes of its pods, and
// how they ended.
func (c *Jobs) peerOf(ctx context.Context, s *history.Summary) (*peer, error) {
	p := &peer{sum: *s, nodes: map[string]bool{}, ends: map[string]explain.Mark{}, says: map[string]string{}}
	n := 0
	for r, err := range c.Src.ReadStream(ctx, events.JobStream(types.UID(s.UID)), 0, store.Forward) {
		if c.Src.Beside(err) {
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
				p.marks = append(p.marks, explain.MarkOf(&r))
				p.spec, p.template = c.Contents(ctx, f.SpecAt)
			}
		case *events.PodSeen:
			if told := r.Evidence.Admitted; told != nil {
				p.admitted, p.marks = told, append(p.marks, explain.MarkOf(&r))
			}
			if r.Evidence.Node != "" {
				p.nodes[r.Evidence.Node] = true
			}
		}
		p.fared(&r)
	}
	return p, nil
}

// fared adds the trouble that record r shows about the other Job to p.ends and p.says.
func (p *peer) fared(r *events.Record) {
	add := func(how string) {
		if _, known := p.ends[how]; !known && how != "" {
			p.ends[how] = explain.MarkOf(r)
		}
	}
	switch f := r.Facts.(type) {
	case *events.PodSeen:
		e := &r.Evidence
		t := try.Try{Containers: e.Containers, Reason: e.Reason, Message: e.Message, Phase: f.Phase}
		for i := range r.Evidence.Conditions {
			if k := &r.Evidence.Conditions[i]; k.Type == "DisruptionTarget" && k.Status == "True" {
				t.Disrupted = k
			}
		}
		limit, node, by := t.OwnLimit(), try.NodeReasons[t.Reason], try.ByNobody
		if t.Disrupted != nil {
			by = cmp.Or(try.Disruptions[t.Disrupted.Reason], try.ByOther)
		}
		silent, exit := len(try.Failures(t.Containers)) == 0, try.ExitText(&t)
		add(fate(&t, by))
		switch {
		case f.Phase != events.PodFailed:
		case limit == try.OwnDeadline:
			add(fate(&t, try.ByDeadline))
		case limit != "":
			add(fate(&t, try.ByOwnLimit))
		case t.Reason != "" && silent || node:
			add(fate(&t, try.ByKubelet))
		case !silent:
			add(exit)
			if says := messageOf(&t); says != "" && p.says[exit] == "" {
				p.says[exit] = explain.Liken(says, p.sum.Name)
			}
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
