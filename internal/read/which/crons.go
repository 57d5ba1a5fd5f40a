package which

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// CronJobs finds the CronJobs that the user means by name: several if a CronJob was deleted and created again. It
// returns their streams (a stream: the records of one object), the newest first, or an error if there is none.
func (f *Finder) CronJobs(ctx context.Context, p Place, name string) ([]events.Stream, error) {
	streams, err := f.seekCronJobs(ctx, p, name)
	if len(streams) == 0 && err == nil {
		err = f.unknown(ctx, p, Object{Name: name, Kind: CronJob})
	}
	return streams, err
}

// seekCronJobs is CronJobs without the error if there is none. It searches by name, then by UID or the beginning of a
// UID, then by name in the other namespaces.
func (f *Finder) seekCronJobs(ctx context.Context, p Place, name string) ([]events.Stream, error) {
	if uid.MatchString(name) {
		return []events.Stream{events.CronJobStream(types.UID(strings.ToLower(name)))}, nil
	}
	streams, err := history.FindCronJobs(ctx, f.Source, p.Namespace, name)
	if err != nil && !(f.Source.Beside(err) && len(streams) > 0) {
		return nil, fmt.Errorf("find cronjob/%s: %w", name, err)
	}
	if len(streams) > 0 {
		return streams, nil
	}
	if uidBegins.MatchString(name) {
		page, err := f.Source.CronJobs(ctx, history.CronJobsQuery{UID: strings.ToLower(name), Limit: 2})
		if err != nil && !f.Source.Beside(err) {
			return nil, err
		}
		switch len(page.Items) {
		case 0:
		case 1:
			return []events.Stream{events.CronJobStream(types.UID(page.Items[0].UID))}, nil
		default:
			return nil, wrong("cronjob/%s is not one CronJob: write more of the UID, or the name", name)
		}
	}
	return f.findElsewhere(ctx, p, Object{Name: name, Kind: CronJob})
}

// runOf matches the name of a Job that a CronJob made: "nightly-29512345".
var runOf = regexp.MustCompile(`^(.+)-[0-9]{8}$`)

// CronJobsOf finds the CronJobs that the user means by h. It returns their streams (a stream: the records of one
// object), the newest first, and their name. If h is a name without a kind, and no CronJob has the name, it may be that
// of a Job or a pod: CronJobsOf then returns the CronJob that created the Job, and tells the user so (Finder.Note).
func (f *Finder) CronJobsOf(ctx context.Context, p Place, h Object) (lives []events.Stream, name string, err error) {
	if h.Kind != Any {
		lives, err = f.CronJobs(ctx, p, h.Name)
		return lives, h.Name, err
	}
	if lives, err = f.seekCronJobs(ctx, p, h.Name); len(lives) > 0 || err != nil {
		return lives, h.Name, err
	}
	made, in, err := f.kindOf(ctx, p, h.Name)
	if err != nil {
		return nil, h.Name, err
	}
	jobs, err := f.Jobs(ctx, in, made)
	if err != nil {
		return nil, h.Name, err
	}
	job, err := history.JobAt(ctx, f.Source, jobs[0], history.Point{})
	switch origin := job.Origin; {
	case err != nil && !f.Source.Beside(err):
		return nil, h.Name, err
	case origin == nil || origin.Kind != "CronJob":
		return nil, h.Name, wrong("%s was not made by a CronJob; 'jobledger explain %s' says how it is", words.Clean(made.String()), words.Clean(made.String()))
	default:
		f.note("%s is of cronjob/%s", words.Clean(made.String()), words.Clean(origin.Name))
		return []events.Stream{events.CronJobStream(types.UID(origin.UID))}, origin.Name, nil
	}
}
