package main

import (
	"errors"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/history"
)

func TestPointsInHistory(t *testing.T) {
	at := func(text string) history.Point {
		when, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			t.Fatal(err)
		}
		return history.Point{Time: events.At(when)}
	}
	for text, want := range map[string]history.Point{
		"":                               {},
		"41":                             {Sequence: 41},
		"2026-01-02T15:04:05Z":           at("2026-01-02T15:04:05Z"),
		"2026-01-02T15:04:05.25+02:00":   at("2026-01-02T13:04:05.25Z"),
		"2026-01-02 15:04:05.123Z":       at("2026-01-02T15:04:05.123Z"), // as get writes it
		"2026-01-02 15:04:05":            at("2026-01-02T15:04:05Z"),
		"2026-01-02T15:04":               at("2026-01-02T15:04:00Z"),
		"2026-01-02":                     at("2026-01-02T00:00:00Z"),
		"2026-03-14T09:27:18.697000001Z": at("2026-03-14T09:27:18.697000001Z"),
	} {
		if got, err := parsePoint(text); err != nil || got != want {
			t.Errorf("--at %q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"0", "-1", "noon", "15:04", "1.5", "2026-13-01"} {
		var problem *usageError
		if _, err := parsePoint(text); !errors.As(err, &problem) {
			t.Errorf("--at %q: %v, want a usage error", text, err)
		}
	}
}

func TestSince(t *testing.T) {
	now := time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2h": now.Add(-2 * time.Hour), "90s": now.Add(-90 * time.Second), "3d": now.AddDate(0, 0, -3), "0s": now,
		"2026-03-14T08:00:00Z": now.Add(-time.Hour),
	} {
		if got, err := parseSince(text, now); err != nil || got != events.At(want) {
			t.Errorf("--since %q: %v, %v, want %v", text, got.Go(), err, want)
		}
	}
	for _, text := range []string{"-2h", "d", "soon", "-1d"} {
		if _, err := parseSince(text, now); err == nil {
			t.Errorf("--since %q is understood", text)
		}
	}
}
