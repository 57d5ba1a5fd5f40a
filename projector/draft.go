package projector

import "github.com/jobledger/jobledger/events"

// Draft is a record without a sequence.
type Draft struct {
	Stream   events.Stream
	Kind     events.Kind
	Facts    events.Facts
	Evidence events.Evidence
	Causes   []events.Sequence
}
