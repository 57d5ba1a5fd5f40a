package whentest

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// Entry returns an entry (a range of due times with one outcome): the due times from second first to second last, with
// the outcome fate. change may edit it; nil for no change.
func Entry(first, last float64, fate events.TickFate, change func(*duetimes.Entry)) duetimes.Entry {
	e := duetimes.Entry{Tick: events.Tick{First: Sec(first), Last: Sec(last), Fate: fate}, Record: 9, At: Sec(last + 1)}
	if change != nil {
		change(&e)
	}
	return e
}

// Texts fails the test for each row whose two texts differ: the first is what was returned, the second what should be.
func Texts(t *testing.T, rows [][2]string) {
	t.Helper()
	for i, row := range rows {
		if row[0] != row[1] {
			t.Errorf("row %d: %q, want %q", i+1, row[0], row[1])
		}
	}
}

// Sec returns the instant n seconds after a fixed beginning.
func Sec(n float64) events.Time { return events.Time(1_780_000_000e9 + int64(n*1e9)) }

// Recorded returns the instant of second n, in the type that answers use.
func Recorded(n float64) recordjson.Instant { return recordjson.Instant(Sec(n)) }

// Seen returns a mark of a record: it says that something happened at second n.
func Seen(record events.Sequence, n float64) explain.Mark {
	return explain.Mark{Record: record, At: Sec(n)}
}

func Exit(name string, code int32, change func(*events.ContainerEnd)) events.ContainerEnd {
	k := events.ContainerEnd{Name: name, ExitCode: code}
	if change != nil {
		change(&k)
	}
	return k
}
