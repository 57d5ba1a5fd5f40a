package projector

import "github.com/jobledger/jobledger/events"

// Draft is a record to append: it has no sequence (place in the log) yet.
type Draft struct {
	Stream   events.Stream
	Kind     events.Kind
	Facts    events.Facts
	Evidence events.Evidence
	Causes   []events.Sequence
}
