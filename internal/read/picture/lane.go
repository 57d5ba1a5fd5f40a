package picture

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/attempts"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/say/words"
)

// patternOf has the pattern that fills a bar, by what the bar stands for. The other bars have a plain colour.
var patternOf = map[string]string{
	"starting": "starting", "scheduling": "scheduling", "creating": "creating", "stopping": "stopping", "backoff": "backoff", "suspended": "suspended",
	"not watched": "unwatched",
}

// lane draws one row: what happened when to one index of the Job, or to one pod.
func (d *drawing) lane(l *attempts.Lane) {
	d.name(laneName(l), l.Name)
	for i := range l.Spans {
		s := &l.Spans[i]
		if s.To < d.t.From || s.What == "not watched" {
			continue
		}
		if d.scale.at(events.Time(s.To))-d.scale.at(events.Time(s.From)) >= leastSeen {
			d.used[s.What] = true
		}
		d.about(d.whose(l, s.Of)+show.SpanSays(s.What)+" "+d.between(s), s.Record, func() {
			x, high := d.scale.at(events.Time(s.From)), barHeight
			class := "jl-edge"
			switch s.What {
			case "running":
				class = "jl-running"
			case "backoff":
				high = barHeight - 5
			}
			d.rect(class, patternOf[s.What], x, d.y-high/2, d.scale.at(events.Time(s.To))-x, high)
		})
	}
	for i := range l.Ends {
		d.end(l, &l.Ends[i])
	}
	d.y += laneAt
}

// leastSeen is the width from which the legend explains a bar; narrower ones are hardly visible.
const leastSeen = 3

// whose returns the beginning of a tooltip, with the pod and the number of the try: "etl-x7f2k, try 2: ".
func (*drawing) whose(l *attempts.Lane, of attempts.Of) string {
	name := of.Pod
	if name == "" {
		name = l.Name
	}
	if of.Try > 0 {
		return fmt.Sprintf("%s, try %d: ", name, of.Try)
	}
	return name + ": "
}

// end draws the mark for the end of a try (one pod). If the exact time is not known, it draws a line over the time in
// which the try may have ended.
func (d *drawing) end(l *attempts.Lane, e *attempts.End) {
	x := d.scale.at(events.Time(e.At))
	how := "failed or gone"
	if e.Succeeded {
		how = "succeeded"
	}
	d.used[how] = true
	title := d.whose(l, e.Of) + how + " " + d.clock(events.Time(e.At))
	if e.How != "" {
		title += ": " + e.How
	}
	if e.Earliest != 0 {
		title += "; it ended between " + d.clock(events.Time(e.Earliest)) + " and " + d.clock(events.Time(e.At))
	}
	d.about(title, e.Record, func() {
		if from := d.scale.at(events.Time(e.Earliest)); e.Earliest != 0 && x-from > 8 {
			d.used["bounds"] = true
			d.whisker(from, x-6)
		}
		fmt.Fprintf(&d.b, `<circle class="jl-halo" cx="%s" cy="%s" r="7"/>`, num(x), num(d.y))
		d.ending(e.Succeeded, x, d.y)
	})
}

// ending draws a tick if a try succeeded, otherwise a cross.
func (c *canvas) ending(succeeded bool, x, y float64) {
	if succeeded {
		c.path("jl-ok", fmt.Sprintf("M%s %sl3 3.2l5.6 -6.8", num(x-4.2), num(y+0.4)))
		return
	}
	c.path("jl-no", fmt.Sprintf("M%s %sl7 7m0 -7l-7 7", num(x-3.5), num(y-3.5)))
}

func (d *drawing) whisker(from, to float64) {
	d.path("jl-whisker", fmt.Sprintf("M%s %sv8M%s %sH%s", num(from), num(d.y-4), num(from), num(d.y), num(to)))
}

// legendOrder has all kinds of marks in the order of the legend. The legend explains only those that were drawn.
var legendOrder = []struct{ what, says string }{
	{"creating", ""}, {"scheduling", ""}, {"starting", ""}, {"running", ""}, {"stopping", ""}, {"backoff", ""}, {"suspended", ""},
	{"not watched", ""}, {"succeeded", "succeeded"}, {"failed or gone", "failed or gone"}, {"bounds", "ended within"},
	{attempts.InstantEdited, "edited"}, {attempts.InstantDecided, "decided"},
}

// legend draws the legend, and below it the lines of missing: what the picture does not show.
func (d *drawing) legend() {
	const swatch = 18.0
	y, x := d.bottom+10, gutter
	for _, sign := range legendOrder {
		if !d.used[sign.what] {
			continue
		}
		says := sign.says
		if says == "" {
			says = show.SpanSays(sign.what)
		}
		room := swatch + 8 + 6.4*float64(len(says)) + 16
		if x+room > width-margin {
			x, y = gutter, y+18
		}
		switch {
		case sign.what == "succeeded" || sign.what == "failed or gone":
			d.ending(sign.what == "succeeded", x+swatch/2, y)
		case sign.what == attempts.InstantEdited || sign.what == attempts.InstantDecided:
			d.instant(sign.what, x+swatch/2, y)
		case sign.what == "bounds":
			d.path("jl-whisker", fmt.Sprintf("M%s %sv8M%s %sH%s", num(x+2), num(y-4), num(x+2), num(y), num(x+swatch)))
		case sign.what == "running":
			d.rect("jl-running", "", x, y-4, swatch, 8)
		default:
			d.rect("jl-edge", patternOf[sign.what], x, y-4, swatch, 8)
		}
		d.text("jl-small", x+swatch+6, y+4, says)
		x += room
	}
	for _, line := range d.missing() {
		y += 18
		d.text("jl-small", gutter, y+4, line)
	}
	d.bottom = y + 12
}

// missing returns lines that say what the picture does not show: the rows on other pages, and what the log lacks.
func (d *drawing) missing() (lines []string) {
	t := d.t
	if d.cut != "" {
		lines = append(lines, d.cut)
	}
	if t.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more, which are not drawn", t.More))
	}
	return append(lines, show.TimelineLacks(t, d.options.Zone)...)
}

// whole returns the finished picture as SVG. Call it last, since it needs the height of all rows.
func (d *drawing) whole() []byte {
	var b strings.Builder
	height := num(d.bottom)
	title := d.options.Title
	if title == "" {
		title = "timeline"
	}
	b.WriteString(opening(title, d.bottom, "") + "\n")
	if d.options.Alone {
		b.WriteString("<style>" + strings.ReplaceAll(Style, "\n", "") + "</style>\n")
	}
	b.WriteString(patterns)
	if d.options.Alone {
		fmt.Fprintf(&b, `<rect class="jl-back" width="%s" height="%s"/>`+"\n", num(width), height)
	}
	b.WriteString(d.b.String())
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// alike has the rows that are drawn as one line, because each has a single try, which succeeded.
type alike struct {
	lanes []*attempts.Lane
	all   []*attempts.Lane // all rows of the timeline, in order
}

// says returns the text for the rows that are drawn as one line: "9871 indexes succeeded at the first try, 2s to 9s
// each".
func (a *alike) says() string {
	shortest, longest := events.Time(0), events.Time(0)
	for i, l := range a.lanes {
		s := l.Spans
		d := events.Time(s[len(s)-1].To - s[0].From)
		if i == 0 {
			shortest = d
		}
		shortest, longest = min(shortest, d), max(longest, d)
	}
	what := "try"
	if a.lanes[0].Index != nil {
		what = "index"
	}
	return fmt.Sprintf("%s succeeded at the first try, %s to %s each", plural(len(a.lanes), what), words.Span(shortest.Sub(0)), words.Span(longest.Sub(0)))
}

func plural(n int, what string) string {
	if what == "index" {
		return fmt.Sprintf("%d indexes", n)
	}
	return fmt.Sprintf("%d tries", n)
}

// fold decides which rows are drawn one by one (told), and which are drawn together as one line (folded). Up to
// MostLanes rows are all drawn. If there are more, rows with a single try that succeeded are folded, and of the others,
// those with a failed try come first.
func fold(t *attempts.Timeline) (told []*attempts.Lane, folded *alike) {
	for i := range t.Rows {
		told = append(told, &t.Rows[i])
	}
	if len(told) <= MostLanes {
		return told, nil
	}
	folded = &alike{all: told}
	var failed, others []*attempts.Lane
	for _, l := range told {
		switch {
		case len(l.Ends) == 1 && l.Ends[0].Succeeded && l.Ends[0].Earliest == 0 && len(l.Spans) > 0:
			folded.lanes = append(folded.lanes, l)
		case slices.ContainsFunc(l.Ends, func(e attempts.End) bool { return !e.Succeeded }):
			failed = append(failed, l)
		default:
			others = append(others, l)
		}
	}
	return slices.Concat(failed, others), folded
}

// Pages returns how many pages the rows of a timeline need, at least 1; a page has MostLanes rows.
func Pages(t *attempts.Timeline) int {
	told, _ := fold(t)
	return max((len(told)+MostLanes-1)/MostLanes, 1)
}

// Lanes returns the numbers of the first and the last row on a page; rows count from 1, pages from 0. told is the
// number of rows on all pages.
func Lanes(page, told int) (first, last int) {
	return page*MostLanes + 1, min((page+1)*MostLanes, told)
}

// turn returns the rows of the page in Options.Page, or of the last page if there are fewer.
func (d *drawing) turn(told []*attempts.Lane) []*attempts.Lane {
	pages := max((len(told)+MostLanes-1)/MostLanes, 1)
	first, last := Lanes(min(max(d.options.Page, 0), pages-1), len(told))
	if pages > 1 {
		d.cut = fmt.Sprintf("lanes %d to %d of %d; those with a try that failed are first", first, last, len(told))
	}
	return told[first-1 : last]
}

// strip draws a small cell for each row, and below the cells the line that sums up the rows which succeeded at the
// first try.
func (d *drawing) strip(a *alike) {
	d.name("all", "")
	const most = 400
	n := min(len(a.all), most)
	each := (width - margin - gutter) / float64(n)
	for i := range n {
		from, to := i*len(a.all)/n, (i+1)*len(a.all)/n
		class := "jl-cellok"
		for _, l := range a.all[from:to] {
			switch {
			case len(l.Ends) == 0 && class == "jl-cellok":
				class = "jl-cellrun"
			case len(l.Ends) > 0 && !l.Ends[len(l.Ends)-1].Succeeded:
				class = "jl-cellno"
			}
		}
		high := barHeight
		if class == "jl-cellno" {
			high += 5 // a failed row gets a taller cell, so that it is visible without colour
		}
		d.rect(class, "", gutter+each*float64(i), d.y-high/2, max(each-0.5, 0.8), high)
	}
	d.b.WriteString("\n")
	d.y += laneAt
	if len(a.lanes) > 0 {
		d.text("jl-small", gutter, d.y+4, a.says())
	}
	d.y += laneAt
}
