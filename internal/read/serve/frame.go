package serve

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/store"
)

// Records are sent to a Client in frames, so that the Client gets them unchanged:
//
//	frame:  uvarint length of the rest, 1 byte type, body
//	  'R'   a record in stored form
//	  'E'   the same for a record with erased facts
//	  '.'   the end: nothing is missing; no body
//	  'D'   damage of the log, in the form of an error; the answer goes on
//	  '!'   an error: its class, a space, its text; the answer ends
//	  '>'   a limit is reached, and more records follow those that were sent; the answer ends
//
// The answer to a question has further types:
//
//	'N'   a note
//	'n'   what was cut, and how to continue
//	'P'   progress: the number of records read since the last 'P'
//	'A'   a part of the answer in JSON, at most maxPart bytes
//	'U'   an error that belongs to the answer, which is sent as well
//
// If none of '.', '!' and '>' is the last frame, the answer was cut (errCut).
const (
	frameRecord byte = 'R'
	frameErased byte = 'E'
	frameEnd    byte = '.'
	frameDamage byte = 'D'
	frameError  byte = '!'
	frameMore   byte = '>'

	frameNote     byte = 'N'
	frameBehind   byte = 'n'
	frameProgress byte = 'P'
	frameAnswer   byte = 'A'
	frameUnread   byte = 'U'

	framesType = "application/vnd.jobledger.records.v1"
	linesType  = "application/x-ndjson"

	maxFrame = 64 << 20 // largest length of a frame; records are far smaller, so a longer one is an error
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

// errCut means that the response ended before the answer was complete.
var errCut = errors.New("the controller's answer was cut")

// errMore means that the server cut the answer at a limit: more records follow those that it sent.
var errMore = errors.New("the answer reached a bound")

// nextFrame reads one frame: its type, and its body. If the response ends within the frame, it returns errCut.
func nextFrame(in *bufio.Reader) (kind byte, body []byte, err error) {
	size, err := binary.ReadUvarint(in)
	if err != nil || size == 0 || size > maxFrame {
		return 0, nil, fmt.Errorf("%w: %w", errCut, errors.Join(err, io.ErrUnexpectedEOF))
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(in, b); err != nil {
		return 0, nil, fmt.Errorf("%w: %w", errCut, err)
	}
	return b[0], b[1:], nil
}

// readFrame reads one frame of a list of records, and returns its record. At the frame that marks the end it returns
// io.EOF.
func readFrame(in *bufio.Reader) (events.Record, error) {
	kind, body, err := nextFrame(in)
	if err != nil {
		return events.Record{}, err
	}
	switch kind {
	case frameEnd:
		return events.Record{}, io.EOF
	case frameMore:
		return events.Record{}, errMore
	case frameDamage:
		return events.Record{}, &besideError{parseError(string(body))}
	case frameError:
		return events.Record{}, parseError(string(body))
	case frameRecord, frameErased:
		r, err := events.DecodeRecord(body)
		if _, erased := r.Facts.(*events.Erased); err == nil && kind == frameErased && !erased {
			r.Facts = &events.Erased{}
		}
		return r, err
	}
	return events.Record{}, unknownFrame(kind)
}

func unknownFrame(kind byte) error {
	return fmt.Errorf("the controller's answer has a frame of type %q: is it of another version?", kind)
}

// classes has the errors that a client must recognize, by the name with which they are sent.
var classes = map[string]error{
	"corrupt": store.ErrCorrupt, "pruned": store.ErrPruned, "closed": store.ErrClosed, "failed": store.ErrFailed,
	"nojob": history.ErrNoJob, "nocronjob": history.ErrNoCronJob, "query": history.ErrQuery,
}

// remoteError is an error that the server sent. errors.Is finds the error of its class, such as store.ErrPruned.
type remoteError struct {
	text  string
	class error
}

func (e *remoteError) Error() string { return e.text }
func (e *remoteError) Unwrap() error { return e.class }

// besideError is damage of the log that a frame reports in the middle of an answer. The answer goes on after it.
type besideError struct{ error }

func (e *besideError) Unwrap() error { return e.error }

// place is the JSON that says where the log is damaged, so that the client can continue reading after the damage.
type place struct {
	Path string          `json:"path,omitempty"`
	At   events.Sequence `json:"at,omitempty"`
	Next events.Sequence `json:"next,omitempty"`
	Lost bool            `json:"lost,omitempty"` // records are known to be lost
	Says string          `json:"says,omitempty"` // what was found there
	Hint string          `json:"hint,omitempty"`
}

// formatError returns an error as text: its class (a word in classes), a space, and its text, for example "nojob TEXT".
// For damage of the log, the place comes before the text: corrupt {"at":41,"next":80} TEXT.
func formatError(err error) string {
	var bad *store.CorruptError
	if errors.As(err, &bad) {
		p := place{Path: bad.Path, At: bad.At, Next: bad.Next, Lost: errors.Is(bad, store.ErrLost), Hint: bad.Hint}
		if bad.Cause != nil {
			p.Says = bad.Cause.Error()
		}
		where, _ := json.Marshal(p) // numbers and texts can always be encoded
		return "corrupt " + string(where) + " " + err.Error()
	}
	var wrong *which.WrongError
	if errors.As(err, &wrong) {
		return formatWrong(err, wrong)
	}
	var unknown *which.UnknownError
	if errors.As(err, &unknown) {
		return "unknown " + err.Error()
	}
	for name, class := range classes {
		if errors.Is(err, class) {
			return name + " " + err.Error()
		}
	}
	return "other " + err.Error()
}

func parseError(s string) error {
	name, text, _ := strings.Cut(s, " ")
	switch name {
	case "wrong":
		return parseWrong(text)
	case "unknown":
		return which.Unknown("%s", text)
	}
	class := classes[name]
	var at place
	if d := json.NewDecoder(strings.NewReader(text)); name == "corrupt" && d.Decode(&at) == nil {
		text = strings.TrimPrefix(text[d.InputOffset():], " ")
		bad := &store.CorruptError{Path: at.Path, At: at.At, Next: at.Next, Hint: at.Hint}
		switch class = bad; {
		case at.Lost:
			bad.Cause = &store.LossError{Says: at.Says}
		case at.Says != "":
			bad.Cause = errors.New(at.Says)
		}
	}
	return &remoteError{text: text, class: class}
}
