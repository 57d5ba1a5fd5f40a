package nats

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/jobledger/jobledger/events"
)

// ID names one record of one epoch (life) of one log; no two records ever have the same ID. It is the ce-id and the
// Nats-Msg-Id of the record's message. A message that is published again has the same ID. A restored log begins a new
// epoch, so its records have other IDs.
type ID struct {
	Log      events.Identity // with the epoch in which the record was written
	Sequence events.Sequence
}

// String returns "<log ID>.<epoch>.<sequence>". The epoch counts the lives of the log.
func (id ID) String() string {
	b := append(make([]byte, 0, 64), id.Log.LogID...)
	b = strconv.AppendUint(append(b, '.'), id.Log.Epoch, 10)
	return string(strconv.AppendUint(append(b, '.'), uint64(id.Sequence), 10))
}

// Compare orders the records of one log by epoch (life of the log), then by sequence.
func (id ID) Compare(other ID) int {
	return cmp.Or(cmp.Compare(id.Log.Epoch, other.Log.Epoch), cmp.Compare(id.Sequence, other.Sequence))
}

// ParseID parses what String returns. It accepts only letters, digits and '-' in the log ID, so an ID is safe on a
// terminal and in an environment variable, whoever wrote it.
func ParseID(text string) (ID, error) {
	parts := strings.Split(text, ".")
	if len(parts) == 3 && plain(parts[0]) {
		epoch, err1 := strconv.ParseUint(parts[1], 10, 64)
		sequence, err2 := strconv.ParseUint(parts[2], 10, 64)
		id := ID{events.Identity{LogID: parts[0], Epoch: epoch}, events.Sequence(sequence)}
		if err1 == nil && err2 == nil && id.String() == text {
			return id, nil
		}
	}
	return ID{}, fmt.Errorf("ID %q: want <log ID>.<epoch>.<sequence>", text)
}
