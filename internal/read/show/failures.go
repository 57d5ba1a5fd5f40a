package show

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/failures"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Failures writes the list of Jobs and CronJobs in trouble: one line for each cause, or on a wide page one line for
// each object.
func (p *Page) Failures(f *failures.Failures) error {
	if _, err := fmt.Fprintln(p.Out, wrapped(failuresHead(f, p.Zone), " · ", p.Width)); err != nil || len(f.Items) == 0 {
		return err
	}
	rows := p.causeRows(f)
	if p.Wide {
		rows = p.troubleRows(f)
	}
	several := slices.ContainsFunc(rows, func(r failureRow) bool { return r.jobs > 1 })
	head := []string{"SINCE", "JOB", "TRIES", "WHY"}
	switch {
	case p.Wide:
		head = []string{"SINCE", "JOB", "TRIES", "WHY", "LINEAGE", "UID"}
	case several:
		head = []string{"SINCE", "LAST", "JOB", "JOBS", "WHY"}
	}
	t := p.table(head...)
	t.Fold = true
	day, sort := "", ""
	for i := range rows {
		r := &rows[i]
		x := &f.Items[r.item]
		if d := p.Zone.Day(r.last); d != day || x.Sort != sort {
			day, sort = d, x.Sort
			t.Rule("— " + stateWords[sort] + ", " + d + " —")
		}
		row := []Cell{{Text: p.clockOrDash(r.first, r.last)}, {Text: "-"}, {Text: words.Clean(r.name), Name: true}, {Text: triesOf(x)}, {Text: words.Clean(r.why)}}
		if several {
			row[3].Text = strconv.Itoa(r.jobs)
		}
		if r.jobs > 1 {
			row[1].Text = p.clockOrDash(r.last, r.last)
		}
		if !several {
			row = slices.Delete(row, 1, 2)
		}
		if p.Wide {
			row = append(row, Cell{Text: dash(words.Clean(x.Lineage))}, Cell{Text: words.Clean(x.UID)})
		}
		t.Row(row...)
	}
	return t.Flush()
}

// failureRow is one line of the list of trouble: an object, or all objects with one cause.
type failureRow struct {
	item        int // index in Failures.Items of the Job that the line shows
	first, last events.Time
	jobs        int // number of objects with the same cause
	name, why   string
}

// troubleRows returns a row for each Job and CronJob.
func (p *Page) troubleRows(f *failures.Failures) (rows []failureRow) {
	for i := range f.Items {
		x := &f.Items[i]
		kind := ""
		if x.Kind == "CronJob" {
			kind = x.Kind
		}
		rows = append(rows, failureRow{item: i, first: events.Time(x.Since), last: events.Time(x.Since), jobs: 1, name: p.named(x.Namespace, x.Name, kind), why: p.wholeOr(x.Why, x.Whole)})
	}
	return rows
}

// mostWorks is the largest number of objects that the row of a cause names. It only counts the others.
const mostWorks = 12

// causeRows returns a row for each cause of trouble. The row names the object with the newest trouble; the names of the
// others with the cause follow after the reason.
func (p *Page) causeRows(f *failures.Failures) (rows []failureRow) {
	for i := range f.Causes {
		c := &f.Causes[i]
		// In our own Failures, Item is always an index of Items. In the JSON of a server it may be wrong.
		if c.Item < 0 || c.Item >= len(f.Items) {
			continue
		}
		r := failureRow{item: c.Item, first: events.Time(c.First), last: events.Time(c.Last), jobs: c.Jobs, why: p.wholeOr(f.Items[c.Item].Why, f.Items[c.Item].Whole)}
		if c.Why != "" {
			r.why = c.Why
		}
		for k := range c.Works {
			w := &c.Works[k]
			name := p.named(w.Namespace, w.Name, w.Kind)
			if len(c.Works) > 1 && w.Jobs > 1 {
				name += fmt.Sprintf(" ×%d", w.Jobs)
			}
			switch {
			case k == 0:
				r.name = p.named(w.Namespace, w.Name, w.Kind)
			case k == mostWorks && len(c.Works) > mostWorks+1:
				r.why += fmt.Sprintf(" and %d more (-o wide)", len(c.Works)-mostWorks)
			case k > mostWorks:
			case k == 1:
				r.why += "; likewise " + name
			default:
				r.why += ", " + name
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// named returns a name, with its kind if kind is set. It adds the namespace, unless the page is about one namespace.
func (p *Page) named(namespace, name, kind string) string {
	if p.Namespace == "" {
		name = namespace + "/" + name
	}
	if kind != "" {
		name += " (" + kind + ")"
	}
	return name
}

// triesOf returns how many pods a Job has had; "-" for a CronJob.
func triesOf(x *failures.Trouble) string {
	if x.Kind == "CronJob" {
		return "-"
	}
	return strconv.Itoa(x.Tries)
}

var stateWords = map[string]string{
	failures.SortStuck: "stuck", failures.SortFailed: "failed", failures.SortDeleted: "deleted in trouble",
	failures.SortSurvived: "complete after failures",
}

// failuresHead returns the parts of the list's first line: "STUCK 2 · FAILED 6 in 4 causes · survived 1".
func failuresHead(f *failures.Failures, zone words.Zone) (parts []string) {
	for _, t := range tallies(f) {
		part := fmt.Sprintf("%s %d", t.Label, t.Number)
		if t.Rest != "" {
			part += " " + t.Rest
		}
		parts = append(parts, part)
	}
	return append(parts, failuresRest(f, zone)...)
}

// tallies returns the numbers for the first line of the list: how many Jobs are stuck, how many failed, and so on.
func tallies(f *failures.Failures) []Tally {
	counts, causes := map[string]int{}, map[string]bool{}
	for i := range f.Items {
		counts[f.Items[i].Sort]++
		if f.Items[i].Sort == failures.SortFailed {
			causes[f.Items[i].Cause] = true
		}
	}
	failed := Tally{Sort: failures.SortFailed, Label: "FAILED", Number: counts[failures.SortFailed]}
	if n := len(causes); n > 0 {
		failed.Rest = "in " + words.Count(n, "cause")
	}
	all := []Tally{{Sort: failures.SortStuck, Label: "STUCK", Number: counts[failures.SortStuck]}, failed}
	if n := counts[failures.SortDeleted]; n > 0 {
		all = append(all, Tally{Sort: failures.SortDeleted, Label: "DELETED IN TROUBLE", Number: n})
	}
	if n := counts[failures.SortSurvived]; n > 0 {
		all = append(all, Tally{Sort: failures.SortSurvived, Label: "SURVIVED", Number: n})
	}
	return all
}

// failuresRest says what the numbers in the first line leave out, such as times in which nobody watched the cluster. It
// also says how many Jobs were searched.
func failuresRest(f *failures.Failures, zone words.Zone) (parts []string) {
	for i := range f.Gaps {
		if i == 2 && len(f.Gaps) > 3 {
			parts = append(parts, fmt.Sprintf("and %d gaps more", len(f.Gaps)-2))
			break
		}
		parts = append(parts, gapText(&f.Gaps[i], zone))
	}
	parts = append(parts, passedParts(f.Passed, zone)...)
	if f.More {
		parts = append(parts, "these are the newest: --limit 0 has all")
	}
	if f.AsOf != 0 {
		parts = append(parts, "as of "+zone.Second(events.Time(f.AsOf)))
	}
	looked := "of " + words.Count(f.Looked, "Job")
	if f.CronJobs > 0 {
		looked += " and " + words.Count(f.CronJobs, "CronJob")
	}
	return append(parts, looked)
}

// passedParts says when namespaces were over their log budget (how much they may write an hour), so that records are
// missing: "not all is recorded of namespace ci 12:00:00–12:02:40".
func passedParts(all []history.Passed, zone words.Zone) (parts []string) {
	for i := range all {
		if i == 2 && len(all) > 3 {
			return append(parts, fmt.Sprintf("and %d such times more", len(all)-2))
		}
		of, until := "nodes and namespaces", "now"
		if all[i].Namespace != "" {
			of = "namespace " + words.Clean(all[i].Namespace)
		}
		if all[i].Until != 0 {
			until = zone.In(events.Time(all[i].Until)).Format("15:04:05")
		}
		parts = append(parts, "not all is recorded of "+of+" "+zone.In(events.Time(all[i].From)).Format("15:04:05")+"–"+until)
	}
	return parts
}

// gapText returns a text for a time in which nobody watched the cluster: "gap 12:14:13–12:14:42".
func gapText(g *history.Gap, zone words.Zone) string {
	from, until := events.Time(g.From), events.Time(g.Until)
	switch d := until.Sub(from); {
	case until == 0:
		return "gap " + zone.In(from).Format("15:04:05") + "–now"
	case d < time.Second:
		return "gap " + zone.In(from).Format("15:04:05") + " of " + words.Span(d)
	}
	return "gap " + zone.In(from).Format("15:04:05") + "–" + zone.In(until).Format("15:04:05")
}
