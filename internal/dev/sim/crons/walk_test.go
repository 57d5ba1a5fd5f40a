package crons

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/jobledger/jobledger/internal/subject/zones"
)

// timetable is a schedule that is generated together with its text, so its due times need no parser. The test walks
// over the minutes of the year, one by one, and compares them with the clocks of the zone.
type timetable struct {
	text                   string
	every                  time.Duration // of @every; else 0
	minutes, hours         uint64        // sets, a bit for each number
	days, months, weekdays uint64
	anyDay, anyWeekday     bool // the fields are open (C-030)
}

// The walks cover a bit more than a year, from spanStart on.
var spanStart = time.Date(2025, 12, 31, 0, 0, 0, 0, time.UTC)

const spanMinutes = 400 * 24 * 60

func minuteOf(t time.Time) int { return int(t.Sub(spanStart) / time.Minute) }

// isDue reports whether the schedule matches a clock time.
func (s *timetable) isDue(shows uint32) bool {
	if s.minutes>>(shows&63)&1 == 0 || s.hours>>(shows>>6&31)&1 == 0 || s.months>>(shows>>16&15)&1 == 0 {
		return false
	}
	day, weekday := s.days>>(shows>>11&31)&1 == 1, s.weekdays>>(shows>>20&7)&1 == 1
	if s.anyDay || s.anyWeekday {
		return day && weekday
	}
	return day || weekday
}

// walls holds the clock times of all minutes of the span, by zone.
var walls = struct {
	sync.Mutex
	of map[string][]uint32
}{of: map[string][]uint32{}}

// wall returns the clock times of a zone in all minutes of the span. The standard library reads the zone's rules.
func wall(zone string) []uint32 {
	walls.Lock()
	defer walls.Unlock()
	if all := walls.of[zone]; all != nil {
		return all
	}
	in := time.UTC
	if zone != "" {
		rules, ok := zones.Find(zone)
		if !ok {
			panic("no rules of " + zone)
		}
		var err error
		if in, err = time.LoadLocationFromTZData(zone, rules.TZif); err != nil {
			panic(err)
		}
	}
	all := make([]uint32, spanMinutes)
	for i := range all {
		t := spanStart.Add(time.Duration(i) * time.Minute).In(in)
		_, month, day := t.Date()
		hour, minute, _ := t.Clock()
		all[i] = uint32(minute) | uint32(hour)<<6 | uint32(day)<<11 | uint32(month)<<16 | uint32(t.Weekday())<<20
	}
	walls.of[zone] = all
	return all
}

// randomTimetable makes a schedule. Few are due all the time, because these alone would make up most due times of a
// year.
func randomTimetable(r *rand.Rand, deadline bool) *timetable {
	if !deadline && r.IntN(12) == 0 {
		every := time.Duration(60+r.IntN(4*3600)) * time.Second
		return &timetable{text: "@every " + every.String(), every: every}
	}
	s := &timetable{}
	if r.IntN(12) == 0 {
		s.read("@hourly", "0", "*", "*", "*", "*")
		return s
	}
	minute := field(r, 0, 59, 6)
	if minute == "*" && r.IntN(2) == 0 {
		minute = "*/2"
	}
	weekday := "*"
	if r.IntN(4) == 0 {
		weekday = []string{"1-5", "mon-fri", "0", "sun,wed", "2-6/2", "*/3"}[r.IntN(6)]
	}
	s.read("", minute, field(r, 0, 23, 2), sometimes(r, 4, field(r, 1, 31, 0)), sometimes(r, 10, field(r, 1, 12, 0)), weekday)
	return s
}

func sometimes(r *rand.Rand, one int, text string) string {
	if r.IntN(one) > 0 {
		return "*"
	}
	return text
}

// field returns the text of a field. If star is not 0, one of so many is a star.
func field(r *rand.Rand, least, most, star int) string {
	one := func() int { return least + r.IntN(most-least+1) }
	if star > 0 && r.IntN(star) == 0 {
		return "*"
	}
	switch r.IntN(5) {
	case 0:
		return fmt.Sprintf("*/%d", 2+r.IntN((most-least)/2))
	case 1:
		pair := []int{one(), one()}
		sort.Ints(pair)
		return fmt.Sprintf("%d-%d/%d", pair[0], pair[1], 1+r.IntN(5))
	case 2:
		return fmt.Sprintf("%d,%d,%d", one(), one(), one())
	}
	return fmt.Sprint(one())
}

var days = strings.Fields("sun mon tue wed thu fri sat")

// read fills the sets from the fields as this file writes them.
func (s *timetable) read(macro, minute, hour, day, month, weekday string) {
	s.text = strings.Join([]string{minute, hour, day, month, weekday}, " ")
	for i, name := range days {
		weekday = strings.ReplaceAll(weekday, name, fmt.Sprint(i))
	}
	set := func(text string, least, most int) (bits uint64) {
		for item := range strings.SplitSeq(text, ",") {
			first, last, step := least, most, 1
			span, by, has := strings.Cut(item, "/")
			if has {
				_, _ = fmt.Sscan(by, &step)
			}
			if span != "*" {
				if n, _ := fmt.Sscanf(span, "%d-%d", &first, &last); n == 1 {
					last = first
				}
			}
			for ; first <= last; first += step {
				bits |= 1 << first
			}
		}
		return bits
	}
	s.minutes, s.hours, s.days, s.months, s.weekdays = set(minute, 0, 59), set(hour, 0, 23), set(day, 1, 31), set(month, 1, 12), set(weekday, 0, 6)
	s.anyDay, s.anyWeekday = day == "*", weekday == "*"
	if macro != "" {
		s.text = macro
	}
}
