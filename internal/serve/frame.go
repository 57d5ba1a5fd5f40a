package serve

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/history"
	"github.com/jobledger/jobledger/store"
)

// Records travel in frames, so that a Client gives exactly what the log holds:
//
//	frame:  uvarint length of the rest, 1 byte type, body
//	  'R'   a record in stored form
//	  'E'   likewise, of a record whose facts were erased
//	  '.'   the end: nothing is missing; no body
//	  '!'   an error: its class, a space, its text
//
// An answer without '.' or '!' was cut.
const (
	frameRecord byte = 'R'
	frameErased byte = 'E'
	frameEnd    byte = '.'
	frameError  byte = '!'

	framesType = "application/vnd.jobledger.records.v1"
	linesType  = "application/x-ndjson"

	maxFrame = 64 << 20 // a record is far smaller; a longer one is not ours
)

func writeFrame(w io.Writer, kind byte, body []byte) error {
	b := binary.AppendUvarint(nil, uint64(len(body)+1))
	b = append(b, kind)
	if _, err := w.Write(append(b, body...)); err != nil {
		return fmt.Errorf("write frame: %w", err)
	}
	return nil
}

func writeRecord(w io.Writer, r *events.Record) error {
	body, err := events.AppendRecord(nil, r)
	if err != nil {
		return err
	}
	kind := frameRecord
	if _, erased := r.Facts.(*events.Erased); erased {
		kind = frameErased
	}
	return writeFrame(w, kind, body)
}

// errCut: the answer ended before it was complete.
var errCut = errors.New("the controller's answer was cut")

// readFrame reads one frame. io.EOF means the end that the controller marked.
func readFrame(in *bufio.Reader) (events.Record, error) {
	size, err := binary.ReadUvarint(in)
	if err != nil || size == 0 || size > maxFrame {
		return events.Record{}, fmt.Errorf("%w: %w", errCut, errors.Join(err, io.ErrUnexpectedEOF))
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(in, b); err != nil {
		return events.Record{}, fmt.Errorf("%w: %w", errCut, err)
	}
	kind, body := b[0], b[1:]
	switch kind {
	case frameEnd:
		return events.Record{}, io.EOF
	case frameError:
		return events.Record{}, parseError(string(body))
	case frameRecord, frameErased:
		r, err := events.DecodeRecord(body)
		if _, erased := r.Facts.(*events.Erased); err == nil && kind == frameErased && !erased {
			r.Facts = &events.Erased{}
		}
		return r, err
	}
	return events.Record{}, fmt.Errorf("the controller's answer has a frame of type %q: is it of another version?", kind)
}

// classes are the errors that callers tell apart.
var classes = map[string]error{
	"corrupt": store.ErrCorrupt, "pruned": store.ErrPruned, "closed": store.ErrClosed, "failed": store.ErrFailed,
	"nojob": history.ErrNoJob, "query": history.ErrQuery,
}

// remoteError is an error that the controller reported; it is of the class that it was there.
type remoteError struct {
	text  string
	class error
}

func (e *remoteError) Error() string { return e.text }
func (e *remoteError) Unwrap() error { return e.class }

func formatError(err error) string {
	for name, class := range classes {
		if errors.Is(err, class) {
			return name + " " + err.Error()
		}
	}
	return "other " + err.Error()
}

func parseError(s string) error {
	name, text, _ := strings.Cut(s, " ")
	return &remoteError{text: text, class: classes[name]}
}
