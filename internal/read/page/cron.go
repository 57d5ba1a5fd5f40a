package page

import (
	"context"
	"fmt"
	"html/template"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/picture"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/say/words"
)

// cronPart is the part of a CronJob's page below its explanation.
type cronPart struct {
	Days    []day
	Ticks   *table
	Earlier bool
	Runs    template.HTML
	Beside  *table // runs that ran at the same time as another
	Time    string // the instant of ?time=
	WhyNot  []sentence
	Refused string // the error, if the question about Time was refused
	Legend  []square
}

// day is a day with its due times.
type day struct {
	Name    string
	Squares []square
}

// square is a due time, or a range of due times with the same fate.
type square struct {
	Letter, Fate, Title, Href string
	Count                     int
}

const mostTicks = "120" // due times in the table and in the strip

// fateLetters are the letters of the squares in the strip. They tell the fates apart without colour.
var fateLetters = map[string]string{
	"Started": "S", "Merged": "M", "TooLate": "L", "Refused": "R", "Lost": "X", "Unwatched": "U", "CronJobDeleted": "D", "ScheduleChanged": "C",
	"StartedAgain": "S", "MadeByHand": "H", "Triggered": "T", "NotStarted": "N", "Unknown": "?",
}

// cronJob shows a CronJob.
func cronJob(ctx context.Context, v *view) (*reply, error) {
	o, err := v.form("json", "md")
	if err != nil {
		return nil, err
	}
	named := "cronjob/" + v.request.PathValue("name")
	values := map[string]string{ask.FlagNamespace: v.request.PathValue("namespace"), "at": v.values.Get("at")}
	answer, err := put(ctx, v, ask.Explain.New(), values, named)
	switch {
	case answer == nil:
		return nil, err
	case o == "json":
		return v.json(answer)
	case o == "md":
		return v.markdown(answer), nil
	}
	v.explained(answer)
	v.Object.Cron = &cronPart{}
	ticks, err := v.ticks(ctx, values, named)
	if err != nil {
		return nil, err
	}
	v.whyNot(ctx, values, named)
	if values["at"] == "" && ticks != nil { // how a run ended is told as of now
		if err := v.runs(ctx, ticks); err != nil {
			return nil, err
		}
	}
	v.Object.Records = v.listing(ctx, events.Stream{Kind: events.StreamCronJob, ID: string(types.UID(answer.UID))}, values["at"])
	return v.page()
}

// ticks lays out the due times: a strip of squares by day, and a table with a row for each.
func (v *view) ticks(ctx context.Context, values map[string]string, named string) (*ask.DueTicks, error) {
	of := map[string]string{ask.FlagNamespace: values[ask.FlagNamespace], "at": values["at"], "tail": mostTicks}
	ticks, err := put(ctx, v, ask.Ticks.New(), of, named)
	if ticks == nil {
		return nil, err
	}
	page := show.Page{Zone: v.zone}
	part := v.Object.Cron
	part.Earlier = ticks.Earlier
	part.Ticks = &table{Head: []string{"due", "times", "record", "Job", "fate"}}
	add := func(cells []show.Cell, record uint64, bad bool) {
		row := tableRow{Bad: bad}
		for _, c := range cells {
			row.Cells = append(row.Cells, c.Text)
		}
		if record != 0 {
			row.Href = v.recordAt(record)
		}
		part.Ticks.Rows = append(part.Ticks.Rows, row)
	}
	legend := map[string]bool{}
	for i := range ticks.Items {
		t := &ticks.Items[i]
		bad := t.Job == "" && t.Fate != events.TickMerged.String()
		add(page.TickCells(t), t.Record, bad)
		sq := square{
			Letter: fateLetters[t.Fate], Fate: t.Fate, Count: t.Count, Href: v.with("time", stamp(events.Time(t.First))) + "#why",
			Title: words.Clean(page.TickCells(t)[0].Text + " " + page.TickFate(t)),
		}
		if name := v.zone.Day(events.Time(t.First)); len(part.Days) == 0 || part.Days[len(part.Days)-1].Name != name {
			part.Days = append(part.Days, day{Name: name})
		}
		last := &part.Days[len(part.Days)-1]
		last.Squares = append(last.Squares, sq)
		if !legend[t.Fate] {
			legend[t.Fate] = true
			part.Legend = append(part.Legend, square{Letter: sq.Letter, Fate: t.Fate, Title: words.Clean(t.Says)})
		}
	}
	if ticks.Due != nil {
		add(page.OpenCells(ticks.Due), ticks.Due.Record, true)
	}
	return ticks, nil
}

// whyNot answers ?time=, if it is given. If the question is refused, the page shows the error in place of the answer.
func (v *view) whyNot(ctx context.Context, values map[string]string, named string) {
	part := v.Object.Cron
	if part.Time = v.values.Get("time"); part.Time == "" {
		return
	}
	answer, err := put(ctx, v, ask.WhyNot.New(), map[string]string{ask.FlagNamespace: values[ask.FlagNamespace]}, named, part.Time)
	if answer == nil {
		part.Refused = words.Clean(err.Error())
		return
	}
	for i := range answer.Sentences {
		part.WhyNot = append(part.WhyNot, v.says(&answer.Sentences[i]))
	}
}

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
