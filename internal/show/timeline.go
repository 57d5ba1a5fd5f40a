package show

import (
	"fmt"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/explain"
	"github.com/jobledger/jobledger/internal/recordjson"
	"github.com/jobledger/jobledger/internal/words"
)

// marksOf are the characters for what time is spent on, those that matter most last: a column shows the last that it holds.
var marksOf = []struct {
	what string
	mark rune
	says string
}{
	{"suspended", 's', "suspended"},
	{"backoff", '░', "backoff"},
	{"scheduling", '·', "being scheduled"},
	{"starting", '▒', "starting"},
	{"stopping", '-', "being stopped"},
	{"running", '█', "running"},
	{"not watched", '╳', "not watched"},
}

const (
	markSucceeded = '✓'
	markFailed    = '✗'
	laneName      = 20 // columns of a name at most
)

// Timeline draws when the tries of a Job did what: one row an index, or a pod of a Job without indexes.
func (p *Page) Timeline(t *explain.Timeline) error {
	if len(t.Rows) == 0 {
		_, err := fmt.Fprintln(p.Out, "The log has no tries of this Job.")
		return err
	}
	width := p.Width
	if width <= 0 {
		width = 100
	}
	name := 10
	for _, lane := range t.Rows {
		name = max(name, min(columns(words.Clean(lane.Name)), laneName))
	}
	n := max(width-name-2, 20)
	each := t.Column(n)
	from, to := events.Time(t.From), events.Time(t.To)
	n = min(n, int((to.Sub(from)+each-1)/each)+1)
	var b strings.Builder
	fmt.Fprintf(&b, "from %s to %s %s, one column is %s\n", p.Zone.In(from).Format("2 Jan 15:04:05"), p.Zone.In(to).Format("15:04:05"), p.Zone.Name(to), each)
	used := map[rune]bool{}
	draw := func(label string, spans []explain.Span, ends []explain.End, empty rune) {
		cells := make([]rune, n)
		for i := range cells {
			cells[i] = empty
		}
		column := func(at recordjson.Instant) int { return max(0, min(n-1, int(events.Time(at).Sub(from)/each))) }
		for _, m := range marksOf {
			for _, s := range spans {
				if s.What != m.what || s.To < t.From {
					continue
				}
				used[m.mark] = true
				for i := column(s.From); i <= column(s.To); i++ {
					cells[i] = m.mark
				}
			}
		}
		for _, e := range ends {
			mark := markFailed
			if e.Succeeded {
				mark = markSucceeded
			}
			used[mark] = true
			cells[column(e.At)] = mark
		}
		fmt.Fprintf(&b, "%s  %s\n", padded(ClipMiddle(words.Clean(label), name), name), strings.TrimRight(string(cells), " "))
	}
	draw("watched", t.Watch, nil, '─')
	for _, lane := range t.Rows {
		draw(lane.Name, append(lane.Spans, t.Watch...), lane.Ends, ' ')
	}
	if t.More > 0 {
		fmt.Fprintf(&b, "and %d more (--limit)\n", t.More)
	}
	var legend []string
	for _, m := range marksOf {
		if used[m.mark] {
			legend = append(legend, string(m.mark)+" "+m.says)
		}
	}
	if used[markSucceeded] {
		legend = append(legend, string(markSucceeded)+" succeeded")
	}
	if used[markFailed] {
		legend = append(legend, string(markFailed)+" failed or gone")
	}
	fmt.Fprintln(&b, wrapped(legend, "   ", width))
	_, err := fmt.Fprint(p.Out, b.String())
	return err
}

func padded(s string, width int) string { return s + strings.Repeat(" ", max(width-columns(s), 0)) }
