package ask

import (
	"cmp"
	"context"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/jobledger/jobledger/internal/read/explain/failures"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/plan"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/words"
)

// many has the parameters of questions about many objects: the namespace, the time span and the time zones.
type many struct {
	zones
	span      Span
	namespace string
}

func (p *many) bind(fs *pflag.FlagSet) {
	p.zones.bind(fs)
	fs.StringVarP(&p.namespace, FlagNamespace, "n", "", "only Jobs in this namespace")
}

func (p *many) read([]string) error {
	if err := p.zones.read(); err != nil {
		return err
	}
	return p.span.Read(p.Zone)
}

func (p *many) about() string { return p.namespace }

// Selector is the flag -l: a label selector as in kubectl.
type Selector struct{ text string }

// Bind adds -l to fs; help begins its help text.
func (f *Selector) Bind(fs *pflag.FlagSet, help string) {
	fs.StringVarP(&f.text, "selector", "l", "", help+", such as team=data,app!=web")
}

// Given reports whether -l was given.
func (f *Selector) Given() bool { return f.text != "" }

// Read parses the selector; it returns nil if none was given.
func (f *Selector) Read() (labels.Selector, error) {
	if f.text == "" {
		return nil, nil
	}
	s, err := labels.Parse(f.text)
	if err != nil {
		return nil, which.Wrong("-l %q: %v", f.text, err)
	}
	return s, nil
}

// NoteLabels tells the user of each label in the selector that no Job of the log has: the log may not keep that label
// (option --keep-labels).
func (s Source) NoteLabels(ctx context.Context, wanted labels.Selector) error {
	if wanted == nil {
		return nil
	}
	asked := map[string]bool{}
	requirements, _ := wanted.Requirements()
	for _, r := range requirements {
		if asked[r.Key()] {
			continue
		}
		asked[r.Key()] = true
		bears, err := labels.Parse(r.Key())
		if err != nil {
			return err // cannot happen: the key comes from a valid selector
		}
		page, err := s.Jobs(ctx, history.JobsQuery{Labels: bears, Limit: 1})
		if err != nil && !s.Beside(err) {
			return err
		}
		if len(page.Items) == 0 {
			s.note("no Job in the log has a label %s: of labels it keeps those that --keep-labels of run names", words.Clean(r.Key()))
		}
	}
	return nil
}

// FailuresParams are the parameters of Failures: the namespace, the time span, a label selector, and how many Jobs.
type FailuresParams struct {
	many
	selector   Selector
	wanted     labels.Selector
	nearMisses bool
	limit      Limit
}

// usualFailed is how many failed Jobs an answer has, unless --limit is set.
const usualFailed = 500

func (p *FailuresParams) bind(fs *pflag.FlagSet) {
	p.many.bind(fs)
	p.selector.Bind(fs, "only Jobs with these labels, of those that the log keeps")
	p.span.BindSince(fs, "all that is stuck, and only those failures from this time on")
	p.span.BindUntil(fs, "as of this time: what was stuck or had failed then, whatever came later")
	fs.BoolVar(&p.nearMisses, "near-misses", false, "also Jobs that succeeded after failures, disruptions that did not count, or restarts")
	p.limit.Bind(fs, usualFailed, "so many Jobs that failed at most, the newest, and so many near misses")
}

func (p *FailuresParams) read(args []string) (err error) {
	if err := cmp.Or(p.limit.Read(), p.many.read(args)); err != nil {
		return err
	}
	p.wanted, err = p.selector.Read()
	return err
}

// Failures is the question which Jobs are stuck or failed, which CronJobs do not start, and why.
var Failures = &Question[FailuresParams, failures.Failures]{
	name: "failures", about: "List Jobs that are stuck or failed, and CronJobs that do not start, and why", takes: Nothing, folds: true,
	new: func() (*FailuresParams, parameters) {
		p := &FailuresParams{}
		return p, p
	},
	ask: func(ctx context.Context, src Source, p *FailuresParams) (*failures.Failures, error) {
		q := failures.Query{Namespace: p.namespace, Labels: p.wanted, Survived: p.nearMisses, Limit: p.limit.Most, Zone: p.texts}
		var err error
		if q.Since, q.Until, err = p.span.In(ctx, src); err != nil {
			return nil, err
		}
		if err := src.NoteLabels(ctx, q.Labels); err != nil {
			return nil, err
		}
		src.NoteUnlisted(ctx)
		found, err := failures.Find(ctx, src.Source, q)
		if err != nil && found.Looked == 0 {
			return nil, err // if no Job could be read, return the error alone: an answer "0 failed" would be false
		}
		return &found, err
	},
}

// PlanParams are the parameters of Plan: the namespace and time span of the Jobs that the plan is made from.
type PlanParams struct{ many }

func (p *PlanParams) bind(fs *pflag.FlagSet) {
	p.many.bind(fs)
	p.span.BindSince(fs, "only Jobs that were seen first from this time on")
	p.span.BindUntil(fs, "only those up to this time")
}

// Plan is the question which owners of Jobs (such as CronJobs) could give their future Jobs to Jobledger, and how.
var Plan = &Question[PlanParams, plan.Plan]{
	name: "plan", about: "Say whose future Jobs would come here, and how", takes: Nothing, folds: true,
	new: func() (*PlanParams, parameters) {
		p := &PlanParams{}
		return p, p
	},
	ask: func(ctx context.Context, src Source, p *PlanParams) (*plan.Plan, error) {
		src.NoteUnlisted(ctx)
		q := plan.Query{Namespace: p.namespace}
		var err error
		if q.Since, q.Until, err = p.span.In(ctx, src); err != nil {
			return nil, err
		}
		made, err := plan.Read(ctx, src.Source, q)
		if err != nil && len(made.Owners) == 0 {
			return nil, err // if no Job could be read, return the error alone: an empty plan would be false
		}
		return made, err
	},
}
