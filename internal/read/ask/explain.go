package ask

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/cron"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/which"
)

// ExplainParams are the parameters of Explain: an object, a point of the log, and links to other tools.
type ExplainParams struct {
	oneCase
	links  []string // the values of --link, before they are parsed
	linked []job.Link
}

func (p *ExplainParams) bind(fs *pflag.FlagSet) {
	p.oneCase.bind(fs)
	fs.StringArrayVar(&p.links, "link", nil, "add addresses of the failed pods: 'Logs=https://logs.example/?pod={{.Pod}}&from={{.From}}'")
}

func (p *ExplainParams) read(args []string) error {
	for _, text := range p.links {
		link, err := job.ParseLink(text)
		if err != nil {
			return which.Wrong("--link %q: %v", text, err)
		}
		p.linked = append(p.linked, link)
	}
	if err := p.oneCase.read(args); err != nil {
		return err
	}
	return p.linksOfJob()
}

func (p *ExplainParams) linksOfJob() error {
	if p.Kind == which.CronJob && len(p.links) > 0 {
		return which.Wrong("--link is for Jobs: a CronJob has no pods")
	}
	return nil
}

// Explain is the question why an object is as it is: why a Job ended or what it waits for, or how a CronJob is.
var Explain = &Question[ExplainParams, explain.Answer]{
	name: "explain", about: "Say why a Job ended as it did, what it waits for, or how a CronJob is", takes: AnObject, folds: true,
	new: func() (*ExplainParams, parameters) {
		p := &ExplainParams{}
		return p, p
	},
	ask: func(ctx context.Context, src Source, p *ExplainParams) (*explain.Answer, error) {
		at, err := p.resolve(ctx, src)
		if err != nil {
			return nil, err
		}
		var answer *explain.Answer
		if p.Kind == which.CronJob {
			answer, err = p.cronJob(ctx, src, at)
		} else {
			answer, err = p.jobOrPod(ctx, src, at)
		}
		if bad := src.firstDamage(); answer != nil && answer.Damaged == 0 && bad != nil {
			// If the damage is in the records of another object that explain read, the answer does not name it yet:
			// name it here.
			answer.Damaged, answer.Resumed = uint64(max(bad.At, 1)), uint64(bad.Next)
		}
		return answer, err
	},
}

func (p *ExplainParams) jobOrPod(ctx context.Context, src Source, at history.Point) (*explain.Answer, error) {
	found, err := p.find(ctx, src, at)
	if found == nil {
		return nil, err
	}
	if failed := found.Compare(ctx); failed != nil {
		err = errors.Join(err, failed)
	}
	answer := found.Answer()
	if p.Kind == which.Pod {
		pod, none := found.PodAnswer(p.Name)
		if none != nil {
			return nil, errors.Join(none, err)
		}
		answer = pod
	}
	if failed := found.Link(&answer, p.linked); failed != nil {
		err = errors.Join(err, failed)
	}
	return &answer, cmp.Or(err, found.Unread())
}

func (p *ExplainParams) cronJob(ctx context.Context, src Source, at history.Point) (*explain.Answer, error) {
	if err := p.linksOfJob(); err != nil {
		return nil, err
	}
	streams, err := src.finder().CronJobs(ctx, p.place, p.Name)
	if err != nil {
		return nil, err
	}
	var found *cron.Case
	for _, s := range streams {
		found, err = cron.Read(ctx, src.Source, s, at)
		if found != nil {
			src.finder().NoteLives(ctx, s, found.State.Namespace, found.State.Name)
		}
		if !errors.Is(err, history.ErrNoCronJob) {
			break
		}
	}
	switch {
	case errors.Is(err, history.ErrNoCronJob):
		return nil, src.NothingAt(ctx, p.Object, &p.at)
	case found == nil:
		return nil, err
	}
	found.In(p.texts)
	answer := found.Answer()
	if p.at.Given() {
		src.asOf(answer.AsOf)
	}
	return &answer, cmp.Or(err, found.Unread())
}
