package history

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// SettingsIn returns the controller's settings that record r has; nil if it has none. They are in the record of the
// controller's start, and in its checkpoint (a record with its whole state) at the beginning of each file of the log.
// So a reader finds them even if the record of the start is pruned or damaged.
func SettingsIn(r *events.Record) (*events.Settings, error) {
	switch f := r.Facts.(type) {
	case *events.ControllerStarted:
		return &f.Settings, nil
	case *events.StoredState:
		var state pb.WorldState
		if err := proto.Unmarshal(f.Encoded, &state); err != nil {
			return nil, fmt.Errorf("decode the state in record %d: %w", r.Sequence, err)
		}
		if state.GetSettings() != nil {
			settings := events.SettingsFromWire(state.GetSettings())
			return &settings, nil
		}
	}
	return nil, nil
}
