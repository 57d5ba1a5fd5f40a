package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/words"
)

// pointFlag is --at: a point in the history of a log. It is parsed before the log is opened, and found in the log after.
type pointFlag struct {
	text     string
	sequence events.Sequence
	when     which.When
	local    bool // times without a zone are in that of this machine
}

func (f *pointFlag) add(cmd *cobra.Command, what string) {
	cmd.Flags().StringVar(&f.text, "at", "", what+" as of a record's sequence (41), a time (2026-01-02T15:04:05Z or 15:04:05), or 5m ago (5m)")
}

func (f *pointFlag) given() bool { return f.text != "" }

// parse reads the flag. Times without a zone are in that one.
func (f *pointFlag) parse(zone words.Zone) error {
	if f.text == "" {
		return nil
	}
	f.local = zone.Location != nil
	n, notSequence := strconv.ParseUint(f.text, 10, 64)
	if notSequence == nil && n > 0 {
		f.sequence = events.Sequence(n)
		return nil
	}
	w, ok := which.ParseWhen(f.text, zone)
	if !ok || notSequence == nil {
		return usage("--at %q: must be a record's sequence, such as 41, a time, such as 2026-01-02T15:04:05Z or 15:04:05, or how long ago, such as 5m", f.text)
	}
	f.when = w
	return nil
}

// point is where that is in a log.
func (f *pointFlag) point(ctx context.Context, c *cli, src history.Source) (history.Point, error) {
	if f.text == "" || f.sequence != 0 {
		return history.Point{Sequence: f.sequence}, nil
	}
	s, err := settleOf(ctx, src, f.when)
	if err != nil {
		return history.Point{}, err
	}
	t := f.when.Point(s.now, s.end)
	c.noteDay("at", f.text, f.when, t, s)
	return history.Point{Time: t}, nil
}

// spanFlags are --since and --until: a part of the history of a log.
type spanFlags struct {
	since, until     string
	sinceAt, untilAt which.When
}

func (f *spanFlags) addSince(cmd *cobra.Command, help string) {
	cmd.Flags().StringVar(&f.since, "since", "", help+": 2h before now, or 2026-01-02T15:04:05Z, or 15:04:05")
}

func (f *spanFlags) addUntil(cmd *cobra.Command, help string) {
	cmd.Flags().StringVar(&f.until, "until", "", help)
}

// parse reads the flags. Times without a zone are in that one.
func (f *spanFlags) parse(zone words.Zone) (err error) {
	if f.sinceAt, err = parseBound("since", f.since, zone); err != nil {
		return err
	}
	f.untilAt, err = parseBound("until", f.until, zone)
	return err
}

// span is that part of a log; 0 is no bound.
func (f *spanFlags) span(ctx context.Context, c *cli, src history.Source) (since, until events.Time, err error) {
	if f.since == "" && f.until == "" {
		return 0, 0, nil
	}
	s, err := settleOf(ctx, src, f.sinceAt, f.untilAt)
	if err != nil {
		return 0, 0, err
	}
	since = f.sinceAt.Before(s.now, s.end)
	c.noteDay("since", f.since, f.sinceAt, since, s)
	if err := c.noteEnd(ctx, src, since); err != nil {
		return 0, 0, err
	}
	until = f.untilAt.Behind(since, s.now, s.end)
	c.noteDay("until", f.until, f.untilAt, until, s)
	if since != 0 && until != 0 && since > until {
		return 0, 0, usage("--since %s lies behind --until %s", f.since, f.until)
	}
	return since, until, nil
}

// parseBound reads a flag that bounds times.
func parseBound(flag, text string, zone words.Zone) (which.When, error) {
	if text == "" {
		return which.When{}, nil
	}
	w, ok := which.ParseWhen(text, zone)
	if !ok {
		return w, usage("--%s %q: must be a duration, such as 2h or 30m, or a time, such as 2026-01-02T15:04:05Z or 15:04:05", flag, text)
	}
	return w, nil
}

// parseSince reads --since where there is no log.
func parseSince(text string, now time.Time, zone words.Zone) (events.Time, error) {
	w, err := parseBound("since", text, zone)
	return w.Before(now, 0), err
}

// settling is what it takes to know which moments are meant.
type settling struct {
	now  time.Time   // by the clock of the controller that writes the log, else by that of this machine
	end  events.Time // of the newest record; only where a time of day is meant
	live bool        // a controller writes the log
}

// settleOf asks a log for its end if one of the times needs that.
func settleOf(ctx context.Context, src history.Source, times ...which.When) (settling, error) {
	s := settling{now: time.Now()}
	for _, w := range times {
		if _, ofDay := w.OfDay(); ofDay && s.end == 0 {
			_, head, err := src.Head(ctx)
			if err != nil {
				return s, err
			}
			s.end = head.Time
			now, err := src.Now(ctx)
			if err != nil {
				return s, err
			}
			if now != 0 {
				s.now, s.end, s.live = now.Go(), max(now, s.end), true
			}
		}
	}
	return s, nil
}

// noteEnd tells that a log ends before what is asked for: that nothing is shown of it says nothing about the cluster.
func (c *cli) noteEnd(ctx context.Context, src history.Source, since events.Time) error {
	if since == 0 {
		return nil
	}
	_, head, err := src.Head(ctx)
	if now, live := src.Now(ctx); live == nil && now != 0 {
		return err // it goes on
	}
	if err == nil && head.Time < since {
		fmt.Fprintf(c.err, "note: the log ends at %s, before --since\n", words.Zone{}.Second(head.Time))
	}
	return err
}

// noteDay tells on which day a time of day is, unless that is today.
func (c *cli) noteDay(flag, text string, w which.When, t events.Time, s settling) {
	in, ofDay := w.OfDay()
	if !ofDay {
		return
	}
	switch {
	case s.live && t > s.end:
		fmt.Fprintf(c.err, "note: --%s %s is %s, which is to come: by the controller's clock it is %s\n", flag, text, in.Second(t), in.Second(s.end))
	case s.live && !in.SameDay(t, s.end):
		fmt.Fprintf(c.err, "note: --%s %s is %s\n", flag, text, in.Second(t))
	case !s.live && t > s.end:
		fmt.Fprintf(c.err, "note: --%s %s is %s, and the log ends before, at %s\n", flag, text, in.Second(t), in.Second(s.end))
	case !in.SameDay(t, events.At(s.now)):
		fmt.Fprintf(c.err, "note: --%s %s is %s: the log ends at %s\n", flag, text, in.Second(t), in.Second(s.end))
	}
}
