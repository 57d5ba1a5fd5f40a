package page

import (
	"context"
	"fmt"
	"html/template"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/picture"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/say/words"
)

// cronPart is what the page of a CronJob shows below the explanation: its due times (instants of the schedule), its
// runs (Jobs), and the answer about one instant.
type cronPart struct {
	Days    []day
	Ticks   *table
	Earlier bool
	Runs    template.HTML
	Beside  *table // the runs (Jobs) that began while an earlier run was going on
	Time    string // the instant in ?time= of the address, which the user asks about
	WhyNot  []sentence
	Refused string // the error, if the question about Time was refused
	Legend  []square
}

// day is one row of the strip, the picture of due times: a day, with a square for each due time.
type day struct {
	Name    string
	Squares []square
}

// square is a due time in the strip, or a range of due times with the same outcome (fate), such as "Started" or
// "TooLate".
type square struct {
	Letter, Fate, Title, Href string
	Count                     int
}

const mostTicks = "120" // how many due times the table and the strip show

// fateLetters maps the outcome (fate) of due times to the letter in their square, so that the user need not see
// colours.
var fateLetters = map[string]string{
	"Started": "S", "Merged": "M", "TooLate": "L", "Refused": "R", "Lost": "X", "Unwatched": "U", "CronJobDeleted": "D", "ScheduleChanged": "C",
	"StartedAgain": "S", "MadeByHand": "H", "Triggered": "T", "NotStarted": "N", "Unknown": "?",
}

// cronJob answers with the page of a CronJob, or with its explanation as JSON or Markdown.
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
	// Skip the runs on a page of the past (?at=): how they ended is only known as of now.
	if values["at"] == "" && ticks != nil {
		if err := v.runs(ctx, ticks); err != nil {
			return nil, err
		}
	}
	return v.withRecords(ctx, events.Stream{Kind: events.StreamCronJob, ID: answer.UID})
}

// ticks adds what became of the CronJob's due times to the page: the strip, which has a row for each day and a square
// for each due time, and a table with a row for each due time.
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

// whyNot adds the answer to the question why no Job started at the instant in ?time=, if the address has one. If the
// question is refused, the page shows the error instead.
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

// Limits for the runs (Jobs) of a CronJob. The page shows the newest 60. To find them, it reads up to 4 pages of Jobs
// whose names begin with "NAME-"; Jobs of other CronJobs may have such names, too.
const (
	mostRuns     = 60
	mostRunPages = 4
)

// runs adds to the page a picture of how long the newest runs (Jobs) took, and a table of the runs that overlapped.
// ticks has the due times, which name the runs.
func (v *view) runs(ctx context.Context, ticks *ask.DueTicks) error {
	var order []string // UIDs of runs, the newest first
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
	for _, uid := range order { // look up the runs that are missing by UID: a Job that a user created may have any name
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

// keep adds to found, by UID, those of the given Jobs whose UID is in runs.
func keep(found map[string]*history.Summary, runs []string, jobs []history.Summary) {
	for i := range jobs {
		if slices.Contains(runs, jobs[i].UID) {
			found[jobs[i].UID] = &jobs[i]
		}
	}
}

// beside adds to the page the table of the runs (Jobs) that began while an earlier run was going on. at returns the
// address of a run's page.
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
