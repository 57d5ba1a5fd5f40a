package show

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/attempts"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Attempts writes a table of a Job's tries, one row for each. A try is one pod of the Job, from creation to end. A line
// above the table has the day of the first start, and times of other days have their date. The text sum is written
// below the table.
func (p *Page) Attempts(rows []attempts.Attempt, sum string) error {
	indexed := len(rows) > 0 && rows[0].Index != nil
	head := []string{"TRY", "POD", "NODE", "STARTED", "RAN", "ENDED BY", "COUNTED", "NEXT TRY", "EXIT"}
	if p.Wide {
		head = []string{"TRY", "POD", "NODE", "STARTED", "RAN", "ENDED BY", "EXIT", "COUNTED", "NEXT TRY", "HOW", "UID", "RECORDS"}
	}
	if indexed {
		head = append([]string{"INDEX"}, head...)
	}
	t := p.table(head...)
	if !p.Wide {
		t.Fold, t.Drop = true, []string{"NEXT TRY", "STARTED", "RAN"}
	}
	day := firstStart(rows)
	if day != 0 {
		t.Rule("— " + p.Zone.Day(day) + " —")
	}
	for i := range rows {
		a := &rows[i]
		var row []Cell
		if indexed {
			row = append(row, Cell{Text: indexOf(a)})
		}
		row = append(row,
			Cell{Text: strconv.Itoa(a.Try)}, Cell{Text: dash(words.Clean(a.Pod)), Name: true}, Cell{Text: dash(words.Clean(a.Node)), Name: true},
			Cell{Text: p.clockOrDash(events.Time(a.Started), day)}, Cell{Text: ranText(a)}, Cell{Text: words.Clean(endedText(a)), Style: troubled(a)})
		exit, counted := Cell{Text: words.Clean(exitsText(a))}, []Cell{{Text: countedText(a)}, {Text: p.nextText(a, day)}}
		if p.Wide {
			row = append(append(row, exit), counted...)
			row = append(row, Cell{Text: dash(words.Clean(p.wholeOr(a.How, a.Whole)))}, Cell{Text: words.Clean(a.UID)}, Cell{Text: recordsText(a)})
		} else {
			row = append(append(row, counted...), exit)
		}
		t.Row(row...)
		if a.EndedBy == try.ByNobody && a.How != "" && !p.Wide {
			t.Rule(strings.Repeat(" ", belowAt) + "waits: " + words.Clean(p.wholeOr(a.How, a.Whole)))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if left := t.LeftOut(); left != "" {
		sum += " (" + left + ")"
	}
	_, err := fmt.Fprintln(p.Out, strings.Join(wrap(sum, p.Width, p.Whole), "\n"))
	return err
}

func indexOf(a *attempts.Attempt) string {
	if a.Index == nil {
		return "-"
	}
	return strconv.Itoa(int(*a.Index))
}

// firstStart returns when the first of the tries (pods of the Job) started; 0 if none has started.
func firstStart(rows []attempts.Attempt) (first events.Time) {
	for i := range rows {
		if at := events.Time(rows[i].Started); at != 0 && (first == 0 || at < first) {
			first = at
		}
	}
	return first
}

// clockOrDash returns the time of day of t; "-" if t is 0. It adds the date if t is on another day than day.
func (p *Page) clockOrDash(t, day events.Time) string {
	switch {
	case t == 0:
		return "-"
	case !p.Zone.SameDay(t, day): // also if day is 0, which means that the day is not known
		return p.Zone.In(t).Format("2 Jan 15:04:05")
	}
	return p.Zone.In(t).Format("15:04:05")
}

func ranText(a *attempts.Attempt) string {
	d, err := time.ParseDuration(a.Ran)
	switch {
	case err != nil:
		return "-"
	case a.RanAtMost:
		return "≤" + words.Span(d)
	}
	return words.Span(d)
}

func endedText(a *attempts.Attempt) string {
	switch {
	case a.Unseen:
		return "not watched"
	case a.EndedBy == try.ByNobody && a.How != "":
		return "waits"
	case a.EndedBy == try.ByNobody:
		return "goes on"
	}
	return string(a.EndedBy)
}

func troubled(a *attempts.Attempt) Style {
	if a.Counted == try.CountedFailed {
		return Trouble
	}
	return Plain
}

func exitsText(a *attempts.Attempt) string {
	text := ""
	for i, x := range a.Exits {
		if i > 0 {
			text += ", "
		}
		text += words.Exit(x.Container, x.Code, x.Reason)
	}
	return dash(text)
}

func countedText(a *attempts.Attempt) string {
	if a.Counted == try.CountedFailed {
		return fmt.Sprintf("failure %d", a.Failure)
	}
	return dash(string(a.Counted))
}

func (p *Page) nextText(a *attempts.Attempt, day events.Time) string {
	if a.Next == 0 {
		return "-"
	}
	return "after " + p.clockOrDash(events.Time(a.Next), day)
}

func recordsText(a *attempts.Attempt) string {
	var first, last uint64
	for _, r := range a.Records {
		if first == 0 || r < first {
			first = r
		}
		last = max(last, r)
	}
	return fmt.Sprintf("%d–%d", first, last)
}
