package ask

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/attempts"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/words"
)

// oneCase has the parameters of a question about one object: its name, and the point of the log (--at) as of which the
// answer is.
type oneCase struct {
	object
	at  Point
	job bool // the question takes a Job or a pod, but no CronJob
}

func (p *oneCase) bind(fs *pflag.FlagSet) {
	p.object.bind(fs)
	p.at.Bind(fs, "the answer")
}

func (p *oneCase) read(args []string) error {
	if len(args) == 0 {
		return which.Wrong("say which Job: job/NAME")
	}
	if err := p.object.read(args); err != nil {
		return err
	}
	switch {
	case p.Kind == which.CronJob && p.job:
		return which.WantJob(args, p.Object)
	case p.Name == "":
		return which.Wrong("say which Job: job/NAME")
	}
	return p.at.Read(p.Zone)
}

// resolve finds what the parameters mean: which record --at is, and which kind of object a name without a kind is.
func (p *oneCase) resolve(ctx context.Context, src Source) (at history.Point, err error) {
	if at, err = p.at.In(ctx, src); err != nil {
		return at, err
	}
	given := p.Name
	p.Object, p.place, err = src.finder().Resolve(ctx, p.place, p.Object)
	if err == nil && p.Kind == which.CronJob && p.job {
		return at, which.Wrong("%q is a CronJob, and one Job is wanted: 'get cronjob/%s -n %s' names its Jobs", given, p.Name, p.place.Namespace)
	}
	return at, err
}

// mostLives limits find: of the Jobs with one name, it reads only the newest 8.
const mostLives = 8

// find reads the Job that the user means, as of the point at. If several Jobs with the name existed then, it takes one
// that is still active, or else the newest failed one, since alerts are about failures, or else the newest. If the log
// is damaged, find may return both a Job and an error.
func (p *oneCase) find(ctx context.Context, src Source, at history.Point) (*job.Case, error) {
	streams, err := src.finder().Jobs(ctx, p.place, p.Object)
	if err != nil {
		return nil, err
	}
	var all []*job.Case
	var unread error
	older := 0
	for i, s := range streams {
		if len(all) == mostLives {
			older = len(streams) - i
			break
		}
		found, err := job.Read(ctx, src.Source, s, at)
		switch {
		case errors.Is(err, history.ErrNoJob):
			continue
		case err != nil && !src.Beside(err):
			return nil, err
		case found == nil:
			return nil, err
		}
		unread = errors.Join(unread, err)
		found.In(p.texts)
		all = append(all, found)
	}
	if len(all) == 0 {
		return nil, src.NothingAt(ctx, p.Object, &p.at)
	}
	found := job.OfLives(all, older)
	if p.at.Given() {
		src.asOf(found.Job.AsOf)
	}
	return found, unread
}

// ofJob reads the Job that the user means, and tells the user (Source.Note) about other Jobs with the same name.
func (p *oneCase) ofJob(ctx context.Context, src Source) (*job.Case, error) {
	at, err := p.resolve(ctx, src)
	if err != nil {
		return nil, err
	}
	found, err := p.find(ctx, src, at)
	if found != nil && len(found.Lives) > 1 {
		src.note("%s", words.Clean(explain.LivesText(found.Lives, p.Zone)))
	}
	return found, err
}

// AttemptsParams are the parameters of Attempts: a Job, and which of its tries to list. A try is one pod, from creation
// to end.
type AttemptsParams struct {
	oneCase
	failed bool
	limit  Limit
	after  int
}

// usualAttempts is how many tries (pods) an answer has unless --limit is set.
const usualAttempts = 200

func (p *AttemptsParams) bind(fs *pflag.FlagSet) {
	p.oneCase.bind(fs)
	fs.BoolVar(&p.failed, "failed", false, "only tries that failed")
	p.limit.Bind(fs, usualAttempts, "so many at most")
	fs.IntVar(&p.after, "continue", 0, "leave out so many: those of the pages before")
}

func (p *AttemptsParams) read(args []string) error {
	return cmp.Or(NotNegative("continue", p.after), p.limit.Read(), p.oneCase.read(args))
}

// AttemptsPage is one page of the tries of a Job (a try: one pod). Its JSON changes only by adding fields.
type AttemptsPage struct {
	Items    []attempts.Attempt `json:"items"`
	Sum      string             `json:"sum"`
	Continue int                `json:"continue,omitempty"` // --continue for the next page; absent on the last page
	// Truncated is set if the log no longer has the Job's first records, so that tries may be missing.
	Truncated bool `json:"truncated,omitempty"`
}

// Attempts is the question for the tries of a Job: its pods, how each ended, and whether that counts as a failure.
var Attempts = &Question[AttemptsParams, AttemptsPage]{
	name: "attempts", about: "List the tries of a Job: each pod, how it ended, and as what it counted", takes: AJob, folds: true,
	new: func() (*AttemptsParams, parameters) {
		p := &AttemptsParams{oneCase: oneCase{job: true}}
		return p, p
	},
	ask: func(ctx context.Context, src Source, p *AttemptsParams) (*AttemptsPage, error) {
		found, err := p.ofJob(ctx, src)
		if found == nil {
			return nil, err
		}
		rows, all := found.Attempts(p.failed, p.after, p.limit.Most)
		page := &AttemptsPage{Items: append([]attempts.Attempt{}, rows...), Sum: found.Sum(), Truncated: found.Truncated()}
		next := p.after + len(rows)
		switch {
		case len(rows) == 0 && p.after > 0:
			src.behind("there are only %d, all on the pages before", all)
		case next < all:
			page.Continue = next
			src.behind("%d of %d; --continue %d shows the next", len(rows), all, next)
		}
		return page, err
	},
}

// TimelineParams are the parameters of Timeline: a Job, a point of the log, and how many rows to draw.
type TimelineParams struct {
	oneCase
	limit Limit
}

// usualLanes is how many rows (an index, or a pod) a timeline has unless --limit is set.
const usualLanes = 30

func (p *TimelineParams) bind(fs *pflag.FlagSet) {
	p.oneCase.bind(fs)
	p.limit.Bind(fs, usualLanes, "so many rows at most")
}

func (p *TimelineParams) read(args []string) error {
	return cmp.Or(p.limit.Read(), p.oneCase.read(args))
}

// Timeline is the question for the timeline of a Job: when each try (pod) was created, scheduled, started and ended.
var Timeline = &Question[TimelineParams, attempts.Timeline]{
	name: "timeline", about: "Draw when the tries of a Job did what", takes: AJob, folds: true,
	new: func() (*TimelineParams, parameters) {
		p := &TimelineParams{oneCase: oneCase{job: true}}
		return p, p
	},
	ask: func(ctx context.Context, src Source, p *TimelineParams) (*attempts.Timeline, error) {
		found, err := p.ofJob(ctx, src)
		if found == nil {
			return nil, err
		}
		t := found.Timeline(p.limit.Most)
		return &t, err
	},
}
