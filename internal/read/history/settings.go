package history

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// SettingsIn gives the settings with which a controller works from a record of its stream on: those of a start, or of
// the stored state with which each file of the log begins, so that a start may be pruned or damaged. It gives nil for
// other records.
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
