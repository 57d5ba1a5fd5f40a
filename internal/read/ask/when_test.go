package ask

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

// ending is a log of which only its end matters.
type ending struct {
	history.Source
	at events.Time
}

func (e ending) Head(context.Context) (events.Identity, store.Head, error) {
	return events.Identity{}, store.Head{Sequence: 90, Time: e.at}, nil
}

func (ending) Now(context.Context) (events.Time, error) { return 0, nil }

// from is a source whose notes nobody hears.
func from(src history.Source) Source {
	return Source{Source: src, Note: func(string) {}, Clock: time.Now}
}

func moment(t *testing.T, text string) events.Time {
	t.Helper()
	when, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return events.At(when)
}

func TestPointsInHistory(t *testing.T) {
	src := ending{at: moment(t, "2026-03-14T09:27:18Z")}
	at := func(text string) history.Point { return history.Point{Time: moment(t, text)} }
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
		"9999-12-31":                     {Time: events.LastTime}, // what scripts write for no end
		"2300-01-01T00:00:00Z":           {Time: events.LastTime},
		"1600-01-01":                     {Time: events.FirstTime},
		"0001-01-01":                     {Time: events.FirstTime},
		"1970-01-01T00:00:00Z":           {Time: 1},                  // 0 is no time
		"09:27:05":                       at("2026-03-14T09:27:05Z"), // of the day on which the log ends
		"09:27:05.25":                    at("2026-03-14T09:27:05.25Z"),
		"09:27":                          at("2026-03-14T09:27:00Z"),
		"15:04":                          at("2026-03-13T15:04:00Z"), // which the log has last the day before
		"10:27:05+01:00":                 at("2026-03-14T09:27:05Z"),
		"09:27:05Z":                      at("2026-03-14T09:27:05Z"),
	} {
		f := Point{text: text}
		err := f.Read(words.Zone{})
		if err != nil {
			t.Errorf("--at %q: %v", text, err)
			continue
		}
		if got, err := f.In(t.Context(), from(src)); err != nil || got != want {
			t.Errorf("--at %q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"0", "-1", "noon", "25:04", "1.5", "2026-13-01", "-5m", "d"} {
		var problem *which.WrongError
		if err := (&Point{text: text}).Read(words.Zone{}); !errors.As(err, &problem) {
			t.Errorf("--at %q: %v, want a usage error", text, err)
		}
	}
}

// TestTimesAreReadInTheZoneInWhichTheyAreShown: with --local, also across a change of the clocks.
func TestTimesAreReadInTheZoneInWhichTheyAreShown(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err) // this machine has no zones
	}
	end := moment(t, "2026-03-29T10:00:00Z") // noon of the day on which the clocks are set forward
	for text, want := range map[string]string{
		"2026-03-28 12:00": "2026-03-28T11:00:00Z", "2026-03-29T12:00:00": "2026-03-29T10:00:00Z", "11:59": "2026-03-29T09:59:00Z",
		"12:01": "2026-03-28T11:01:00Z", "2026-03-29T12:00:00Z": "2026-03-29T12:00:00Z",
	} {
		w, ok := which.ParseWhen(text, words.Zone{Location: berlin})
		if got := w.Before(time.Time{}, end); !ok || got != moment(t, want) {
			t.Errorf("%q: %s, want %s", text, got.Go(), want)
		}
	}
}

func TestSince(t *testing.T) {
	now := time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2h": now.Add(-2 * time.Hour), "90s": now.Add(-90 * time.Second), "3d": now.AddDate(0, 0, -3), "0s": now,
		"2026-03-14T08:00:00Z": now.Add(-time.Hour), "08:30": now.Add(-30 * time.Minute), "10:00": now.Add(-23 * time.Hour),
	} {
		if got, err := Since(text, now, words.Zone{}); err != nil || got != events.At(want) {
			t.Errorf("--since %q: %v, %v, want %v", text, got.Go(), err, want)
		}
	}
	for _, text := range []string{"-2h", "d", "soon", "-1d"} {
		if _, err := Since(text, now, words.Zone{}); err == nil {
			t.Errorf("--since %q is understood", text)
		}
	}
}

// TestASpanOfTimesOfDay: the end is the first time of that kind behind the beginning.
func TestASpanOfTimesOfDay(t *testing.T) {
	src := ending{at: moment(t, "2026-03-14T00:30:00Z")}
	for _, row := range []struct{ since, until, from, to string }{
		{"00:10", "00:20", "2026-03-14T00:10:00Z", "2026-03-14T00:20:00Z"},
		{"23:50", "00:10", "2026-03-13T23:50:00Z", "2026-03-14T00:10:00Z"},
		{"23:50", "23:55", "2026-03-13T23:50:00Z", "2026-03-13T23:55:00Z"},
		{"2026-03-10T12:00:00Z", "12:15", "2026-03-10T12:00:00Z", "2026-03-10T12:15:00Z"},
	} {
		f := Span{since: row.since, until: row.until}
		if err := f.Read(words.Zone{}); err != nil {
			t.Fatal(err)
		}
		since, until, err := f.In(t.Context(), from(src))
		if err != nil || since != moment(t, row.from) || until != moment(t, row.to) {
			t.Errorf("--since %s --until %s: %s to %s, %v", row.since, row.until, since.Go(), until.Go(), err)
		}
	}
	f := Span{since: "2026-03-14", until: "2026-03-13"}
	if err := f.Read(words.Zone{}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.In(t.Context(), from(src)); err == nil {
		t.Error("a span that ends before it begins is taken")
	}
}

// runningLog is a log that a controller writes, whose newest record is of some time ago.
type runningLog struct {
	ending
	now events.Time
}

func (r runningLog) Now(context.Context) (events.Time, error) { return r.now, nil }

// TestATimeOfTodayIsNotThatOfYesterday: at 23:07 the time 23:06 is a minute ago, also where the newest record is of
// 22:45. A time that is some minutes ahead is of today, too.
func TestATimeOfTodayIsNotThatOfYesterday(t *testing.T) {
	today := func(clock string) events.Time { return moment(t, "2026-03-14T"+clock+":00Z") }
	yesterday := func(clock string) events.Time { return moment(t, "2026-03-13T"+clock+":00Z") }
	for _, row := range []struct {
		now, end events.Time
		at       string
		want     events.Time
	}{
		{today("23:07"), today("22:45"), "23:06", today("23:06")},
		{today("23:07"), today("22:45"), "22:50", today("22:50")},
		{today("23:07"), today("22:45"), "23:10", today("23:10")},
		{today("23:07"), today("22:45"), "23:40", yesterday("23:40")},
		{today("00:03"), yesterday("23:58"), "00:01", today("00:01")},
		{today("00:03"), yesterday("23:58"), "23:59", yesterday("23:59")},
		{yesterday("23:58"), yesterday("23:50"), "00:01", today("00:01")},
		{today("09:00"), today("07:00"), "03:00", today("03:00")},
	} {
		f := Point{text: row.at}
		if err := f.Read(words.Zone{}); err != nil {
			t.Fatal(err)
		}
		got, err := f.In(t.Context(), from(runningLog{ending{at: row.end}, row.now}))
		if err != nil || got.Time != row.want {
			t.Errorf("--at %s at %s, with records to %s: %s, %v, want %s", row.at, row.now.Go(), row.end.Go(), got.Time.Go(), err, row.want.Go())
		}
		if got := f.when.Point(row.now.Go(), row.end); got != row.want {
			t.Errorf("--at %s at %s, of a log that ended at %s: %s, want %s", row.at, row.now.Go(), row.end.Go(), got.Go(), row.want.Go())
		}
	}
	w, _ := which.ParseWhen("23:10", words.Zone{})
	if got := w.Before(today("23:07").Go(), today("22:45")); got != yesterday("23:10") {
		t.Errorf("--since 23:10 at 23:07 is %s: nothing of then is recorded yet", got.Go())
	}
}
