package try

import (
	"cmp"

	"github.com/jobledger/jobledger/events"
)

// Came returns when a list shows the try as present: its creation or its start, whichever time is earlier. The two come
// from different clocks.
func (t *Try) Came() events.Time {
	came := cmp.Or(t.Created, t.Seen.At)
	if began := t.Began(); began != 0 {
		came = min(came, began)
	}
	return came
}
