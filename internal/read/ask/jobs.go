package ask

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/internal/read/explain/verdicts"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// Sizes of one page of a list: UsualPage is the default of --limit, as in kubectl, and MaxPage the highest value.
const (
	UsualPage = 500
	MaxPage   = 5000
)

// ListParams are the parameters that all lists have: which objects to list, and which page.
type ListParams struct {
	many
	states []string
	limit  int
	after  string
	name   string
	uid    string
	wanted []string // the states to list, spelled as in the log
}

// HiddenOfLists has the parameters that the commands of lists have no flag for. Only shell completion of names sets
// them.
var HiddenOfLists = []string{"name", "uid"}

func (p *ListParams) bindList(fs *pflag.FlagSet, what, states string) {
	p.many.bind(fs)
	fs.StringSliceVar(&p.states, "state", nil, "only "+what+" in these states, such as "+states)
	p.span.BindSince(fs, "only "+what+" with a record from this time on")
	fs.IntVar(&p.limit, "limit", UsualPage, "so many "+what+" at most")
	fs.StringVar(&p.after, "continue", "", "the page behind the one that gave this")
	fs.StringVar(&p.name, "name", "", "only "+what+" whose names begin so")
	fs.StringVar(&p.uid, "uid", "", "only "+what+" whose UIDs begin so")
}

// readList checks the parameters of a list. there has all valid states; noSuch begins the error for another state.
func (p *ListParams) readList(args []string, there []string, noSuch string) error {
	if len(args) > 0 {
		return which.Wrong("a list takes no %q: name, namespace and state choose from it", strings.Join(args, " "))
	}
	if p.limit < 1 || p.limit > MaxPage {
		return which.Wrong("--limit %d: must be from 1 to %d", p.limit, MaxPage)
	}
	if err := p.many.read(nil); err != nil {
		return err
	}
	p.wanted = nil
	for _, name := range p.states {
		i := slices.IndexFunc(there, func(s string) bool { return strings.EqualFold(s, name) })
		if i < 0 {
			return which.Wrong("--state %s: %s; there are %s", name, noSuch, strings.Join(there, ", "))
		}
		p.wanted = append(p.wanted, there[i])
	}
	return nil
}

// notes tells the user what the list may lack, for example because the controller could not list the cluster. It does
// so only for the first page.
func (p *ListParams) notes(ctx context.Context, src Source) {
	if p.after == "" {
		src.NoteUnlisted(ctx)
	}
}

// passed returns the namespaces that are over their log budget now (how much they may write an hour): some of their
// objects may have no record.
func (p *ListParams) passed(ctx context.Context, src Source) ([]history.Passed, error) {
	_, head, err := src.Head(ctx)
	if err != nil {
		return nil, err
	}
	at := history.Place{Sequence: uint64(head.Sequence), Time: recordjson.Instant(head.Time)}
	now, err := history.PassedAt(ctx, src.Source, at, p.namespace, p.namespace == "")
	if src.Beside(err) {
		err = nil
	}
	return now, err
}

// page returns the answer for one page of a list, with the error of reading the log. If the page has no items, it
// returns only the error, because an empty page would say that there are no Jobs. more is the token of the next page.
func page[A any](answer *A, items int, more string, src Source, err error) (*A, error) {
	switch {
	case errors.Is(err, history.ErrQuery):
		return nil, which.Wrong("--continue: %v", err)
	case err != nil && (!src.Beside(err) || items == 0 && more == ""):
		return nil, err
	}
	return answer, err // err is nil, or damage of the log: then the answer has the items that could be read
}

// JobsParams are the parameters of Jobs: those of a list, a label selector, and --why (say why each Job is as it is).
type JobsParams struct {
	ListParams
	selector Selector
	why      bool
}

// StateNames returns the names of the states of Jobs.
func StateNames() (names []string) {
	for _, s := range history.States {
		names = append(names, string(s))
	}
	return names
}

func (p *JobsParams) bind(fs *pflag.FlagSet) {
	p.bindList(fs, "Jobs", "Failed,Running")
	p.selector.Bind(fs, "only Jobs with these labels")
	fs.BoolVar(&p.why, "why", false, "say in one line why each Job ended so, or what it waits for")
}

func (p *JobsParams) read(args []string) error {
	if err := p.readList(args, StateNames(), "there is no such state"); err != nil {
		return err
	}
	_, err := p.selector.Read()
	return err
}

// query returns which Jobs to list, without the lower bound in time (--since).
func (p *JobsParams) query() history.JobsQuery {
	q := history.JobsQuery{Namespace: p.namespace, Limit: p.limit, Continue: p.after, Name: p.name, UID: p.uid}
	for _, s := range p.wanted {
		q.States = append(q.States, history.State(s))
	}
	q.Labels, _ = p.selector.Read() // no error: read has parsed the selector already
	return q
}

// Jobs is the question for the list of Jobs, one page at a time, the newest first.
var Jobs = &Question[JobsParams, history.JobsPage]{
	name: "jobs", words: []string{"get", "jobs"}, about: "List the Jobs that the log knows, the newest first", takes: Nothing, folds: true,
	new: func() (*JobsParams, parameters) {
		p := &JobsParams{}
		return p, p
	},
	ask: func(ctx context.Context, src Source, p *JobsParams) (*history.JobsPage, error) {
		p.notes(ctx, src)
		over, err := p.passed(ctx, src)
		if err != nil {
			return nil, err
		}
		q := p.query()
		told := src
		if p.after != "" {
			told.Note = func(string) {} // if this is not the first page, drop its remarks: the first page had them
		}
		if q.Since, _, err = p.span.In(ctx, told); err != nil {
			return nil, err
		}
		if err := told.NoteLabels(ctx, q.Labels); err != nil {
			return nil, err
		}
		found, err := src.Source.Jobs(ctx, q)
		found.PassedOver = over
		if found.Items == nil {
			found.Items = []history.Summary{}
		}
		answer, unread := page(&found, len(found.Items), found.Continue, src, err)
		if answer == nil || !p.why {
			return answer, unread
		}
		lines := verdicts.LinesOf(src.Source)
		lines.Zone = p.texts
		for i := range answer.Items {
			why, err := lines.Of(ctx, &answer.Items[i], history.Point{})
			switch {
			case src.Beside(err):
				unread = err
			case err != nil:
				return nil, err
			}
			answer.Items[i].Why = why
		}
		return answer, unread
	},
}

// CronJobsParams are the parameters of CronJobs: those of a list.
type CronJobsParams struct{ ListParams }

// CronStateNames returns the names of the states of CronJobs.
func CronStateNames() (names []string) {
	for _, s := range history.CronStates {
		names = append(names, string(s))
	}
	return names
}

func (p *CronJobsParams) bind(fs *pflag.FlagSet) { p.bindList(fs, "CronJobs", "Held,Suspended") }

func (p *CronJobsParams) read(args []string) error {
	return p.readList(args, CronStateNames(), "CronJobs have no such state")
}

// query returns which CronJobs to list, without the lower bound in time (--since).
func (p *CronJobsParams) query() history.CronJobsQuery {
	q := history.CronJobsQuery{Namespace: p.namespace, Limit: p.limit, Continue: p.after, Name: p.name, UID: p.uid}
	for _, s := range p.wanted {
		q.States = append(q.States, history.CronState(s))
	}
	return q
}

// CronJobs is the question for the list of CronJobs, one page at a time, the newest first.
var CronJobs = &Question[CronJobsParams, history.CronJobsPage]{
	name: "cronjobs", words: []string{"get", "cronjobs"}, about: "List the CronJobs that the log knows, the newest first", takes: Nothing, folds: true,
	new: func() (*CronJobsParams, parameters) {
		p := &CronJobsParams{}
		return p, p
	},
	ask: func(ctx context.Context, src Source, p *CronJobsParams) (*history.CronJobsPage, error) {
		p.notes(ctx, src)
		over, err := p.passed(ctx, src)
		if err != nil {
			return nil, err
		}
		q := p.query()
		told := src
		if p.after != "" {
			told.Note = func(string) {}
		}
		if q.Since, _, err = p.span.In(ctx, told); err != nil {
			return nil, err
		}
		found, err := src.Source.CronJobs(ctx, q)
		found.PassedOver = over
		return page(&found, len(found.Items), found.Continue, src, err)
	},
}

// WantedJobs returns which Jobs a question lists, without the lower bound in time (--since). A watch uses it to choose
// the changes to show.
func WantedJobs(q *Asked[history.JobsPage]) history.JobsQuery { return q.how.(*JobsParams).query() }

// WantedCronJobs returns which CronJobs a question lists, without the lower bound in time (--since).
func WantedCronJobs(q *Asked[history.CronJobsPage]) history.CronJobsQuery {
	return q.how.(*CronJobsParams).query()
}
