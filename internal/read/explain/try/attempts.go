package try

import (
	"cmp"

	"github.com/jobledger/jobledger/events"
)

// Came returns the time from which a list of pods shows the try: its creation, or its start if that seems earlier. The
// two times are by different clocks.
func (t *Try) Came() events.Time {
	came := cmp.Or(t.Created, t.Seen.At)
	if began := t.Began(); began != 0 {
		came = min(came, began)
	}
	return came
}
