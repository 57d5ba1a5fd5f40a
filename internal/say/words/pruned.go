package words

import (
	"fmt"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
)

// prunedText describes a record about pruning: which old records were deleted and why, and which readers missed some.
func prunedText(f *events.Pruned) string {
	var text strings.Builder
	fmt.Fprintf(&text, "records before %d are no longer kept", f.First)
	if f.From != 0 {
		fmt.Fprintf(&text, ": %d to %d go, of %s to %s: %s", f.From, f.First-1, second(f.FromTime), second(f.ThroughTime), pruneReasons[f.Reason])
	}
	for _, m := range f.Missed {
		fmt.Fprintf(&text, "; %s", m)
	}
	return text.String()
}

var pruneReasons = map[events.PruneReason]string{
	events.PruneSize: "the log has its greatest size", events.PruneAge: "they are too old", events.PruneOperator: "an operator asked for it",
}

// second returns a time in UTC as text, in whole seconds.
func second(t events.Time) string { return t.Go().UTC().Format(time.RFC3339) }
