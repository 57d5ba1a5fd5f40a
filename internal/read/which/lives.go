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

// Life is another CronJob with the same name as the one that is shown. Its JSON changes only by adding fields.
type Life struct {
	UID     string             `json:"uid"`
	Created recordjson.Instant `json:"created,omitzero"`
	Later   bool               `json:"later,omitempty"` // it was created after the one that is shown
}

// LifeAt returns, of several CronJobs with one name, the newest that existed at a point, and its state then. lives has
// their streams, the newest first.
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

// otherLives returns the other CronJobs with the name of s, the newest first. earlier existed before s, later after it.
func (f *Finder) otherLives(ctx context.Context, s events.Stream, namespace, name string) (earlier, later []events.Stream) {
	if name == "" {
		return nil, nil
	}
	all, _ := history.FindCronJobs(ctx, f.Source, namespace, name) // after an error there is only no remark
	i := slices.Index(all, s)
	if i < 0 {
		return nil, nil
	}
	return all[i+1:], all[:i]
}

// NoteLives adds a remark about other CronJobs with the same name, if there are any.
func (f *Finder) NoteLives(ctx context.Context, s events.Stream, namespace, name string) {
	earlier, later := f.otherLives(ctx, s, namespace, name)
	f.NoteOlder(earlier)
	if n := len(later); n > 0 {
		f.note("the name is also that of a later CronJob: %s", words.Clean(later[n-1].String()))
	}
}

// Lives returns the other CronJobs with the same name, the newest first.
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
