package show

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/explain"
	"github.com/jobledger/jobledger/internal/history"
	"github.com/jobledger/jobledger/internal/words"
)

// Failures writes a list of Jobs in trouble.
func (p *Page) Failures(f *explain.Failures) error {
	if _, err := fmt.Fprintln(p.Out, wrapped(failuresHead(f, p.Zone), " · ", p.Width)); err != nil || len(f.Items) == 0 {
		return err
	}
	head := []string{"SINCE", "JOB", "TRIES"}
	alike := slices.ContainsFunc(f.Items, func(x explain.Trouble) bool { return x.Also > 0 })
	if alike {
		head = append(head, "ALIKE")
	}
	head = append(head, "WHY")
	if p.Wide {
		head = append(head, "LINEAGE", "UID")
	}
	t := p.table(head...)
	t.Fold = true
	day, sort := "", ""
	for i := range f.Items {
		x := &f.Items[i]
		at := events.Time(x.Since)
		if d := p.Zone.Day(at); d != day || x.Sort != sort {
			day, sort = d, x.Sort
			t.Rule("— " + stateWords[sort] + ", " + d + " —")
		}
		name := x.Namespace + "/" + x.Name
		if p.Namespace != "" {
			name = x.Name
		}
		row := []Cell{{Text: p.Zone.In(at).Format("15:04:05")}, {Text: words.Clean(name), Name: true}, {Text: strconv.Itoa(x.Tries)}}
		switch {
		case x.Also > 0:
			row = append(row, Cell{Text: "+" + strconv.Itoa(x.Also)})
		case alike:
			row = append(row, Cell{Text: "-"})
		}
		row = append(row, Cell{Text: words.Clean(x.Why)})
		if p.Wide {
			row = append(row, Cell{Text: dash(words.Clean(x.Lineage))}, Cell{Text: words.Clean(x.UID)})
		}
		t.Row(row...)
	}
	return t.Flush()
}

var stateWords = map[string]string{explain.SortStuck: "stuck", explain.SortFailed: "failed", explain.SortSurvived: "complete after failures"}

// failuresHead sums up the list: "STUCK 2 · FAILED 6 in 4 causes · survived 1".
func failuresHead(f *explain.Failures, zone words.Zone) []string {
	counts, causes := map[string]int{}, map[string]bool{}
	for i := range f.Items {
		counts[f.Items[i].Sort]++
		if f.Items[i].Sort == explain.SortFailed {
			causes[f.Items[i].Cause] = true
		}
	}
	parts := []string{fmt.Sprintf("STUCK %d", counts[explain.SortStuck]), fmt.Sprintf("FAILED %d", counts[explain.SortFailed])}
	if n := len(causes); n > 0 {
		parts[1] += " in " + words.Count(n, "cause")
	}
	if n := counts[explain.SortSurvived]; n > 0 {
		parts = append(parts, fmt.Sprintf("SURVIVED %d", n))
	}
	for i := range f.Gaps {
		if i == 2 && len(f.Gaps) > 3 {
			parts = append(parts, fmt.Sprintf("and %d gaps more", len(f.Gaps)-2))
			break
		}
		parts = append(parts, gapText(&f.Gaps[i], zone))
	}
	parts = append(parts, passedParts(f.Passed, zone)...)
	looked := "of " + words.Count(f.Looked, "Job")
	if f.More {
		looked += " (the newest; --limit looks at more)"
	}
	return append(parts, looked)
}

// passedParts says in which namespaces not all is recorded, and when: "not all is recorded of namespace ci 12:00:00–12:02:40".
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

// gapText says when nobody watched: "gap 12:14:13–12:14:42".
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
