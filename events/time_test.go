package events_test

import (
	"math"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
)

// TestTimesBeyondTheLast: a time that a record may not name is the first or the last one, not one in another century.
func TestTimesBeyondTheLast(t *testing.T) {
	for text, want := range map[string]string{
		"0001-01-01T00:00:01Z":           "1930-01-01T00:00:00Z",
		"1677-09-21T00:12:43Z":           "1930-01-01T00:00:00Z",
		"1929-12-31T23:59:59.999999999Z": "1930-01-01T00:00:00Z",
		"1930-01-01T00:00:00Z":           "1930-01-01T00:00:00Z",
		"1969-12-31T23:59:59Z":           "1969-12-31T23:59:59Z",
		"2189-12-31T23:59:59.999999999Z": "2189-12-31T23:59:59.999999999Z",
		"2262-04-11T23:47:17Z":           "2190-01-01T00:00:00Z",
		"2300-01-01T00:00:00Z":           "2190-01-01T00:00:00Z",
		"9999-12-31T23:59:59Z":           "2190-01-01T00:00:00Z",
	} {
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			t.Fatal(err)
		}
		if got := events.At(at).Go().Format(time.RFC3339Nano); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
	for _, seconds := range []int64{math.MinInt64, math.MaxInt64} { // of a protobuf
		want := events.FirstTime
		if seconds > 0 {
			want = events.LastTime
		}
		if got := events.At(time.Unix(seconds, 0)); got != want {
			t.Errorf("%d seconds are %d, want %d", seconds, got, want)
		}
	}
}

// TestTimesDoNotWrap: sums and differences stop at the ends.
func TestTimesDoNotWrap(t *testing.T) {
	first, last := events.FirstTime, events.LastTime
	for name, ok := range map[string]bool{
		"from the last to the first": events.Time(math.MinInt64).Sub(last) == math.MinInt64,
		"from the first to the last": events.Time(math.MaxInt64).Sub(first) == math.MaxInt64,
		"later":                      events.Time(math.MaxInt64-1).Add(math.MaxInt64) > last,
		"earlier":                    events.Time(math.MinInt64+1).Add(math.MinInt64) < first,
		"in seconds":                 events.Time(math.MinInt64).Second() < 0,
		"unset":                      events.Time(0).Add(time.Hour) == 0,
	} {
		if !ok {
			t.Errorf("%s: wraps", name)
		}
	}
}
