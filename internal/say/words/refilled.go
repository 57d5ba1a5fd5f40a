package words

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
)

// refilledText describes a record about a replicated log whose JetStream stream had lost records: what it had lost, and
// which records were stored there again.
func refilledText(f *events.StreamRefilled) string {
	lost := fmt.Sprintf("the stream of the log had gone back to place %d", f.Place)
	if f.Place == 0 {
		lost = "the stream of the log was gone, and was made again"
	}
	if f.From > f.Through {
		return fmt.Sprintf("%s: all replicas have the log up to record %d, it goes on behind that", lost, f.Through)
	}
	return fmt.Sprintf("%s: it got records %d to %d again from this controller's disk", lost, f.From, f.Through)
}
