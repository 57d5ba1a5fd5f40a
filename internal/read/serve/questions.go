package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strconv"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/store"
)

// noteHeader is the response header with a remark on the answer, quoted. Each remark has its own header.
const noteHeader = "Jobledger-Note"

// maxPart is the largest part of an answer in one frame, in bytes.
const maxPart = 1 << 20

func bytesIn(text []byte, most int) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(text) > 0 {
			n := min(most, len(text))
			if !yield(text[:n]) {
				return
			}
			text = text[n:]
		}
	}
}

// parts splits err into the errors that errors.Join has joined, also those within a joined error.
func parts(err error) (out []error) {
	// The results of errors.Join, and of fmt.Errorf with several %w, have the method Unwrap() []error.
	joined, several := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return nil
	// One error, or several that fmt.Errorf joined: it puts them on one line, errors.Join does not. They stay one
	// error.
	case !several || !strings.Contains(err.Error(), "\n"):
		return []error{err}
	}
	for _, one := range joined.Unwrap() {
		out = append(out, parts(one)...)
	}
	return out
}

// Hears has functions to call while a question is answered: Note and Behind with remarks for the user. None may be nil.
type Hears struct {
	Note, Behind func(text string)
	Read         func(records uint64) // called with the number of records read since the last call
}

// Ask sends the question q to the server, after q.Read. If the log is damaged, it may return an answer and an error.
func Ask[A any](ctx context.Context, c *Client, q *ask.Asked[A], hears Hears) (*A, error) {
	answer := new(A)
	there, err := c.answer(ctx, q.Remote(answer), hears)
	if !there {
		return nil, err
	}
	return answer, err
}

// answer sends a question, and decodes the answer into q.Answer. It returns false (result there) if no answer came. If
// the log is damaged, an error comes with the answer.
func (c *Client) answer(ctx context.Context, q ask.Remote, hears Hears) (there bool, err error) {
	resp, err := c.get(ctx, framesType, q.Values, append([]string{"v1", q.Name}, q.Path...)...)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	in := bufio.NewReaderSize(resp.Body, 64<<10)
	var text bytes.Buffer
	var unread []error
	for {
		kind, body, err := nextFrame(in)
		if err != nil {
			return false, err
		}
		switch kind {
		case frameNote:
			hears.Note(string(body))
		case frameBehind:
			hears.Behind(string(body))
		case frameProgress:
			n, _ := strconv.ParseUint(string(body), 10, 64)
			hears.Read(n)
		case frameAnswer:
			text.Write(body)
		case frameDamage:
			c.Damage.Note(parseError(string(body)))
		case frameUnread:
			unread = append(unread, parseError(string(body)))
		case frameEnd:
			return decoded(&text, q.Answer, unread)
		default:
			return false, unknownFrame(kind)
		}
	}
}

// decoded decodes the JSON of an answer into answer. It returns the errors in unread, which belong to the answer, as
// one.
func decoded(text *bytes.Buffer, answer any, unread []error) (there bool, err error) {
	if len(unread) == 1 {
		err = unread[0]
	} else {
		err = errors.Join(unread...)
	}
	if text.Len() == 0 {
		return false, err
	}
	if failed := json.Unmarshal(text.Bytes(), answer); failed != nil {
		return false, errors.Join(err, failed)
	}
	return true, err
}

// formatWrong returns the text by which a WrongError is sent: the class "wrong", the error, and the lines to print
// before it.
func formatWrong(err error, wrong *which.WrongError) string {
	return strings.Join(append([]string{"wrong " + err.Error()}, wrong.Lines()...), "\n")
}

// parseWrong is the reverse of formatWrong; text is without the class.
func parseWrong(text string) error {
	lines := strings.Split(text, "\n")
	return which.WrongLines(lines[0], lines[1:])
}

// counted is a log that calls read after each record that is read from it.
type counted struct {
	store.Reader
	read func()
}

func (c counted) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return c.records(c.Reader.Read(ctx, from))
}

func (c counted) ReadStream(ctx context.Context, s events.Stream, from events.Sequence, dir store.Direction) iter.Seq2[events.Record, error] {
	return c.records(c.Reader.ReadStream(ctx, s, from, dir))
}

func (c counted) records(all iter.Seq2[events.Record, error]) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r, err := range all {
			if c.read(); !yield(r, err) {
				return
			}
		}
	}
}
