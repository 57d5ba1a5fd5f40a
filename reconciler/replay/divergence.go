package replay

import (
	"fmt"
	"strings"

	"github.com/jobledger/jobledger/events"
)

// Divergence is one difference between the replay and the log: in a decision, or in a stored state.
type Divergence struct {
	Sequence events.Sequence // the recorded decision; if there is none, the last record of the batch
	Stream   events.Stream
	Job      events.JobRef
	Recorded *events.Decision // nil if the log has no decision
	Decided  *events.Decision // nil if the replay makes no decision
	Why      string
	Fields   []string // fields in which a stored state differs; nil for a decision
}

// String describes the difference in one or a few lines, for users.
func (d Divergence) String() string {
	if d.Fields != nil {
		return fmt.Sprintf("record %d: %s, in %s", d.Sequence, d.Why, strings.Join(d.Fields, ", "))
	}
	text := fmt.Sprintf("record %d: recorded %s, replay decides %s", d.Sequence, describe(d.Recorded), describe(d.Decided))
	if d.Why != "" {
		text += " (" + d.Why + ")"
	}
	return text
}

func describe(d *events.Decision) string {
	if d == nil {
		return "nothing"
	}
	text := ""
	for _, s := range d.Steps {
		for _, c := range s.Commands {
			if text != "" {
				text += "; "
			}
			text += events.Describe(c) + " (" + string(s.Reason) + ")"
		}
	}
	return text
}
