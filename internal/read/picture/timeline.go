package picture

import (
	"fmt"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/attempts"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Options say how to draw a picture. The zero value is for a page whose style sheet includes Style.
type Options struct {
	Alone  bool                       // the picture contains its own style sheet, so that it can be a file
	Title  string                     // label for screen readers
	Record func(record uint64) string // returns the address of a record, by its number; nil for no links
	Zone   words.Zone                 // time zone of the times
	Page   int                        // which page of rows to draw, from 0; a page has MostLanes rows
}

// MostLanes is the largest number of rows (an index, or a pod) on a page of the picture. If a Job has more, the rows
// that succeeded at the first try are drawn as one line, and the others on several pages.
const MostLanes = 200

// Sizes in the picture, in SVG units.
const (
	width     = 960.0
	gutter    = 132.0 // width of the names of the rows, on the left
	margin    = 18.0
	laneAt    = 22.0 // distance between two rows
	barHeight = 11.0
	nameChars = 19
)

// Timeline draws the timeline of a Job as SVG. It returns nil if the log has no pod of the Job.
func Timeline(t *attempts.Timeline, options Options) []byte {
	if len(t.Rows) == 0 || t.From == 0 {
		return nil
	}
	d := drawing{canvas: canvas{options: options, used: map[string]bool{}}, t: t, scale: scaleOf(t, gutter, width-margin)}
	rows, folded := fold(t)
	rows = d.turn(rows)
	d.top(len(rows), folded)
	d.wanted()
	d.watched()
	d.marks()
	if folded != nil {
		d.strip(folded)
	}
	for i := range rows {
		d.lane(rows[i])
	}
	d.folds()
	d.legend()
	return d.whole()
}

// drawing is a picture while it is drawn, from top to bottom.
type drawing struct {
	canvas
	t      *attempts.Timeline
	scale  scale
	y      float64 // middle of the row to draw next
	first  float64 // y of the top of the first row
	bottom float64 // y of the bottom of the last row
	cut    string  // says which rows are on this page; empty if all are
}

func (d *drawing) name(text, whole string) {
	if whole == "" {
		d.text("jl-mute jl-name", gutter-10, d.y+4, text)
		return
	}
	fmt.Fprintf(&d.b, `<text class="jl-name" x="%s" y="%s"><title>%s</title>%s</text>`, num(gutter-10), num(d.y+4), quoted(whole), quoted(text))
}

// top draws the header and the background: a label and a line for each time on the axis, and hatches where nobody
// watched the cluster. lanes is the number of rows.
func (d *drawing) top(lanes int, folded *alike) {
	rows := float64(lanes) + 1 // one more row than lanes: it shows when the cluster was watched
	if len(d.t.Wanted) > 0 {
		rows++
	}
	if len(d.t.Marks) > 0 {
		rows++
	}
	if folded != nil {
		rows += 2
	}
	d.first, d.y = 26, 26+laneAt/2
	d.bottom = d.first + rows*laneAt
	zone := d.options.Zone
	ticks, step := d.scale.ticks()
	layout := "15:04:05"
	switch {
	case step >= 24*time.Hour:
		layout = "2 Jan"
	case step >= time.Minute:
		layout = "15:04"
	case step < time.Second:
		layout = "15:04:05.00"
	}
	day := ""
	for _, at := range ticks {
		x := d.scale.at(at)
		label := zone.In(at).Format(layout)
		if of := zone.In(at).Format("2 Jan "); of != day && layout != "2 Jan" {
			if day != "" {
				label = of + label
			}
			day = of
		}
		d.path("jl-grid", fmt.Sprintf("M%s %sV%s", num(x), num(d.first-4), num(d.bottom)))
		d.text("jl-mid", min(max(x, gutter+24), width-36), 14, label)
	}
	from := events.Time(d.t.From)
	d.text("jl-end", gutter-10, 14, zone.In(from).Format("2 Jan 2006 ")+zone.Name(from))
	d.b.WriteString("\n")
	for i := range d.t.Watch {
		g := &d.t.Watch[i]
		d.used["not watched"] = true
		d.about("not watched "+d.between(g), 0, func() {
			x := d.scale.at(events.Time(g.From))
			d.rect("jl-gapedge", "unwatched", x, d.first, d.scale.at(events.Time(g.To))-x, d.bottom-d.first)
		})
	}
}

// between returns the text for a tooltip: when a span begins and ends, and its length.
func (d *drawing) between(s *attempts.Span) string {
	from, to := events.Time(s.From), events.Time(s.To)
	return d.clock(from) + " to " + d.clock(to) + " (" + words.Span(to.Sub(from)) + ")"
}

func (d *drawing) clock(t events.Time) string { return d.options.Zone.Clock(t) }

// wanted draws a row with the number of pods that the Job wanted over time.
func (d *drawing) wanted() {
	if len(d.t.Wanted) == 0 {
		return
	}
	d.name("wanted", "")
	most := int32(1)
	for _, w := range d.t.Wanted {
		most = max(most, w.Pods)
	}
	base := d.y + barHeight/2 + 2
	said := int32(-1)
	for i := range d.t.Wanted {
		w := &d.t.Wanted[i]
		x, to := d.scale.at(events.Time(w.From)), d.scale.at(events.Time(w.To))
		high := (barHeight + 3) * float64(w.Pods) / float64(most)
		title := fmt.Sprintf("%s wanted at a time, from %s", words.Count(int(w.Pods), "pod"), d.clock(events.Time(w.From)))
		if w.Suspended {
			title = "suspended from " + d.clock(events.Time(w.From)) + " to " + d.clock(events.Time(w.To))
		}
		d.about(title, w.Record, func() {
			if w.Suspended {
				d.used["suspended"] = true
				d.rect("jl-edge", "suspended", x, d.y-barHeight/2, to-x, barHeight)
				return
			}
			d.rect("jl-wantfill", "", x, base-high, to-x, high)
			d.path("jl-want", fmt.Sprintf("M%s %sH%s", num(x), num(base-high), num(to)))
		})
		if !w.Suspended && w.Pods != said && to-x > 14 {
			d.text("jl-small", x+4, d.y+6, fmt.Sprint(w.Pods))
			said = w.Pods
		}
	}
	d.y += laneAt
}

// watched draws a row that says when the cluster was watched: a line, with breaks where nobody watched.
func (d *drawing) watched() {
	d.name("watched", "")
	at := d.scale.at(events.Time(d.t.From))
	for i := range d.t.Watch {
		if x := d.scale.at(events.Time(d.t.Watch[i].From)); x > at {
			d.path("jl-watch", fmt.Sprintf("M%s %sH%s", num(at), num(d.y), num(x)))
		}
		at = max(at, d.scale.at(events.Time(d.t.Watch[i].To)))
	}
	if end := width - margin; end > at {
		d.path("jl-watch", fmt.Sprintf("M%s %sH%s", num(at), num(d.y), num(end)))
	}
	d.b.WriteString("\n")
	d.y += laneAt
}

// marks draws edits of the Job and decisions about it. Each has a line through all rows.
func (d *drawing) marks() {
	if len(d.t.Marks) == 0 {
		return
	}
	d.name("edits, decisions", "")
	for i := range d.t.Marks {
		m := &d.t.Marks[i]
		x := d.scale.at(events.Time(m.At))
		d.used[m.What] = true
		d.about(m.What+" "+d.clock(events.Time(m.At))+": "+m.Says, m.Record, func() {
			d.path("jl-mark", fmt.Sprintf("M%s %sV%s", num(x), num(d.y+5), num(d.bottom)))
			d.instant(m.What, x, d.y)
		})
	}
	d.y += laneAt
}

// instant draws a ring for an edit, a diamond for a decision.
func (d *drawing) instant(what string, x, y float64) {
	if what == attempts.InstantEdited {
		fmt.Fprintf(&d.b, `<circle class="jl-edited" cx="%s" cy="%s" r="3.8"/>`, num(x), num(y))
		return
	}
	d.path("jl-decided", fmt.Sprintf("M%s %sl4.6 4.6l-4.6 4.6l-4.6 -4.6z", num(x), num(y-4.6)))
}

// folds draws a sign, with a duration, for each time in which nothing happened and which is drawn narrow.
func (d *drawing) folds() {
	for _, p := range d.scale.pieces {
		if !p.folded {
			continue
		}
		d.used["fold"] = true
		x := (p.left + p.right) / 2
		d.about("nothing to show for "+words.Span(p.length()), 0, func() {
			d.rect("jl-foldback", "", p.left+4, d.first-2, foldWidth-8, d.bottom-d.first+4)
			for _, at := range []float64{x - 4, x + 4} {
				line := fmt.Sprintf("M%s %s", num(at), num(d.first))
				for y, way := d.first, 3.0; y < d.bottom; y, way = y+6, -way {
					line += fmt.Sprintf("l%s 3l%s 3", num2(way), num2(-way))
				}
				d.path("jl-fold", line)
			}
		})
		d.text("jl-mid", x, d.bottom+14, words.Span(p.length()))
	}
	d.bottom += 20
}

// num2 formats a coordinate like num; it may be negative.
func num2(x float64) string {
	if x < 0 {
		return "-" + num(-x)
	}
	return num(x)
}

// laneName returns the label of a row.
func laneName(l *attempts.Lane) string {
	if l.Index == nil && l.Try > 0 {
		return fmt.Sprintf("try %d", l.Try)
	}
	return show.ClipMiddle(words.Clean(l.Name), nameChars)
}
