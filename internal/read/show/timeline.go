package show

import (
	"fmt"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/attempts"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
)

// marksOf lists the characters of a timeline and what they stand for. If several apply to one column, the one that
// stands last in this list is drawn.
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
	laneName      = 20 // largest width of the name before a row, in characters
)

// Timeline draws the tries of a Job (a try: one pod, from creation to end) over time. There is a row for each index, or
// for each pod if the Job has no indexes.
func (p *Page) Timeline(t *attempts.Timeline) error {
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
	l := lanes{b: &b, t: t, used: map[rune]bool{}, name: name, columns: n, each: each}
	l.draw("watched", t.Watch, nil, '─')
	for _, lane := range t.Rows {
		l.draw(lane.Name, append(lane.Spans, t.Watch...), lane.Ends, ' ')
	}
	if t.More > 0 {
		fmt.Fprintf(&b, "and %d more (--limit)\n", t.More)
	}
	fmt.Fprintln(&b, wrapped(l.legend(), "   ", width))
	for _, line := range p.passedLines(t) {
		fmt.Fprintln(&b, line)
	}
	_, err := fmt.Fprint(p.Out, b.String())
	return err
}

// lanes draws the rows of a timeline.
type lanes struct {
	b             *strings.Builder
	t             *attempts.Timeline
	used          map[rune]bool // characters that were drawn
	name, columns int           // widths of the names and of the drawing, in columns
	each          time.Duration // time that one column stands for
}

// column returns the column of the drawing that stands for a time.
func (l *lanes) column(at recordjson.Instant) int {
	return max(0, min(l.columns-1, int(events.Time(at).Sub(events.Time(l.t.From))/l.each)))
}

// draw writes one row: its name (label), the time spans, and the ends of tries. empty is the character for a column in
// which nothing happened.
func (l *lanes) draw(label string, spans []attempts.Span, ends []attempts.End, empty rune) {
	cells := make([]rune, l.columns)
	for i := range cells {
		cells[i] = empty
	}
	for _, m := range marksOf {
		for _, s := range spans {
			if s.What != m.what || s.To < l.t.From {
				continue
			}
			l.used[m.mark] = true
			for i := l.column(s.From); i <= l.column(s.To); i++ {
				cells[i] = m.mark
			}
		}
	}
	for _, e := range ends {
		mark := markFailed
		if e.Succeeded {
			mark = markSucceeded
		}
		l.used[mark] = true
		cells[l.column(e.At)] = mark
	}
	fmt.Fprintf(l.b, "%s  %s\n", padded(ClipMiddle(words.Clean(label), l.name), l.name), strings.TrimRight(string(cells), " "))
}

// legend explains each character that was drawn.
func (l *lanes) legend() (says []string) {
	for _, m := range marksOf {
		if l.used[m.mark] {
			says = append(says, string(m.mark)+" "+m.says)
		}
	}
	if l.used[markSucceeded] {
		says = append(says, string(markSucceeded)+" succeeded")
	}
	if l.used[markFailed] {
		says = append(says, string(markFailed)+" failed or gone")
	}
	return says
}

// passedLines says what is missing in a timeline because it was never recorded, or because the log no longer has it.
func (p *Page) passedLines(t *attempts.Timeline) (lines []string) {
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

// Passed says when and how many versions of objects were not recorded. The reason is that a namespace was over its log
// budget (how much it may write an hour): "from … to …: namespace ci was over its budget of log. …".
func Passed(x *history.Passed, zone words.Zone) string {
	end := "on"
	if x.Until != 0 {
		end = "to " + zone.Moment(events.Time(x.Until))
	}
	return fmt.Sprintf("from %s %s: %s", zone.Moment(events.Time(x.From)), end, words.Clean(x.Text(zone.Moment)))
}

func padded(s string, width int) string { return s + strings.Repeat(" ", max(width-columns(s), 0)) }
