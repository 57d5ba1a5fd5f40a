package show

import (
	"strconv"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// CronJobsTable is a table of CronJobs. It is written piece by piece, so it can have any number of rows.
type CronJobsTable struct {
	Table
	page *Page
}

// CronJobs returns an empty table of CronJobs.
func (p *Page) CronJobs() *CronJobsTable {
	head := []string{"NAMESPACE", "NAME", "SCHEDULE", "STATE", "NEXT", "LAST DUE"}
	switch {
	case p.Wide:
		head = []string{"NAMESPACE", "NAME", "SCHEDULE", "STATE", "ACTIVE", "NEXT", "LAST RUN", "LAST SUCCESS", "RUN BY", "UID", "LAST DUE"}
	case p.Namespace != "":
		head = head[1:]
	}
	return &CronJobsTable{Table: *p.table(head...), page: p}
}

// Row adds a CronJob.
func (t *CronJobsTable) Row(j *history.CronSummary) {
	p := t.page
	state := Cell{Text: string(j.State), Style: styleOfCron(j.State)}
	if p.Wide && j.Reason != "" {
		state.Text += " (" + words.Clean(j.Reason) + ")"
	}
	row := []Cell{{Text: dash(words.Clean(j.Namespace)), Name: true}}
	if p.Namespace != "" && !p.Wide {
		row = row[1:]
	}
	row = append(row, Cell{Text: dash(words.Clean(j.Name)), Name: true}, Cell{Text: dash(words.Clean(scheduleText(j.Schedule, j.TimeZone)))},
		state)
	if !p.Wide {
		row = append(row, Cell{Text: p.day(events.Time(j.Next))})
	} else {
		by := "Jobledger"
		if !j.Managed {
			by = "another controller"
		}
		row = append(row, Cell{Text: strconv.Itoa(j.Active)}, Cell{Text: p.due(events.Time(j.Next))}, Cell{Text: dash(j.LastRun)}, Cell{Text: p.due(events.Time(j.LastSuccess))}, Cell{Text: by}, Cell{Text: words.Clean(j.UID)})
	}
	t.Table.Row(append(row, Cell{Text: p.lastDue(j), Style: styleOfCron(j.State)})...)
}

// lastDue describes the newest due time (instant of the schedule): what became of it, or why it has not started.
func (p *Page) lastDue(j *history.CronSummary) string {
	write := p.day
	if p.Wide {
		write = p.due
	}
	switch {
	case j.Due != nil && j.Due.Hold != "" && p.Wide:
		return write(events.Time(j.Due.At)) + " " + words.Clean(j.Due.Says)
	case j.Due != nil && j.State == history.CronOverdue:
		return write(events.Time(j.Due.At)) + " not started"
	case j.Due != nil && j.Due.Hold != "":
		return write(events.Time(j.Due.At)) + " held: " + j.Due.Hold
	case j.LastDue == nil:
		return "-"
	}
	return write(events.Time(j.LastDue.Last)) + " " + words.Clean(p.tickFate(j.LastDue, write))
}

// TickFate says what became of a due time, or of a range of due times: "started". The caller adds the name of the Job.
func (p *Page) TickFate(t *history.Tick) string { return p.tickFate(t, p.due) }

func (p *Page) tickFate(t *history.Tick, write func(events.Time) string) string {
	text := t.Says
	switch {
	case t.Fate == events.TickMerged.String() && t.Into != 0:
		text = "merged into " + write(events.Time(t.Into))
	case t.Fate == events.TickSkipped.String() && t.Into != 0:
		text += " (" + write(events.Time(t.Into)) + " was)"
	case t.UnwatchedUntil != 0 || t.UnwatchedFrom != 0:
		text = "unknown: not watched " + p.unwatched(t)
	case t.Into != 0:
		text += ", " + write(events.Time(t.Into))
	}
	if d, err := time.ParseDuration(t.Late); err == nil {
		text += " " + words.Span(d) + " late"
	}
	if d, err := time.ParseDuration(t.Seen); err == nil {
		text += ", seen " + words.Span(d) + " after"
	}
	switch {
	case t.By == "":
	case t.Job != "":
		text += " by " + words.Asker(t.By)
	default:
		text += ", asked for by " + words.Asker(t.By)
	}
	if t.Why != "" {
		text += ": " + t.Why
	}
	return text
}

// unwatched says in which time nobody watched the cluster, so that the outcome of a due time is unknown.
func (p *Page) unwatched(t *history.Tick) string {
	from, until := "from "+p.Zone.Second(events.Time(t.UnwatchedFrom)), "until "+p.Zone.Second(events.Time(t.UnwatchedUntil))
	switch {
	case t.UnwatchedUntil == 0:
		return from + " on"
	case t.UnwatchedFrom == 0:
		return until
	}
	return from + " " + until
}

// due returns a due time. It has seconds only if they are not 0.
func (p *Page) due(t events.Time) string {
	if t == 0 {
		return "-"
	}
	return DueText(p.Zone.In(t))
}

// day returns a due time without its year, for narrow tables.
func (p *Page) day(t events.Time) string {
	if t == 0 {
		return "-"
	}
	at := p.Zone.In(t)
	return at.Format("02 Jan " + dueClock(at))
}

// DueText returns a due time with its date, in the time zone that t has.
func DueText(t time.Time) string { return t.Format("2006-01-02 " + dueClock(t)) }

func dueClock(t time.Time) string {
	if t.Second() != 0 {
		return "15:04:05"
	}
	return "15:04"
}

// TickCells returns the row of one due time, or of a range with the same outcome, for the table of due times: the time,
// the number of due times, the record, the Job, and the outcome.
func (p *Page) TickCells(t *history.Tick) []Cell {
	due, times, record := p.due(events.Time(t.First)), "?", ""
	if t.First != t.Last {
		first, last := p.Zone.In(events.Time(t.First)), p.Zone.In(events.Time(t.Last))
		layout := dueClock(last)
		switch {
		case first.Year() != last.Year():
			layout = "2006-01-02 " + layout
		case first.YearDay() != last.YearDay():
			layout = "01-02 " + layout
		}
		due += " to " + last.Format(layout)
	}
	if t.Count > 0 {
		times = strconv.Itoa(t.Count)
	}
	if t.Record != 0 {
		record = strconv.FormatUint(t.Record, 10)
	}
	return []Cell{{Text: due}, {Text: times}, {Text: record}, {Text: words.Clean(t.Job), Name: true}, {Text: words.Clean(p.TickFate(t))}}
}

// OpenCells returns the row of the due time that is not decided yet, for the table of due times.
func (p *Page) OpenCells(d *history.OpenDue) []Cell {
	record := ""
	if d.Record != 0 {
		record = strconv.FormatUint(d.Record, 10)
	}
	due, times := p.due(events.Time(d.At)), "1"
	if d.First != 0 {
		due, times = p.due(events.Time(d.First))+" to "+DueText(p.Zone.In(events.Time(d.At))), "?"
	}
	return []Cell{{Text: due}, {Text: times}, {Text: record}, {Name: true}, {Text: words.Clean(d.Says), Style: Trouble}}
}

// scheduleText returns a schedule with its time zone.
func scheduleText(schedule string, zone *string) string {
	if zone != nil && *zone != "" {
		return schedule + " " + *zone
	}
	return schedule
}

func styleOfCron(s history.CronState) Style {
	if s == history.CronHeld || s == history.CronOverdue || s == history.CronInvalid {
		return Trouble
	}
	return Plain
}
