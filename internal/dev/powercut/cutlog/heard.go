package cutlog

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	"github.com/jobledger/jobledger/events"
)

// Heard is what the process under test had reported (see Teller) up to some point of a trace. The log on disk must
// agree with it.
type Heard struct {
	Durable  events.Sequence
	Offsets  map[string]events.Sequence
	Snapshot events.Sequence
	Key      []byte
	// all records that were appended, by number; several for a number if an append was not acknowledged
	Written map[events.Sequence][][]byte

	rest []byte // the beginning of a line that the process has not printed completely yet
}

// Hear adds further output of the process, with its reports. The output may end in the middle of a line.
func (h *Heard) Hear(said []byte) error {
	if h.Written == nil {
		h.Offsets, h.Written = map[string]events.Sequence{}, map[events.Sequence][][]byte{}
	}
	h.rest = append(h.rest, said...)
	for {
		line, rest, whole := bytes.Cut(h.rest, []byte("\n"))
		if !whole {
			return nil
		}
		h.rest = rest
		if err := h.line(bytes.Fields(line)); err != nil {
			return fmt.Errorf("understand %.80q: %w", line, err)
		}
	}
}

func (h *Heard) line(fields [][]byte) error {
	if len(fields) < 2 {
		return fmt.Errorf("it has %d words", len(fields))
	}
	last := string(fields[len(fields)-1])
	switch word := string(fields[0]); word {
	case "append":
		at, err := sequence(string(fields[1]))
		for i, digits := range fields[2:] {
			stored, bad := hex.DecodeString(string(digits))
			if bad != nil {
				return bad
			}
			n := at + events.Sequence(i)
			if !slices.ContainsFunc(h.Written[n], func(w []byte) bool { return bytes.Equal(w, stored) }) {
				h.Written[n] = append(h.Written[n], stored)
			}
		}
		return err
	case "durable":
		n, err := sequence(last)
		h.Durable = max(h.Durable, n)
		return err
	case "offset":
		n, err := sequence(last)
		name := string(fields[1])
		h.Offsets[name] = max(h.Offsets[name], n)
		return err
	case "snapshot":
		n, err := sequence(last)
		h.Snapshot = max(h.Snapshot, n)
		return err
	case "key":
		key, err := hex.DecodeString(last)
		h.Key = key
		return err
	default:
		return fmt.Errorf("%q is not known", word)
	}
}

func sequence(digits string) (events.Sequence, error) {
	n, err := strconv.ParseUint(digits, 10, 64)
	return events.Sequence(n), err
}
