package words

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jobledger/jobledger/events"
)

// TestCleanIsPlain: what is plain stays as it is, and nothing that steers a terminal goes through.
func TestCleanIsPlain(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "plain text": "plain text", "Grüße → 世界": "Grüße → 世界", "a\nb\tc": `a\nb\tc`, "\x1b[31mred": `\x1b[31mred`, "\nfirst": `\nfirst`,
		"\xff": `\xff`, "\x80a\x05": `\x80a\x05`, "é\xc3": `é\xc3`, "\ufffd": "\ufffd", "\u202eabc": `\u202eabc`, "a\u00a0b": `a\u00a0b`, "\\n": `\n`,
		"\ufffd\n": "\ufffd\\n",
	} {
		if got := Clean(text); got != want {
			t.Errorf("%q is written %q, want %q", text, got, want)
		}
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		b := make([]byte, random.IntN(12))
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		got := Clean(string(b))
		if !utf8.ValidString(got) || strings.IndexFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) >= 0 || len(got) < len(b) {
			t.Fatalf("%q is written %q", b, got)
		}
	}
}

// TestZones: each way to write a time, in UTC and in a zone, and for a time that is not set.
func TestZones(t *testing.T) {
	at := events.At(time.Date(2026, 3, 2, 23, 30, 1, 5_000_000, time.UTC))
	local := Zone{Location: time.FixedZone("X", 3600)}
	for _, row := range []struct {
		name            string
		write           func(Zone, events.Time) string
		utc, zone, none string
	}{
		{"Moment", Zone.Moment, "2026-03-02 23:30:01.005Z", "2026-03-03 00:30:01.005+01:00", "-"},
		{"Second", Zone.Second, "2026-03-02 23:30:01Z", "2026-03-03 00:30:01+01:00", "-"},
		{"Clock", Zone.Clock, "23:30:01.005Z", "00:30:01.005+01:00", "-"},
		{"ClockSecond", Zone.ClockSecond, "23:30:01Z", "00:30:01+01:00", "-"},
		{"Stamp", Zone.Stamp, "2026-03-02T23:30:01.005Z", "2026-03-03T00:30:01.005+01:00", "-"},
		{"Day", Zone.Day, "2026-03-02 UTC", "2026-03-03, zone +01:00", "0001-01-01 UTC"},
		{"Name", Zone.Name, "UTC", "zone +01:00", "UTC"},
		{"due", Zone.due, "2026-03-02 23:30:01", "2026-03-03 00:30:01", "0001-01-01 00:00"},
	} {
		if got := []string{row.write(Zone{}, at), row.write(local, at), row.write(Zone{}, 0)}; got[0] != row.utc || got[1] != row.zone || got[2] != row.none {
			t.Errorf("%s writes %q, want %q, %q and %q", row.name, got, row.utc, row.zone, row.none)
		}
	}
	if Moment(at) != (Zone{}).Moment(at) {
		t.Error("Moment is not in UTC")
	}
	hour := at.Add(time.Hour)
	if (Zone{}).SameDay(at, hour) || !local.SameDay(at, hour) || !(Zone{}).SameDay(at, at.Add(-time.Hour)) || local.SameDay(at, at.Add(-time.Hour)) {
		t.Error("days are not those of the zone")
	}
	sub := at.Second().Add(-time.Second) // 23:30:00
	if got := (Zone{}).due(sub); got != "2026-03-02 23:30" {
		t.Errorf("a whole minute is written %q", got)
	}
	if got := (Zone{}).due(sub.Add(time.Millisecond)); got != "2026-03-02 23:30:00" {
		t.Errorf("a part of a second is written %q", got)
	}
}
