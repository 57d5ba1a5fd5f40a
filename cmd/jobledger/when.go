package main

import (
	"strconv"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/history"
)

// layouts are the ways in which a time may be written; without a zone it is UTC, like all times that are shown.
var layouts = []string{
	time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02",
}

func parseTime(text string) (events.Time, bool) {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return events.At(t), true
		}
	}
	return 0, false
}

// parsePoint reads --at: a record's sequence or a time.
func parsePoint(text string) (history.Point, error) {
	if text == "" {
		return history.Point{}, nil
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil && n > 0 {
		return history.Point{Sequence: events.Sequence(n)}, nil
	}
	if t, ok := parseTime(text); ok {
		return history.Point{Time: t}, nil
	}
	return history.Point{}, usage("--at %q: must be a record's sequence, such as 41, or a time, such as 2026-01-02T15:04:05Z", text)
}

// parseSince reads --since.
func parseSince(text string, now time.Time) (events.Time, error) {
	return parseBound("since", text, now)
}

// parseBound reads a flag that bounds times: a duration before now, or a time.
func parseBound(flag, text string, now time.Time) (events.Time, error) {
	if text == "" {
		return 0, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return events.At(now.Add(-d)), nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return events.At(now.AddDate(0, 0, -int(n))), nil
		}
	}
	if t, ok := parseTime(text); ok {
		return t, nil
	}
	return 0, usage("--%s %q: must be a duration, such as 2h or 30m, or a time, such as 2026-01-02T15:04:05Z", flag, text)
}
