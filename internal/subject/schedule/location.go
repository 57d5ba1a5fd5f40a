package schedule

import (
	"bytes"
	"encoding/binary"
	"time"
)

// horizon is the time until which the changes of a zone's clock are precomputed. Later changes are computed by the
// standard library.
var horizon = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

// Load parses the rules of a zone, the content of a TZif file. The result is equal to that of
// time.LoadLocationFromTZData, but faster. The standard library parses the rule text for each time after the last
// listed change, which may be in 2007 in current files. Load lists the changes until 2100.
func Load(name string, tzif []byte) (*time.Location, error) {
	in, err := time.LoadLocationFromTZData(name, tzif)
	if err != nil {
		return nil, err
	}
	return time.LoadLocationFromTZData(name, listed(in, footer(tzif)))
}

// footer returns the rule text at the end of a TZif file; "" for none.
func footer(tzif []byte) []byte {
	rest, ok := bytes.CutSuffix(tzif, []byte("\n"))
	if at := bytes.LastIndexByte(rest, '\n'); ok && at >= 0 {
		return rest[at+1:]
	}
	return nil
}

// clock is what clocks in a time zone show at some time: an offset from UTC and its name.
type clock struct {
	name   string
	offset int
	dst    bool
}

func shown(t time.Time) clock {
	name, offset := t.Zone()
	return clock{name, offset, t.IsDST()}
}

// listed returns a TZif file that lists the zone's changes until the horizon, followed by its rule text.
func listed(in *time.Location, rule []byte) []byte {
	at := time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC).In(in)
	kinds := []clock{shown(at)} // the first kind is the clock before the first change
	var when []int64
	var which []byte
	add := func(t time.Time, k clock) {
		for i := 1; i < len(kinds); i++ {
			if kinds[i] == k {
				when, which = append(when, t.Unix()), append(which, byte(i))
				return
			}
		}
		kinds, when, which = append(kinds, k), append(when, t.Unix()), append(which, byte(len(kinds)))
	}
	shows := kinds[0]
	for {
		_, end := at.ZoneBounds()
		if end.IsZero() || !end.Before(horizon) {
			break
		}
		// On the last day of a leap year package time may return a past end: go on a day later
		if !end.After(at) {
			end = at.Add(24 * time.Hour)
		}
		at = end.In(in)
		if next := shown(at); next != shows {
			add(at, next)
			shows = next
		}
	}
	if len(when) > 0 {
		// Nothing changes at the horizon, but with an entry there, package time needs the rule text only for later
		// times
		add(horizon, shown(horizon.In(in)))
	}
	return encode(kinds, when, which, rule)
}

// encode writes a TZif file of version 2 (RFC 9636).
func encode(kinds []clock, when []int64, which, rule []byte) []byte {
	var names []byte
	var types []byte
	for _, k := range kinds {
		types = binary.BigEndian.AppendUint32(types, uint32(int32(k.offset)))
		dst := byte(0)
		if k.dst {
			dst = 1
		}
		types = append(types, dst, byte(len(names)))
		names = append(append(names, k.name...), 0)
	}
	header := func(counts ...uint32) []byte { // counts of: UT, standard, leaps, changes, types, characters
		h := append([]byte("TZif2"), make([]byte, 15)...)
		for _, n := range counts {
			h = binary.BigEndian.AppendUint32(h, n)
		}
		return h
	}
	out := header(0, 0, 0, 0, 0, 0)
	out = append(out, header(0, 0, 0, uint32(len(when)), uint32(len(kinds)), uint32(len(names)))...)
	for _, t := range when {
		out = binary.BigEndian.AppendUint64(out, uint64(t))
	}
	out = append(append(append(out, which...), types...), names...)
	return append(append(append(out, '\n'), rule...), '\n')
}
