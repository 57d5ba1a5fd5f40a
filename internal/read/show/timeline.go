package show

import (
	"fmt"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
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
		_, err := fmt.Fprintln(p.Out, strings.Join(append([]string{"The log has no tries of this Job."}, p.passedLines(t)...), "\n"))
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
	for _, line := range p.passedLines(t) {
		fmt.Fprintln(&b, line)
	}
	_, err := fmt.Fprint(p.Out, b.String())
	return err
}

// passedLines say what may be missing in a timeline, because it was not recorded or is there no longer.
func (p *Page) passedLines(t *explain.Timeline) (lines []string) {
	if t.Truncated {
		lines = append(lines, "the first records of the Job are not in the log: what its pods did then is not drawn")
	}
	for i := range t.Passed {
		lines = append(lines, "not all is recorded "+Passed(&t.Passed[i], p.Zone))
	}
	if t.Unrecorded > 0 {
		lines = append(lines, fmt.Sprintf("%s of the Job and its pods not recorded: too many in a short time", words.Count(int(t.Unrecorded), "version")))
	}
	return lines
}

// Passed says from when to when something was passed over, and what: "from … to …: namespace ci was over its budget of log. …".
func Passed(x *history.Passed, zone words.Zone) string {
	end := "on"
	if x.Until != 0 {
		end = "to " + zone.Moment(events.Time(x.Until))
	}
	return fmt.Sprintf("from %s %s: %s", zone.Moment(events.Time(x.From)), end, words.Clean(x.Text(zone.Moment)))
}

func padded(s string, width int) string { return s + strings.Repeat(" ", max(width-columns(s), 0)) }
