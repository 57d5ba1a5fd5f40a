package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// TestRetention: five files of ten bytes and ten records; record n is n seconds old when the last one is new.
func TestRetention(t *testing.T) {
	const second = events.Time(time.Second)
	files := func() (all []store.File) {
		for i := range events.Sequence(5) {
			all = append(all, store.File{
				First: 10*i + 1, End: store.Head{Sequence: 10*i + 10, Time: events.Time(10*i+10) * second}, Sealed: i < 4, Bytes: 10,
			})
		}
		return all
	}
	for _, row := range []struct {
		name  string
		keep  store.Retention
		whole events.Sequence
		nats  events.Sequence // the offset of a consumer; 0 for none
		want  string
	}{
		{"the zero value keeps everything", store.Retention{}, 41, 0, "{0 unknown [] []}"},
		{"a log that is smaller keeps everything", store.Retention{MaxBytes: 64}, 41, 0, "{0 unknown [] []}"},
		{"at four fifths the oldest file goes", store.Retention{MaxBytes: 55}, 41, 0, "{11 size [] []}"},
		{"and as many as it takes", store.Retention{MaxBytes: 40}, 41, 0, "{21 size [] []}"},
		{"but only before the newest that stands alone", store.Retention{MaxBytes: 8}, 31, 0, "{31 size [] []}"},
		{"nothing goes while none stands alone", store.Retention{MaxBytes: 8}, 0, 0, "{0 unknown [] []}"},
		{"files go whose last record is too old", store.Retention{MaxAge: 25 * time.Second}, 41, 0, "{21 age [] []}"},
		{"age and size", store.Retention{MaxAge: 35 * time.Second, MaxBytes: 40}, 41, 0, "{21 size [] []}"},
		{"a consumer holds a file back below the cap", store.Retention{MaxBytes: 60}, 41, 9, "{0 unknown [] [nats]}"},
		{"one that has got through does not", store.Retention{MaxBytes: 60}, 41, 10, "{11 size [] []}"},
		{"it holds back what is old, whatever it takes", store.Retention{MaxAge: 5 * time.Second}, 41, 12, "{11 age [] [nats]}"},
		{"at the cap it is passed over", store.Retention{MaxBytes: 48}, 41, 4, "{11 size [the consumer nats missed records 5 to 10] [nats]}"},
		{"with bounds", store.Retention{MaxBytes: 30}, 41, 4, "{31 size [the consumer nats missed records 5 to 30] []}"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := store.Stock{Now: 50 * second, Bytes: 50, Files: files(), Whole: row.whole}
			if row.nats != 0 {
				s.Consumers = map[string]events.Sequence{"nats": row.nats}
			}
			if got := fmt.Sprint(row.keep.Judge(s)); got != row.want {
				t.Errorf("%s, want %s", got, row.want)
			}
		})
	}
}
