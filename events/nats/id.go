package nats

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/jobledger/jobledger/events"
)

// ID names a record of one life of one log, for ever and everywhere. It is the ce-id and the Nats-Msg-Id of its
// message: a message that is published again has the same, and the records of a restored log, which begins another
// epoch, never do.
type ID struct {
	Log      events.Identity // the epoch is the one in which the record was written
	Sequence events.Sequence
}

// String is "<log ID>.<epoch>.<sequence>".
func (id ID) String() string {
	b := append(make([]byte, 0, 64), id.Log.LogID...)
	b = strconv.AppendUint(append(b, '.'), id.Log.Epoch, 10)
	return string(strconv.AppendUint(append(b, '.'), uint64(id.Sequence), 10))
}

// Compare orders the records of one log as they were written: by epoch, then by sequence.
func (id ID) Compare(other ID) int {
	return cmp.Or(cmp.Compare(id.Log.Epoch, other.Log.Epoch), cmp.Compare(id.Sequence, other.Sequence))
}

// ParseID is the inverse of String. The ID of a log is made of letters, digits and '-', so an ID can stand on a
// terminal and in an environment whoever wrote it.
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
