package which

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Life is another CronJob with the same name as the CronJob that an answer is about. Its JSON changes only by adding
// fields.
type Life struct {
	UID     string             `json:"uid"`
	Created recordjson.Instant `json:"created,omitzero"`
	Later   bool               `json:"later,omitempty"` // it was created after the CronJob of the answer
}

// LifeAt returns the CronJob that existed at a point of the log, and its state then. lives has the streams (records) of
// all CronJobs with the name, the newest first. If several had existed by then, LifeAt returns the newest of them.
func (f *Finder) LifeAt(
	ctx context.Context, lives []events.Stream, name string, at history.Point,
) (events.Stream, history.CronJob, error) {
	for _, s := range lives {
		job, err := history.CronJobAt(ctx, f.Source, s, at)
		if !errors.Is(err, history.ErrNoCronJob) {
			return s, job, err
		}
	}
	point := ""
	if at != (history.Point{}) {
		point = " at that point"
	}
	return events.Stream{}, history.CronJob{}, fmt.Errorf("the log knows no cronjob/%s%s: %w", name, point, history.ErrNoCronJob)
}

// otherLives returns the streams (records) of the other CronJobs that had the name of CronJob s, the newest first:
// earlier ones were created before s, later ones after s.
func (f *Finder) otherLives(ctx context.Context, s events.Stream, namespace, name string) (earlier, later []events.Stream) {
	if name == "" {
		return nil, nil
	}
	// If this fails, the remark about other CronJobs is left out.
	all, _ := history.FindCronJobs(ctx, f.Source, namespace, name)
	i := slices.Index(all, s)
	if i < 0 {
		return nil, nil
	}
	return all[i+1:], all[:i]
}

// NoteLives tells the user about other CronJobs with the same name as CronJob s, if there are any.
func (f *Finder) NoteLives(ctx context.Context, s events.Stream, namespace, name string) {
	earlier, later := f.otherLives(ctx, s, namespace, name)
	f.NoteOlder(earlier)
	if n := len(later); n > 0 {
		f.note("the name is also that of a later CronJob: %s", words.Clean(later[n-1].String()))
	}
}

// Lives describes the other CronJobs that had the name of CronJob s, the newest first.
func (f *Finder) Lives(ctx context.Context, s events.Stream, namespace, name string) (out []Life) {
	earlier, later := f.otherLives(ctx, s, namespace, name)
	for _, other := range slices.Concat(later, earlier) {
		life := Life{UID: other.ID, Later: slices.Contains(later, other)}
		if page, _ := f.Source.CronJobs(ctx, history.CronJobsQuery{UID: other.ID, Limit: 1}); len(page.Items) == 1 {
			life.Created = page.Items[0].Created
		}
		out = append(out, life)
	}
	return out
}
