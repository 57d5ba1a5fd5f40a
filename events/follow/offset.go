package follow

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// Offset is how far a named consumer has got, as the log keeps it. It is durable with the log's next commit.
type Offset struct {
	Log      store.Log
	Consumer string
}

// Load reads through which record the consumer got; 0 when it is new.
func (o Offset) Load() (events.Sequence, error) {
	through, err := o.Log.Offset(o.Consumer)
	if err != nil {
		return 0, fmt.Errorf("read offset of %s: %w", o.Consumer, err)
	}
	return through, nil
}

// Note keeps how far the consumer has got.
func (o Offset) Note(through events.Sequence) error {
	if err := o.Log.SetOffset(o.Consumer, through); err != nil {
		return fmt.Errorf("note offset of %s: %w", o.Consumer, err)
	}
	return nil
}
