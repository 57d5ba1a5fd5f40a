package schedule_test

import (
	"slices"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/jobledger/jobledger/internal/subject/schedule"
	"github.com/jobledger/jobledger/internal/subject/zones"
)

// database finds zones in the database of the program.
func database(name string) (*time.Location, error) {
	r, ok := zones.Find(name)
	if !ok {
		return nil, schedule.UnknownZone(name)
	}
	return time.LoadLocationFromTZData(name, r.TZif)
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	when, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return when
}

func parsed(t *testing.T, text, zone string) schedule.Schedule {
	t.Helper()
	var in *time.Location
	if zone != "" {
		var err error
		if in, err = schedule.Locate(zone, database); err != nil {
			t.Fatal(err)
		}
	}
	s, err := schedule.Parse(text, in, database)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestGrammar(t *testing.T) {
	const from = "2026-03-01T00:00:30Z" // a Sunday
	for _, row := range []struct {
		sentence, text, zone string
		next                 []string // the instants that follow, in UTC
	}{
		{"five fields", "15 6 * * *", "", []string{"2026-03-01T06:15:00Z", "2026-03-02T06:15:00Z"}},
		{"white space around five fields is no matter (C-022)", "  15\t6 * *  * ", "", []string{"2026-03-01T06:15:00Z"}},
		{"names of months and days in any case, in ranges (C-025)", "0 0 * Apr-MAY mon-tue", "", []string{"2026-04-06T00:00:00Z", "2026-04-07T00:00:00Z", "2026-04-13T00:00:00Z"}},
		{"? is * (C-026)", "0 0 ? * ?", "", []string{"2026-03-02T00:00:00Z"}},
		{"steps from a number go to the maximum (C-027)", "5/20 * * * *", "", []string{"2026-03-01T00:05:00Z", "2026-03-01T00:25:00Z", "2026-03-01T00:45:00Z", "2026-03-01T01:05:00Z"}},
		{"empty items of a list are passed over (C-029)", "1,,2 0 * * *", "", []string{"2026-03-01T00:01:00Z", "2026-03-01T00:02:00Z"}},
		{"what follows *- is ignored (C-029)", "*-9 3 * * *", "", []string{"2026-03-01T03:00:00Z", "2026-03-01T03:01:00Z"}},
		{"two restricted day fields: one match is enough (C-030)", "0 0 13 * 5", "", []string{"2026-03-06T00:00:00Z", "2026-03-13T00:00:00Z", "2026-03-20T00:00:00Z", "2026-03-27T00:00:00Z"}},
		{"a stepped star is a restriction (C-030)", "0 0 */2 * 1", "", []string{"2026-03-02T00:00:00Z", "2026-03-03T00:00:00Z", "2026-03-05T00:00:00Z", "2026-03-07T00:00:00Z", "2026-03-09T00:00:00Z", "2026-03-11T00:00:00Z"}},
		{"a macro is the start of its period (C-031)", "@weekly", "", []string{"2026-03-08T00:00:00Z"}},
		{"a macro with spec.timeZone", "@daily", "Asia/Tokyo", []string{"2026-03-01T15:00:00Z"}},
		{"@every counts from the instant before, in whole seconds (C-032, C-033, C-062)", "@every 1h30m0.9s", "", []string{"2026-03-01T01:30:30Z", "2026-03-01T03:00:30Z"}},
		{"@every of less than a second is one second (C-032)", "@every 1ms", "", []string{"2026-03-01T00:00:31Z"}},
		{"a zone in the schedule fixes it (C-034)", "CRON_TZ=Asia/Tokyo   0 9 * * *", "", []string{"2026-03-02T00:00:00Z"}},
		{"a zone in the schedule beats spec.timeZone (C-041)", "TZ=Asia/Tokyo 0 9 * * *", "America/New_York", []string{"2026-03-02T00:00:00Z"}},
		{"the schedule is read in spec.timeZone (C-040)", "0 9 * * *", "Asia/Tokyo", []string{"2026-03-02T00:00:00Z"}},
		{"without a zone it is UTC, which is the process's (C-042)", "0 9 * * *", "", []string{"2026-03-01T09:00:00Z"}},
		{"spec.timeZone Local is the process's (C-045)", "0 9 * * *", "Local", []string{"2026-03-01T09:00:00Z"}},
		{"@every has no zone (C-048)", "TZ=Asia/Tokyo @every 1h", "", []string{"2026-03-01T01:00:30Z"}},
		{"an instant itself is not after it (C-060)", "@hourly", "", []string{"2026-03-01T01:00:00Z", "2026-03-01T02:00:00Z"}},
		{"a schedule that never matches has no next instant (C-061)", "0 0 30 2 *", "", []string{""}},
		{"a field of commas never matches (C-029)", ", * * * *", "", []string{""}},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			s, when := parsed(t, row.text, row.zone), at(t, from)
			for _, want := range row.next {
				if when = s.Next(when); want == "" {
					if !when.IsZero() {
						t.Errorf("next is %v, want never", when)
					}
				} else if !when.Equal(at(t, want)) {
					t.Errorf("next is %v, want %s", when, want)
				}
			}
		})
	}
}

func TestRefused(t *testing.T) {
	for _, row := range []struct{ sentence, text, why string }{
		{"an empty text (C-023)", "", "empty spec string"},
		{"there are five fields, and not four (C-023)", "* * * *", "expected exactly 5 fields, found 4: [* * * *]"},
		{"there is no field of seconds (C-020)", "* * * * * *", "expected exactly 5 fields, found 6: [* * * * * *]"},
		{"7 is not Sunday (C-024)", "0 0 * * 7", "end of range (7) above maximum (6): 7"},
		{"full names of days are refused (C-025)", "0 0 * * monday", "failed to parse int from monday: strconv.Atoi: parsing \"monday\": invalid syntax"},
		{"a range that wraps (C-028)", "0 22-2 * * *", "beginning of range (22) beyond end of range (2): 22-2"},
		{"a step of 0 (C-028)", "*/0 * * * *", "step of range should be a positive number: */0"},
		{"an unknown macro (C-031)", "@reboot", "unrecognized descriptor: @reboot"},
		{"a macro behind white space (C-022)", " @daily", "expected exactly 5 fields, found 1: [@daily]"},
		{"days as a unit (C-032)", "@every 1d", "failed to parse duration @every 1d: time: unknown unit \"d\" in duration \"1d\""},
		{"no L, W or # (C-035)", "0 0 L * *", "failed to parse int from L: strconv.Atoi: parsing \"L\": invalid syntax"},
		{"an unknown zone (C-034)", "TZ=Mars/Base 0 0 * * *", "provided bad location Mars/Base: unknown time zone Mars/Base"},
		{"a name that no database is asked for (C-034)", "TZ=../x 0 0 * * *", "provided bad location ../x: time: invalid location name"},
		{"a zone and nothing else, on which the library panics (C-021)", "TZ=0", "invalid schedule format: runtime error: slice bounds out of range [:-1]"},
		{"another zone and nothing else (C-021)", "CRON_TZ=UTC", "invalid schedule format: runtime error: slice bounds out of range [:-1]"},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			_, err := schedule.Parse(row.text, nil, database)
			if err == nil || err.Error() != row.why {
				t.Errorf("%q: %v, want %s", row.text, err, row.why)
			}
			if theirs := library(row.text); theirs != row.why {
				t.Errorf("%q: the library says %s", row.text, theirs)
			}
		})
	}
}

// library is what the library says of a text, as the API server asks it.
func library(text string) (why string) {
	defer func() {
		if p := recover(); p != nil {
			why = "invalid schedule format: " + p.(error).Error()
		}
	}()
	if _, err := cron.ParseStandard(text); err != nil {
		return err.Error()
	}
	return ""
}

// Rules that the log does not have yet are asked for by name.
func TestNamed(t *testing.T) {
	berlin, none, bad := "Europe/Berlin", "", "/etc/passwd"
	for _, row := range []struct {
		sentence, text string
		zone           *string
		want           []string
	}{
		{"no zone", "* * * * *", nil, nil},
		{"spec.timeZone", "* * * * *", &berlin, []string{berlin}},
		{"a zone in the schedule", "TZ=Asia/Tokyo * * * * *", nil, []string{"Asia/Tokyo"}},
		{"two of them: the annotation is in spec.timeZone", "TZ=Asia/Tokyo * * * * *", &berlin, []string{berlin, "Asia/Tokyo"}},
		{"the same twice", "TZ=Europe/Berlin * * * * *", &berlin, []string{berlin}},
		{"an empty one is UTC (C-045)", "* * * * *", &none, nil},
		{"UTC has no rules", "TZ=UTC * * * * *", nil, nil},
		{"one that no database is asked for", "* * * * *", &bad, nil},
	} {
		if got := schedule.Named(row.text, row.zone); !slices.Equal(got, row.want) {
			t.Errorf("%s: %q, want %q", row.sentence, got, row.want)
		}
	}
}

// C-060: The library goes back where a clock is put back in the middle of an hour, and one who steps on with it never
// gets past that; ours does.
func TestNextGetsOn(t *testing.T) {
	for _, row := range []struct{ zone, text, from string }{
		{"Asia/Bishkek", "*/15 2 * * *", "2000-10-28T17:30:00Z"},
		{"Pacific/Chatham", "*/15 3 * * *", "2027-04-03T08:00:00Z"},
	} {
		s := parsed(t, row.text, row.zone)
		n := 0
		for range s.Between(at(t, row.from), at(t, row.from).AddDate(0, 0, 3)) {
			if n++; n > 100 {
				t.Fatalf("in %s it does not get on", row.zone)
			}
		}
	}
}

// The library passes over a day where the clock changes by half an hour. It is the built-in's behaviour (C-020), so it
// is kept.
func TestADayWithout(t *testing.T) {
	s := parsed(t, "0 6 * * *", "Australia/Lord_Howe")
	when := at(t, "2026-04-03T19:00:00Z") // 4 April, 06:00; the clock is put back on the 5th
	for _, want := range []string{"2026-04-05T19:30:00Z", "2026-04-06T19:30:00Z"} {
		if when = s.Next(when); !when.Equal(at(t, want)) {
			t.Errorf("next is %v, want %s", when, want)
		}
	}
}

// TestTheZeroScheduleIsNeverDue: it stands for a schedule that does not parse.
func TestTheZeroScheduleIsNeverDue(t *testing.T) {
	var s schedule.Schedule
	from, to := at(t, "2026-01-01T00:00:00Z"), at(t, "2026-02-01T00:00:00Z")
	for name, got := range map[string]time.Time{
		"Next": s.Next(from), "Last": s.Last(from, to), "Wake": s.Wake(from, to), "WakeFrom": s.WakeFrom(from, to),
	} {
		if !got.IsZero() {
			t.Errorf("%s: %s", name, got)
		}
	}
	if due, err := s.Due(from, to); err == nil || !due.At.IsZero() {
		t.Errorf("due %+v, %v", due, err)
	}
	if base := s.Base(from, to); !base.Equal(to) {
		t.Errorf("base %s", base)
	}
	for due := range s.Between(from, to) {
		t.Errorf("due at %s", due)
	}
}
