package ask

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Point is the flag --at: a record or a time, as of which a question is answered. Call Read to parse it, then In, which
// finds the point in the log.
type Point struct {
	text     string
	sequence events.Sequence
	when     which.When
	zone     words.Zone // time zone for a time that names none
}

// Bind adds --at to fs. what begins the help text: "the answer" gives "the answer as of a record's sequence …".
func (p *Point) Bind(fs *pflag.FlagSet, what string) {
	fs.StringVar(&p.text, "at", "", what+" as of a record's sequence (41), a time (2026-01-02T15:04:05Z or 15:04:05), or 5m ago (5m)")
}

// Given reports whether --at was given. If not, the point is the end of the log.
func (p *Point) Given() bool { return p.text != "" }

// Text returns the value of --at, unchanged.
func (p *Point) Text() string { return p.text }

// Read parses --at. zone is the time zone for a time that names none.
func (p *Point) Read(zone words.Zone) error {
	if p.text == "" {
		return nil
	}
	p.zone = zone
	n, notSequence := strconv.ParseUint(p.text, 10, 64)
	if notSequence == nil && n > 0 {
		p.sequence = events.Sequence(n)
		return nil
	}
	w, ok := which.ParseWhen(p.text, zone)
	if !ok || notSequence == nil {
		return which.Wrong("--at %q: must be a record's sequence, such as 41, a time, such as 2026-01-02T15:04:05Z or 15:04:05, or how long ago, such as 5m", p.text)
	}
	p.when = w
	return nil
}

// In returns the record or time that --at means in the log; the zero Point for the end of the log.
func (p *Point) In(ctx context.Context, src Source) (history.Point, error) {
	if p.text == "" || p.sequence != 0 {
		return history.Point{Sequence: p.sequence}, nil
	}
	s, err := src.settle(ctx, p.when)
	if err != nil {
		return history.Point{}, err
	}
	t := p.when.Point(s.now, s.end)
	src.noteDay("at", p.text, p.when, t, s)
	return history.Point{Time: t}, nil
}

// Span is a time span, given by the flags --since and --until.
type Span struct {
	since, until     string
	sinceAt, untilAt which.When
}

// BindSince adds --since to fs; help begins its help text.
func (f *Span) BindSince(fs *pflag.FlagSet, help string) {
	fs.StringVar(&f.since, "since", "", help+": 2h before now, or 2026-01-02T15:04:05Z, or 15:04:05")
}

// BindUntil adds --until to fs, with a help text.
func (f *Span) BindUntil(fs *pflag.FlagSet, help string) {
	fs.StringVar(&f.until, "until", "", help)
}

// Read parses the flags. zone is the time zone for a time that names none.
func (f *Span) Read(zone words.Zone) (err error) {
	if f.sinceAt, err = bound("since", f.since, zone); err != nil {
		return err
	}
	f.untilAt, err = bound("until", f.until, zone)
	return err
}

// Since reports whether --since was given.
func (f *Span) Since() bool { return f.since != "" }

// Until reports whether --until was given.
func (f *Span) Until() bool { return f.until != "" }

// In returns the times that --since and --until mean in the log; 0 means no bound.
func (f *Span) In(ctx context.Context, src Source) (since, until events.Time, err error) {
	if f.since == "" && f.until == "" {
		return 0, 0, nil
	}
	s, err := src.settle(ctx, f.sinceAt, f.untilAt)
	if err != nil {
		return 0, 0, err
	}
	since = f.sinceAt.Before(s.now, s.end)
	src.noteDay("since", f.since, f.sinceAt, since, s)
	if err := src.noteEnd(ctx, since); err != nil {
		return 0, 0, err
	}
	until = f.untilAt.Behind(since, s.now, s.end)
	src.noteDay("until", f.until, f.untilAt, until, s)
	if since != 0 && until != 0 && since > until {
		return 0, 0, which.Wrong("--since %s lies behind --until %s", f.since, f.until)
	}
	return since, until, nil
}

// bound parses the value of --since or --until. It returns the zero When, which means no bound, for an empty text.
func bound(flag, text string, zone words.Zone) (which.When, error) {
	if text == "" {
		return which.When{}, nil
	}
	w, ok := which.ParseWhen(text, zone)
	if !ok {
		return w, which.Wrong("--%s %q: must be a duration, such as 2h or 30m, or a time, such as 2026-01-02T15:04:05Z or 15:04:05", flag, text)
	}
	return w, nil
}

// Since parses the value of --since without a log. A time of day is the last one before now.
func Since(text string, now time.Time, zone words.Zone) (events.Time, error) {
	w, err := bound("since", text, zone)
	return w.Before(now, 0), err
}

// settling has what is needed to choose the day of a time of day such as 15:04.
type settling struct {
	// now is the time by the controller's clock; without a running controller, that of this machine.
	now time.Time
	// end is the time of the newest record, or now if that is later. It is set only if one of the times is a time of
	// day.
	end  events.Time
	live bool // a controller is running
}

// settle reads what is needed to choose the day of a time of day such as 15:04: the present time, and the end of the
// log. It reads the end only if one of the given times is a time of day.
func (s Source) settle(ctx context.Context, times ...which.When) (settling, error) {
	out := settling{now: s.Clock()}
	for _, w := range times {
		if _, ofDay := w.OfDay(); ofDay && out.end == 0 {
			_, head, err := s.Head(ctx)
			if err != nil {
				return out, err
			}
			out.end = head.Time
			now, err := s.Now(ctx)
			if err != nil {
				return out, err
			}
			if now != 0 {
				out.now, out.end, out.live = now.Go(), max(now, out.end), true
			}
		}
	}
	return out, nil
}

// noteEnd tells the user if the log ends before since: an empty answer then says nothing about the cluster.
func (s Source) noteEnd(ctx context.Context, since events.Time) error {
	if since == 0 {
		return nil
	}
	_, head, err := s.Head(ctx)
	if now, live := s.Now(ctx); live == nil && now != 0 {
		return err // if a controller runs, the log is up to date, and no remark is needed
	}
	if err == nil && head.Time < since {
		s.note("the log ends at %s, before --since", words.Zone{}.Second(head.Time))
	}
	return err
}

// noteDay tells the user which day a time of day was taken for, unless it is today.
func (s Source) noteDay(flag, text string, w which.When, t events.Time, at settling) {
	in, ofDay := w.OfDay()
	if !ofDay {
		return
	}
	switch {
	case at.live && t > at.end:
		s.note("--%s %s is %s, which is to come: by the controller's clock it is %s", flag, text, in.Second(t), in.Second(at.end))
	case at.live && !in.SameDay(t, at.end):
		s.note("--%s %s is %s", flag, text, in.Second(t))
	case !at.live && t > at.end:
		s.note("--%s %s is %s, and the log ends before, at %s", flag, text, in.Second(t), in.Second(at.end))
	case !in.SameDay(t, events.At(at.now)):
		s.note("--%s %s is %s: the log ends at %s", flag, text, in.Second(t), in.Second(at.end))
	}
}
