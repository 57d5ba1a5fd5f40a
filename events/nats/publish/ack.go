package publish

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// ack is the server's acknowledgement of a message.
type ack struct {
	Stream    string              `json:"stream"`
	Sequence  uint64              `json:"seq"` // position of the message in the stream
	Duplicate bool                `json:"duplicate"`
	Error     *jetstream.APIError `json:"error"`
}

var (
	// errLostPlace: the server refused a message because an earlier one is missing, or because the stream has messages
	// that we do not know of. The next session asks for the end of the stream.
	errLostPlace = errors.New("the stream does not end where it was thought to")

	errNoStream = errors.New("no stream takes the subjects, or its leader is away")
)

// wrongPlace holds the server's error codes for a message that does not follow the message that its headers name. The
// client has no name for the last code, "wrong last msg ID".
var wrongPlace = []jetstream.ErrorCode{jetstream.JSErrCodeStreamWrongLastSequence, jetstream.JSErrCodeStreamWrongLastSequenceConstant, 10070}

// parseAck parses an acknowledgement. It returns the server's refusal as an error.
func parseAck(m *natsgo.Msg) (ack, error) {
	if a, ok := parseUsual(m.Data); ok {
		return a, nil
	}
	if len(m.Data) == 0 && m.Header.Get("Status") == "503" {
		return ack{}, errNoStream
	}
	var a ack
	if err := json.Unmarshal(m.Data, &a); err != nil {
		return ack{}, fmt.Errorf("an acknowledgement cannot be read: %w", err)
	}
	if a.Error != nil {
		code := a.Error.ErrorCode
		if slices.Contains(wrongPlace, code) {
			return ack{}, errLostPlace
		}
		if code == errCodeBatchDuplicate {
			return ack{}, errKnown
		}
		return ack{}, fmt.Errorf("the server refuses a message: %s (%d)", a.Error.Description, code)
	}
	return a, nil
}

// parseUsual is a fast path for the usual form, {"stream":"NAME","seq":1}. ok is false for any other text.
func parseUsual(b []byte) (ack, bool) {
	rest, ok := bytes.CutPrefix(b, []byte(`{"stream":"`))
	if !ok {
		return ack{}, false
	}
	end := bytes.IndexAny(rest, `"\`)
	if end < 0 {
		return ack{}, false
	}
	number, ok := bytes.CutPrefix(rest[end:], []byte(`","seq":`))
	if !ok {
		return ack{}, false
	}
	number, ok = bytes.CutSuffix(bytes.TrimSpace(number), []byte("}"))
	if !ok {
		return ack{}, false
	}
	n, err := strconv.ParseUint(string(number), 10, 64)
	return ack{Sequence: n}, err == nil
}
