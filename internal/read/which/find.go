package which

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Place says in which namespace the Finder searches an object. If the object is not there, and the user did not name
// the namespace (Named is false), the Finder takes the object with this name in another namespace, if there is exactly
// one.
type Place struct {
	Namespace string
	Named     bool
}

// Finder finds the objects in a log that a user means by a name or a UID.
type Finder struct {
	Source history.Source
	Note   func(text string) // called with remarks for the user, one line each
}

func (f *Finder) note(format string, args ...any) { f.Note(fmt.Sprintf(format, args...)) }

// NoteOlder tells the user that older objects had the same name, and names the newest of them. It does nothing if older
// is empty.
func (f *Finder) NoteOlder(older []events.Stream) {
	if len(older) > 0 {
		what := "Job"
		if older[0].Kind == events.StreamCronJob {
			what = "CronJob"
		}
		f.note("the name was also that of an earlier %s: %s", what, words.Clean(older[0].String()))
	}
}

var (
	uid       = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	uidBegins = regexp.MustCompile(`^[0-9a-fA-F][0-9a-fA-F-]{3,}$`)
)

// mostLike is how many Jobs an error lists if the UIDs of several begin with what the user gave.
const mostLike = 10

// IsUID reports whether name has the form of a UID.
func IsUID(name string) bool { return uid.MatchString(name) }

// Jobs finds the Jobs that the user means by h: by name, then by UID or the beginning of a UID, then by the name of a
// pod. It returns their streams (a stream: the records of one object), the newest first; for a CronJob, those of the
// CronJobs. If it finds nothing, it returns an error.
func (f *Finder) Jobs(ctx context.Context, p Place, h Object) ([]events.Stream, error) {
	namespace := p.Namespace
	if h.Kind == CronJob {
		return f.CronJobs(ctx, p, h.Name)
	}
	if h.Kind != Pod && uid.MatchString(h.Name) {
		return []events.Stream{events.JobStream(types.UID(strings.ToLower(h.Name)))}, nil
	}
	var unread error // damage of the log that was met so far; it may hide the object
	if h.Kind != Pod {
		streams, err := history.FindJobs(ctx, f.Source, namespace, h.Name)
		if unread = err; err != nil && !f.Source.Beside(err) {
			return nil, fmt.Errorf("find %s: %w", h, err)
		}
		if len(streams) > 0 {
			return streams, nil // if the log is damaged, newer Jobs with the name may be missing here
		}
		if uidBegins.MatchString(h.Name) {
			switch s, ok, err := f.byUID(ctx, strings.ToLower(h.Name)); {
			case ok:
				return []events.Stream{s}, nil
			case err != nil && !f.Source.Beside(err):
				return nil, err
			case err != nil:
				unread = err
			}
		}
	}
	s, ok, err := history.JobOfPod(ctx, f.Source, namespace, h.Name)
	switch {
	case errors.Is(err, history.ErrManyJobs):
		return nil, fmt.Errorf("find %s: %w: name its Job with job/NAME or job/UID", h, err)
	case unread != nil && (err == nil || f.Source.Beside(err)) && !ok:
		return nil, fmt.Errorf("find %s: %w", h, unread)
	case err != nil:
		return nil, fmt.Errorf("find %s: %w", h, err)
	case ok:
		f.note("pod %s is of job %s", words.Clean(h.Name), f.called(ctx, s))
		return []events.Stream{s}, nil
	}
	if streams, err := f.findElsewhere(ctx, p, h); len(streams) > 0 || err != nil {
		return streams, err
	}
	return nil, f.unknown(ctx, p, h)
}

// byUID returns the stream (the records) of the Job whose UID begins with prefix, in any namespace. If there are
// several such Jobs, the error lists them. Damage of the log is an error only if no Job is found.
func (f *Finder) byUID(ctx context.Context, prefix string) (s events.Stream, ok bool, err error) {
	page, err := f.Source.Jobs(ctx, history.JobsQuery{UID: prefix, Limit: mostLike + 1})
	if len(page.Items) == 0 || err != nil && !f.Source.Beside(err) {
		return s, false, err
	}
	if len(page.Items) == 1 {
		return events.JobStream(types.UID(page.Items[0].UID)), true, nil
	}
	several := wrong("job/%s is not one Job: write more of the UID, or the name", prefix)
	several.lines = append(several.lines, fmt.Sprintf("The UIDs of these Jobs begin with %s:", prefix))
	for i, j := range page.Items {
		if i == mostLike {
			several.lines = append(several.lines, "  … and more")
			break
		}
		several.lines = append(several.lines, words.Clean(fmt.Sprintf("  %s  %s/%s (%s)", j.UID, j.Namespace, j.Name, j.State)))
	}
	return s, false, several
}

// called returns NAMESPACE/NAME of a Job, for a remark to the user; its UID if the log lacks the name.
func (f *Finder) called(ctx context.Context, s events.Stream) string {
	job := history.NamesOf(ctx, f.Source).Job(s)
	if job.Name == "" {
		return words.Clean(s.ID)
	}
	return words.Clean(job.Namespace + "/" + job.Name)
}
