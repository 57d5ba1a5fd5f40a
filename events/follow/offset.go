package follow

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// Offset stores, in the log, through which record a consumer has read. A change is durable with the log's next commit.
type Offset struct {
	Log      store.Log
	Consumer string
}

// Load returns the sequence through which the consumer has read; 0 for a new consumer.
func (o Offset) Load() (events.Sequence, error) {
	through, err := o.Log.Offset(o.Consumer)
	if err != nil {
		return 0, fmt.Errorf("read offset of %s: %w", o.Consumer, err)
	}
	return through, nil
}

// Note stores in the log that the consumer has read through this sequence.
func (o Offset) Note(through events.Sequence) error {
	if err := o.Log.SetOffset(o.Consumer, through); err != nil {
		return fmt.Errorf("note offset of %s: %w", o.Consumer, err)
	}
	return nil
}
