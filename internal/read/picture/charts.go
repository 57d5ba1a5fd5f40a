package picture

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Empty returns a picture which says that the log has no pods of the Job.
func Empty(title string) []byte {
	const height = 40
	return []byte(opening(title, height, "") + `<style>` +
		strings.ReplaceAll(Style, "\n", "") + `</style><rect class="jl-back" width="960" height="40"/><text class="jl-mute" x="18" y="24">` +
		quoted(title+": the log has no tries of it") + "</text></svg>\n")
}

// Sizes in the charts, in SVG units: buckets is the number of columns.
const (
	buckets    = 96
	chartLine  = 46.0 // y of the line that completed Jobs stand on, and failed Jobs hang from
	chartBelow = 30.0
	chartAbove = 38.0
)

// Ended draws a chart of the Jobs that ended, in 96 columns of equal time: completed Jobs above a line, failed ones
// below it. Times without a watch of the cluster (gaps) are hatched. The attributes data-from and data-to have the
// bounds, for the script that lets a user select a time window.
func Ended(jobs []history.Summary, gaps []history.Gap, from, to events.Time, zone words.Zone) []byte {
	if to <= from {
		to = from.Add(time.Second)
	}
	c := canvas{used: map[string]bool{}}
	each := max(to.Sub(from)/buckets, 1)
	good, bad, most := endedIn(jobs, from, to, each)
	left, wide := 0.0, width/buckets
	c.unwatched(gaps, from, to, zone)
	c.path("jl-grid", fmt.Sprintf("M0 %sH%s", num(chartLine), num(width)))
	for b := range buckets {
		x := left + wide*float64(b)
		if good[b]+bad[b] == 0 {
			continue
		}
		at := from.Add(each * time.Duration(b))
		c.about(fmt.Sprintf("%s to %s: %d ended, %d of them failed", zone.Clock(at), zone.Clock(at.Add(each)), good[b]+bad[b], bad[b]), 0, func() {
			if n := good[b]; n > 0 {
				high := max(chartAbove*float64(n)/float64(most), 3)
				c.rect("jl-cellok", "", x+1, chartLine-1-high, wide-2, high)
			}
			if n := bad[b]; n > 0 {
				high := max((chartBelow-4)*float64(n)/float64(most), 3)
				c.rect("jl-cellno", "", x+1, chartLine+1, wide-2, high)
			}
		})
	}
	layout := layoutOf(to.Sub(from))
	for i, class := range []string{"jl-small", "jl-mid", "jl-mid", "jl-mid", "jl-end"} {
		at := from.Add(to.Sub(from) / 4 * time.Duration(i))
		c.text(class, width/4*float64(i), chartLine+chartBelow+12, zone.In(at).Format(layout))
	}
	return c.chart("Jobs that ended, those that failed below the line", chartLine+chartBelow+18, fmt.Sprintf(` data-from="%s" data-to="%s"`,
		from.Go().UTC().Format(time.RFC3339), to.Go().UTC().Format(time.RFC3339)))
}

// endedIn counts the Jobs that completed (good) and failed (bad) in each column of the time from..to. most is the
// largest of these numbers, but at least 1.
func endedIn(
	jobs []history.Summary, from, to events.Time, each time.Duration,
) (good, bad [buckets]int, most int) {
	most = 1
	for i := range jobs {
		j := &jobs[i]
		at := events.Time(j.Finished)
		if at < from || at > to || j.Finished == 0 {
			continue
		}
		b := min(int(at.Sub(from)/each), buckets-1)
		if j.State == history.StateFailed {
			bad[b]++
		} else {
			good[b]++
		}
		most = max(most, good[b], bad[b])
	}
	return good, bad, most
}

// unwatched hatches the times in which nobody watched the cluster.
func (c *canvas) unwatched(gaps []history.Gap, from, to events.Time, zone words.Zone) {
	for i := range gaps {
		g := &gaps[i]
		until := events.Time(g.Until)
		if until == 0 {
			until = to
		}
		if until < from || events.Time(g.From) > to {
			continue
		}
		x := width * float64(max(events.Time(g.From), from).Sub(from)) / float64(to.Sub(from))
		end := width * float64(min(until, to).Sub(from)) / float64(to.Sub(from))
		c.about("not watched "+zone.Clock(events.Time(g.From))+" to "+zone.Clock(until), 0, func() {
			c.rect("jl-gapedge", "unwatched", x, 6, max(end-x, 3), chartLine+chartBelow-8)
		})
	}
}

// layoutOf returns the format for the times below a chart, depending on the time that it covers.
func layoutOf(length time.Duration) string {
	switch {
	case length > 26*time.Hour:
		return "2 Jan 15:04"
	case length < 10*time.Minute:
		return "15:04:05"
	}
	return "15:04"
}

// Runs draws how long Jobs took, the oldest first: a bar for each Job, which is a link. A failed Job has a cross, a
// running one a pattern. For a Job that was deleted before its end there is only a mark, since its duration is not
// known.
func Runs(jobs []history.Summary, address func(*history.Summary) string, zone words.Zone) []byte {
	if len(jobs) == 0 {
		return nil
	}
	jobs = slices.Clone(jobs)
	slices.Reverse(jobs)
	c := canvas{used: map[string]bool{}}
	longest := time.Second
	took := func(j *history.Summary) time.Duration {
		if j.Started == 0 || j.Finished == 0 {
			return 0
		}
		return max(events.Time(j.Finished).Sub(events.Time(j.Started)), 0)
	}
	for i := range jobs {
		longest = max(longest, took(&jobs[i]))
	}
	const base, high = 74.0, 54.0
	wide := min(width/float64(max(len(jobs), 1)), 26)
	c.path("jl-grid", fmt.Sprintf("M0 %sH%s", num(base), num(width)))
	for i := range jobs {
		j := &jobs[i]
		x, d := wide*float64(i), took(j)
		title := j.Namespace + "/" + j.Name + " " + string(j.State) + ", created " + zone.Second(events.Time(j.Created))
		if j.Finished != 0 {
			title += ", took " + words.Span(d)
		}
		fmt.Fprintf(&c.b, `<a href="%s"><title>%s</title>`, quoted(address(j)), quoted(title))
		tall := max(high*float64(d)/float64(longest), 3)
		switch {
		case j.Finished == 0 && j.Gone:
			c.path("jl-whisker", fmt.Sprintf("M%s %sh%s", num(x+1.5), num(base-1), num(wide-3)))
		case j.Finished == 0:
			c.rect("jl-edge", "scheduling", x+1.5, base-high, wide-3, high)
		case j.State == history.StateFailed:
			c.rect("jl-cellno", "", x+1.5, base-tall, wide-3, tall)
			c.ending(false, x+wide/2, base+11)
		default:
			c.rect("jl-running", "", x+1.5, base-tall, wide-3, tall)
		}
		c.b.WriteString("</a>\n")
	}
	c.text("jl-small", 0, 12, "longest "+words.Span(longest))
	return c.chart("how long the newest runs took", base+22, "")
}

// chart returns the finished picture as SVG.
func (c *canvas) chart(label string, height float64, attributes string) []byte {
	return []byte(opening(label, height, attributes) + "\n" + patterns + c.b.String() + "</svg>\n")
}
