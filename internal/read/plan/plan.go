package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/store"
)

// Query selects the Jobs from which a plan is made.
type Query struct {
	Namespace    string      // only in this namespace; empty for all
	Since, Until events.Time // only Jobs whose first record has such a time; 0 for no bound
}

// Plan says whose future Jobs Jobledger could run: it sums up the Jobs of each owner. Its JSON changes only by adding
// fields.
type Plan struct {
	Jobs       int `json:"jobs"`       // number of Jobs that the query selects
	Unfinished int `json:"unfinished"` // how many of these Jobs had not finished by Query.Until
	Differ     int `json:"differ"`     // Jobs about which Jobledger would have decided otherwise at least once
	// PodsMissing counts Jobs for which Jobledger would have created pods that did not appear in time. The log does not
	// say why. Perhaps the API server refused them to the Job's controller, which is no difference. Or the controller
	// wanted no pods.
	PodsMissing int     `json:"podsMissing"`
	Owners      []Owner `json:"owners"` // the owner with the most Jobs first
}

// Owner is where Jobs come from: the object that owns them (such as a CronJob), or else the field manager that created
// them. Its JSON changes only by adding fields.
type Owner struct {
	Namespace   string             `json:"namespace"`
	Kind        string             `json:"kind,omitempty"` // kind of the owning object; empty if none
	Name        string             `json:"name,omitempty"`
	Manager     string             `json:"manager,omitempty"` // field manager that created the Jobs, if no owner
	Jobs        int                `json:"jobs"`
	Unfinished  int                `json:"unfinished"`
	RunBy       string             `json:"runBy"` // controller of the newest of the Jobs, as in spec.managedBy
	Newest      recordjson.Instant `json:"newest"`
	Differences []Difference       `json:"differences,omitempty"`
	PodsMissing []Difference       `json:"podsMissing,omitempty"` // reasons for wanted pods that did not appear
	Step        string             `json:"step"`                  // what to do so that Jobledger runs the next Jobs
}

// Difference is a reason why Jobledger would have decided otherwise, with the number of Jobs. Its JSON changes only by
// adding fields.
type Difference struct {
	Reason string `json:"reason"`
	Jobs   int    `json:"jobs"`
	Record uint64 `json:"record"` // first record with this reason
}

// key identifies an owner. If an object is deleted and created again under the same name, it is the same owner.
type key struct{ namespace, kind, name, manager string }

// Read makes a plan from a log. If the log is damaged, it returns an error, and the plan from the readable records.
func Read(ctx context.Context, src history.Source, q Query) (*Plan, error) {
	r := reader{src: src, owners: map[key]*Owner{}, of: map[events.Stream]*Owner{}, differ: reasons{}, missing: reasons{}}
	failed := r.readModes(ctx)
	kinds := []events.Kind{events.KindJobAdded, events.KindJobRetired, events.KindJobDeleted, events.KindWouldDecide}
	wanted := history.Query{Since: q.Since, Until: q.Until, Namespace: q.Namespace, Kinds: kinds}
	for more := true; more; { // if a damaged part ends the loop below, read on in the next file
		more = false
		for rec, err := range src.Records(ctx, wanted) {
			if err == nil {
				err = r.take(ctx, &rec)
			}
			if err == nil {
				continue
			}
			failed = err
			var bad *store.CorruptError
			if more = errors.As(err, &bad) && bad.Next > wanted.From; more {
				wanted.From = bad.Next
			}
			break
		}
	}
	return r.plan(), failed
}

// reader is the state of Read: what the records so far say about owners.
type reader struct {
	src     history.Source
	owners  map[key]*Owner
	of      map[events.Stream]*Owner // owner of each Job that was seen so far
	open    map[events.Stream]bool   // Jobs that the query selects: true until they end, then false
	differ  reasons                  // reasons for which decisions differ, by Job
	missing reasons                  // reasons for pods that were wanted and did not appear, by Job
	modes   []modeFrom               // in which mode the controller worked, and from when; oldest first
}

// reasons has the reasons that are already counted, for each Job.
type reasons map[events.Stream]map[string]bool

// count adds a reason to the list into, and 1 to its number of Jobs. It does nothing if this Job has had the reason
// before.
func (r reasons) count(into *[]Difference, reason string, rec *events.Record) {
	if r[rec.Stream] == nil {
		r[rec.Stream] = map[string]bool{}
	}
	if r[rec.Stream][reason] {
		return
	}
	r[rec.Stream][reason] = true
	at := slices.IndexFunc(*into, func(x Difference) bool { return x.Reason == reason })
	if at < 0 {
		at = len(*into)
		*into = append(*into, Difference{Reason: reason, Record: uint64(rec.Sequence)})
	}
	(*into)[at].Jobs++
}

// modeFrom says in which mode the controller worked from record at on.
type modeFrom struct {
	at   events.Sequence
	mode events.Mode
}

// readModes reads in which mode the controller worked when. This matters because in one mode (--manage=all) it also
// runs Jobs that name no controller. If the record of a start is pruned or damaged, the mode comes from the
// controller's next checkpoint, a record with its whole state.
func (r *reader) readModes(ctx context.Context) (unread error) {
	for rec, err := range history.PastDamage(ctx, r.src, events.Controller, 0) {
		if r.src.Beside(err) {
			unread = err
			continue
		}
		if err != nil {
			return err
		}
		settings, err := history.SettingsIn(&rec)
		if err != nil {
			return err
		}
		if settings != nil {
			r.modes = append(r.modes, modeFrom{at: rec.Sequence, mode: settings.Mode})
		}
	}
	return unread
}

// runBy returns the name of the controller that ran a Job at the time of record rec.
func (r *reader) runBy(rec *events.Record, f *events.JobSeen) string {
	after, _ := slices.BinarySearchFunc(r.modes, rec.Sequence, func(m modeFrom, at events.Sequence) int { return cmp.Compare(m.at, at) })
	if f.Managed && after > 0 && r.modes[after-1].mode == events.ModeAll {
		return events.ManagedBy
	}
	return cmp.Or(f.ManagedBy, batchv1.JobControllerName)
}

func (r *reader) take(ctx context.Context, rec *events.Record) error {
	switch f := rec.Facts.(type) {
	case *events.JobSeen:
		o := r.owner(rec)
		r.of[rec.Stream] = o
		if r.open == nil {
			r.open = map[events.Stream]bool{}
		}
		if _, again := r.open[rec.Stream]; !again {
			o.Jobs++
		}
		r.open[rec.Stream] = true
		o.RunBy, o.Newest = r.runBy(rec, f), recordjson.Instant(rec.Time)
	case *events.Decision:
		return r.difference(ctx, rec, f)
	default: // all other selected kinds: the Job has ended or was deleted
		if _, counted := r.open[rec.Stream]; counted {
			r.open[rec.Stream] = false
		}
	}
	return nil
}

// owner returns the owner of the Job in record rec. If the plan has no such owner yet, it adds one.
func (r *reader) owner(rec *events.Record) *Owner {
	e := &rec.Evidence
	k := key{namespace: e.Namespace}
	switch {
	case e.Origin != nil && e.Origin.Kind != "":
		k.kind, k.name = e.Origin.Kind, e.Origin.Name
	case e.Edit != nil:
		k.manager = e.Edit.Manager
	}
	o := r.owners[k]
	if o == nil {
		o = &Owner{Namespace: k.namespace, Kind: k.kind, Name: k.name, Manager: k.manager}
		r.owners[k] = o
	}
	return o
}

// difference counts the reasons in a decision that Jobledger recorded but did not carry out, because it only observed.
func (r *reader) difference(ctx context.Context, rec *events.Record, d *events.Decision) error {
	o, err := r.ownerOf(ctx, rec.Stream)
	if err != nil || o == nil {
		return err
	}
	for i := range d.Steps {
		if reason := string(d.Steps[i].Reason); onlyCreates(&d.Steps[i]) {
			r.missing.count(&o.PodsMissing, reason, rec)
		} else {
			r.differ.count(&o.Differences, reason, rec)
		}
	}
	return nil
}

// onlyCreates reports whether a step of a decision has commands, and each of them creates a pod.
func onlyCreates(s *events.Step) bool {
	other := func(c events.Command) bool { return c.Traits().Kind != events.CommandCreatePod }
	return len(s.Commands) > 0 && !slices.ContainsFunc(s.Commands, other)
}

// ownerOf returns the owner of a Job, also if the Job was added before the query's time span. It returns nil if the log
// no longer has the Job's first records.
func (r *reader) ownerOf(ctx context.Context, s events.Stream) (*Owner, error) {
	if o, known := r.of[s]; known {
		return o, nil
	}
	for rec, err := range history.PastDamage(ctx, r.src, s, 0) {
		if r.src.Beside(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read a Job that would have been decided otherwise: %w", err)
		}
		if f, is := rec.Facts.(*events.JobSeen); is {
			o := r.owner(&rec)
			o.RunBy, o.Newest = cmp.Or(o.RunBy, r.runBy(&rec, f)), max(o.Newest, recordjson.Instant(rec.Time))
			r.of[s] = o
			return o, nil
		}
	}
	r.of[s] = nil
	return nil, nil
}

// plan returns the result: the totals, and the owners, with the one with the most Jobs first.
func (r *reader) plan() *Plan {
	p := &Plan{Owners: []Owner{}, Differ: len(r.differ), PodsMissing: len(r.missing)}
	for s, open := range r.open {
		if open {
			r.of[s].Unfinished++
			p.Unfinished++
		}
	}
	for _, o := range r.owners {
		o.Step = step(o)
		p.Jobs += o.Jobs
		p.Owners = append(p.Owners, *o)
	}
	slices.SortFunc(p.Owners, func(a, b Owner) int {
		return cmp.Or(b.Jobs-a.Jobs, cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Manager, b.Manager))
	})
	return p
}

// fields has the field by which an owner sets managedBy of its Jobs, for each kind of owner.
var fields = map[string]string{
	"CronJob": "spec.jobTemplate.spec.managedBy",
	"JobSet":  "spec.replicatedJobs[*].template.spec.managedBy",
}

// step returns what a user must do so that Jobledger runs the next Jobs of the owner.
func step(o *Owner) string {
	switch field := fields[o.Kind]; {
	case o.RunBy == events.ManagedBy:
		return "nothing: they come already"
	case o.RunBy != batchv1.JobControllerName:
		return "leave them: " + o.RunBy + " runs them"
	case field != "":
		return "set " + field
	case o.Kind == "":
		return "set spec.managedBy"
	}
	return "label its namespace (deploy/policy)"
}
