package page

import (
	"context"
	"fmt"
	"slices"

	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/picture"
	"github.com/jobledger/jobledger/internal/read/show"
)

// The bounds of the runs of a CronJob: how many are shown, and how many pages of Jobs are read for them. Jobs of other
// CronJobs may have names that begin alike.
const (
	mostRuns     = 60
	mostRunPages = 4
)

// runs draws how long the newest runs of a CronJob took, and lists those that ran at the same time as another. The runs
// are the Jobs that its due times name.
func (v *view) runs(ctx context.Context, ticks *ask.DueTicks) error {
	var order []string // UIDs, the newest first
	for i := len(ticks.Items) - 1; i >= 0 && len(order) < mostRuns; i-- {
		if uid := ticks.Items[i].JobUID; uid != "" && !slices.Contains(order, uid) {
			order = append(order, uid)
		}
	}
	found := map[string]*history.Summary{}
	of := map[string]string{ask.FlagNamespace: ticks.Namespace, "name": ticks.Name + "-"}
	for range mostRunPages {
		page, err := put(ctx, v, ask.Jobs.New(), of)
		if page == nil {
			return err
		}
		keep(found, order, page.Items)
		if of["continue"] = page.Continue; page.Continue == "" || len(found) == len(order) {
			break
		}
	}
	for _, uid := range order { // a Job that was made by hand has any name
		if found[uid] != nil {
			continue
		}
		page, err := put(ctx, v, ask.Jobs.New(), map[string]string{ask.FlagNamespace: ticks.Namespace, "uid": uid})
		if page == nil {
			return err
		}
		keep(found, order, page.Items)
	}
	var runs []history.Summary
	for _, uid := range order {
		if run := found[uid]; run != nil {
			runs = append(runs, *run)
		}
	}
	at := func(s *history.Summary) string {
		return v.to(map[string]string{"uid": s.UID}, "job", s.Namespace, s.Name)
	}
	v.Object.Cron.Runs = drawn(picture.Runs(runs, at, v.zone))
	v.beside(runs, at)
	if n := len(order) - len(runs); n > 0 {
		v.note(fmt.Sprintf("the log no longer has %d of the newest %d runs", n, len(order)))
	}
	return nil
}

// keep adds the Jobs that are runs.
func keep(found map[string]*history.Summary, runs []string, jobs []history.Summary) {
	for i := range jobs {
		if slices.Contains(runs, jobs[i].UID) {
			found[jobs[i].UID] = &jobs[i]
		}
	}
}

// beside lays out the runs that ran at the same time as an earlier one.
func (v *view) beside(runs []history.Summary, at func(*history.Summary) string) {
	page := show.Page{Zone: v.zone}
	head, rows, of := page.Overlaps(runs)
	if len(rows) == 0 {
		return
	}
	out := &table{Head: head}
	for i, row := range rows {
		out.Rows = append(out.Rows, tableRow{Cells: row, Href: at(of[i])})
	}
	v.Object.Cron.Beside = out
}
