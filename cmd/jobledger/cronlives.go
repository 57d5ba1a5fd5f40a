package main

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

// cronLife is another CronJob that bore the name of one that is shown. Its JSON changes only by growing.
type cronLife struct {
	UID     string             `json:"uid"`
	Created recordjson.Instant `json:"created,omitzero"`
	Later   bool               `json:"later,omitempty"` // it came after the one that is shown
}

// lifeAt is the newest of the CronJobs of a name that there was at a point.
func (c *cli) lifeAt(ctx context.Context, src history.Source, lives []events.Stream, name string, at history.Point) (events.Stream, history.CronJob, error) {
	for _, s := range lives {
		job, err := history.CronJobAt(ctx, src, s, at)
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

// otherLives are the CronJobs that bore a name beside one of them, the newest first. Whoever asks by UID hears of them, too.
func (c *cli) otherLives(ctx context.Context, src history.Source, s events.Stream, namespace, name string) (earlier, later []events.Stream) {
	if name == "" {
		return nil, nil
	}
	all, _ := history.FindCronJobs(ctx, src, namespace, name) // with an error there is only no note
	i := slices.Index(all, s)
	if i < 0 {
		return nil, nil
	}
	return all[i+1:], all[:i]
}

// noteLives tells of the other CronJobs of a name.
func (c *cli) noteLives(ctx context.Context, src history.Source, s events.Stream, namespace, name string) {
	earlier, later := c.otherLives(ctx, src, s, namespace, name)
	c.noteOlder(earlier)
	if n := len(later); n > 0 {
		fmt.Fprintf(c.err, "note: the name is also that of a later CronJob: %s\n", words.Clean(later[n-1].String()))
	}
}

// listLives are the other CronJobs of a name for programs, the newest first.
func (c *cli) listLives(ctx context.Context, src history.Source, s events.Stream, namespace, name string) (out []cronLife) {
	earlier, later := c.otherLives(ctx, src, s, namespace, name)
	for _, other := range slices.Concat(later, earlier) {
		life := cronLife{UID: other.ID, Later: slices.Contains(later, other)}
		if page, _ := src.CronJobs(ctx, history.CronJobsQuery{UID: other.ID, Limit: 1}); len(page.Items) == 1 {
			life.Created = page.Items[0].Created
		}
		out = append(out, life)
	}
	return out
}
