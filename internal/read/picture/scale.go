package picture

import (
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/attempts"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// span is a time span.
type span struct{ from, to events.Time }

// piece is a part of the scale: a span of time and its left and right x coordinates. If it is folded (nothing is drawn
// in it), its width is foldWidth, however long it is.
type piece struct {
	span
	left, right float64
	folded      bool
}

// scale maps times to x coordinates. Its pieces follow each other without gaps.
type scale struct{ pieces []piece }

const (
	foldWidth = 30.0
	// foldFrom: a time in which nothing is drawn is folded if it is longer than 1/6 of the timeline, and longer than a
	// second. For example, in a timeline of one hour, pauses of more than 10 minutes are folded.
	foldFrom  = 6
	leastFold = time.Second
	// around: 1/60 of the timeline stays unfolded on each side of a fold.
	around = 60
)

// scaleOf returns the scale of a timeline that fills the x coordinates from left to right.
func scaleOf(t *attempts.Timeline, left, right float64) scale {
	whole := span{events.Time(t.From), max(events.Time(t.To), events.Time(t.From)+events.Time(time.Millisecond))}
	folds := idle(t, whole)
	open := whole.length()
	for _, f := range folds {
		open -= f.length()
	}
	each := (right - left - foldWidth*float64(len(folds))) / float64(max(open, 1))
	var s scale
	at, x := whole.from, left
	add := func(to events.Time, width float64, folded bool) {
		if to > at {
			s.pieces = append(s.pieces, piece{span{at, to}, x, x + width, folded})
			at, x = to, x+width
		}
	}
	for _, f := range folds {
		add(f.from, each*float64(f.from.Sub(at)), false)
		add(f.to, foldWidth, true)
	}
	add(whole.to, each*float64(whole.to.Sub(at)), false)
	return s
}

func (s span) length() time.Duration { return s.to.Sub(s.from) }

// at returns the x coordinate of a time. A time outside the scale gets that of the nearer end.
func (s *scale) at(t events.Time) float64 {
	if t <= s.pieces[0].from {
		return s.pieces[0].left
	}
	for _, p := range s.pieces {
		if t <= p.to {
			return p.left + (p.right-p.left)*float64(t.Sub(p.from))/float64(p.length())
		}
	}
	return s.pieces[len(s.pieces)-1].right
}

// idle returns the spans in which nothing is drawn and which are long enough to be folded.
func idle(t *attempts.Timeline, whole span) (out []span) {
	var busy []span
	margin := whole.length() / around
	add := func(from, to recordjson.Instant) {
		if from != 0 && to >= from {
			busy = append(busy, span{events.Time(from).Add(-margin), events.Time(to).Add(margin)})
		}
	}
	for i := range t.Rows {
		for _, s := range t.Rows[i].Spans {
			add(s.From, s.To)
		}
		for _, e := range t.Rows[i].Ends {
			add(e.At, e.At)
		}
	}
	for _, g := range t.Watch {
		add(max(g.From, t.From), g.To)
	}
	for _, m := range t.Marks {
		add(m.At, m.At)
	}
	for _, w := range t.Wanted {
		add(max(w.From, t.From), max(w.From, t.From))
	}
	slices.SortFunc(busy, func(a, b span) int { return int(min(max(a.from-b.from, -1), 1)) })
	at := whole.from
	end := func(to events.Time) {
		if d := to.Sub(at); d > whole.length()/foldFrom && d > leastFold {
			out = append(out, span{at, to})
		}
	}
	for _, b := range busy {
		if b.from > at {
			end(min(b.from, whole.to))
		}
		at = max(at, b.to)
	}
	if at < whole.to {
		end(whole.to)
	}
	return out
}

// steps are the possible distances between ticks of the time axis, in ascending order.
var steps = []time.Duration{
	10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
	2 * 24 * time.Hour, 7 * 24 * time.Hour, 14 * 24 * time.Hour, 28 * 24 * time.Hour, 91 * 24 * time.Hour, 364 * 24 * time.Hour,
}

// leastTick is the smallest distance between two ticks of the time axis, in SVG units: a time with seconds fits in.
const leastTick = 84.0

// ticks returns round times for the time axis, far enough apart for their labels and outside folds. It also returns the
// step between them.
func (s *scale) ticks() (out []events.Time, step time.Duration) {
	perTick := 0.0
	for _, p := range s.pieces {
		if !p.folded {
			perTick = max(perTick, float64(p.length())/(p.right-p.left))
		}
	}
	step = steps[len(steps)-1]
	for _, d := range steps {
		if float64(d) >= perTick*leastTick {
			step = d
			break
		}
	}
	last := -leastTick
	for _, p := range s.pieces {
		if p.folded {
			continue
		}
		first := p.from.Go().Truncate(step)
		for at := events.At(first); at <= p.to; at = at.Add(step) {
			if x := s.at(at); at >= p.from && x-last >= leastTick {
				out, last = append(out, at), x
			}
		}
	}
	return out, step
}
