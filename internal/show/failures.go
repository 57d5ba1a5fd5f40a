package show

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/explain"
	"github.com/jobledger/jobledger/internal/words"
)

// Failures writes a list of Jobs in trouble.
func (p *Page) Failures(f *explain.Failures) error {
	if _, err := fmt.Fprintln(p.Out, failuresHead(f, p.Zone)); err != nil || len(f.Items) == 0 {
		return err
	}
	head := []string{"SINCE", "JOB", "TRIES", "WHY"}
	if p.Wide {
		head = append(head, "LINEAGE", "UID")
	}
	t := &Table{Out: p.Out, Head: head, Width: p.Width, Whole: p.Whole, Colour: p.Colour}
	day, sort := "", ""
	for i := range f.Items {
		x := &f.Items[i]
		at := events.Time(x.Since)
		if d := p.Zone.Day(at); d != day || x.Sort != sort {
			day, sort = d, x.Sort
			t.Rule("— " + stateWords[sort] + ", " + d + " —")
		}
		why := x.Why
		if x.Also > 0 {
			why += fmt.Sprintf(" (+%d alike)", x.Also)
		}
		name := x.Namespace + "/" + x.Name
		if p.Namespace != "" {
			name = x.Name
		}
		row := []Cell{
			{Text: p.Zone.In(at).Format("15:04:05")}, {Text: words.Clean(name), Name: true}, {Text: strconv.Itoa(x.Tries)}, {Text: words.Clean(why)},
		}
		if p.Wide {
			row = append(row, Cell{Text: dash(words.Clean(x.Lineage))}, Cell{Text: words.Clean(x.UID)})
		}
		t.Row(row...)
	}
	return t.Flush()
}

var stateWords = map[string]string{explain.SortStuck: "stuck", explain.SortFailed: "failed", explain.SortSurvived: "complete after failures"}

// failuresHead sums up the list: "STUCK 2 · FAILED 6 in 4 causes · survived 1".
func failuresHead(f *explain.Failures, zone words.Zone) string {
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
		g := &f.Gaps[i]
		until := "now"
		if g.Until != 0 {
			until = zone.In(events.Time(g.Until)).Format("15:04:05")
		}
		if i == 2 && len(f.Gaps) > 3 {
			parts = append(parts, fmt.Sprintf("and %d gaps more", len(f.Gaps)-2))
			break
		}
		parts = append(parts, "gap "+zone.In(events.Time(g.From)).Format("15:04:05")+"–"+until)
	}
	looked := "of " + words.Count(f.Looked, "Job")
	if f.More {
		looked += " (the newest; --limit looks at more)"
	}
	return strings.Join(append(parts, looked), " · ")
}
