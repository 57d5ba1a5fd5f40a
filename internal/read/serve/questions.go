package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/store"
)

// noteHeader has a note on an answer, quoted; one header for each.
const noteHeader = "Jobledger-Note"

// mostAtOnce is how many questions are answered at a time: each may fold many records. Others wait for their turn.
const mostAtOnce = 4

// askingFor bounds how long a question is worked at, the wait for its turn included.
const askingFor = 10 * time.Minute

// ask answers a question. Its name is the first part of the address, behind it stands what its arguments name, and its
// parameters are those of the address: /v1/explain/prod/etl?at=41.
func (e *endpoint) ask(question *ask.Entry) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		request := question.Begin()
		args, err := ask.Arguments(question.Takes, r.PathValue("object"), request.Flags, r.URL.Query())
		if err == nil {
			err = request.Read(args)
		}
		if err != nil {
			fail(w, err)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), askingFor)
		defer cancel()
		select {
		case e.turns <- struct{}{}:
			defer func() { <-e.turns }()
		case <-ctx.Done():
			http.Error(w, "too many questions are asked at once", http.StatusServiceUnavailable)
			return
		}
		damage := e.known()
		if strings.Contains(r.Header.Get("Accept"), framesType) {
			e.answerFrames(ctx, w, &request, damage)
			return
		}
		note := func(text string) { w.Header().Add(noteHeader, strconv.QuoteToASCII(text)) }
		answer, err := request.Ask(ctx, e.source(damage, note, note, nil))
		if damage.Note(err); answer == nil || err != nil && !damaged(err) {
			fail(w, err)
			return
		}
		e.writeAnswer(w, answer, damage)
	}
}

// source is where questions are answered from; read is called for each record that is read, if it is not nil.
func (e *endpoint) source(d *store.Damage, note, behind func(string), read func()) ask.Source {
	log := e.config.Log
	if read != nil {
		log = counted{log, read}
	}
	local := history.Local{Log: log, Clock: e.config.Now, Lists: e.config.Lists, Damage: d}
	return ask.Source{Source: local, Note: note, Behind: behind, Clock: time.Now, Damage: d, NotListed: func(context.Context) string {
		if e.config.NotListed == nil {
			return ""
		}
		return e.config.NotListed()
	}}
}

// writeAnswer writes an answer as the command does with -o json.
func (*endpoint) writeAnswer(w http.ResponseWriter, answer any, d *store.Damage) {
	for _, err := range d.Met() {
		w.Header().Add(damageHeader, strconv.QuoteToASCII(formatError(err)))
	}
	text, err := ask.Write(answer, d.Met())
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // who asked may be gone
}

// progressEvery is after how many records who waits for an answer in frames hears how far it is.
const progressEvery = 4096

// answerFrames answers a client: notes and progress as they come, then the answer, damage and errors.
func (e *endpoint) answerFrames(ctx context.Context, w http.ResponseWriter, request *ask.Request, damage *store.Damage) {
	out := &answer{w: bufio.NewWriterSize(w, 64<<10), flush: http.NewResponseController(w).Flush, frames: true}
	w.Header().Set("Content-Type", framesType)
	out.beside(damage)
	n := uint64(0)
	notes := func(kind byte) func(string) {
		return func(text string) { _ = writeFrame(out.w, kind, []byte(text)) }
	}
	src := e.source(damage, notes(frameNote), notes(frameBehind), func() {
		if n++; n%progressEvery == 0 {
			_ = writeFrame(out.w, frameProgress, strconv.AppendUint(nil, progressEvery, 10))
			out.push()
		}
	})
	answer, err := request.Ask(ctx, src)
	damage.Note(err)
	if answer != nil {
		text, failed := json.Marshal(answer)
		if err = errors.Join(err, failed); failed == nil {
			for part := range bytesIn(text, maxPart) {
				_ = writeFrame(out.w, frameAnswer, part) // an error shows in the end
			}
		}
	}
	out.beside(damage)
	for _, one := range parts(err) {
		_ = writeFrame(out.w, frameUnread, []byte(formatError(one)))
	}
	out.end(nil)
}

// maxPart is how much of an answer one frame has.
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

// parts are the errors that were joined, each by itself.
func parts(err error) (out []error) {
	joined, several := err.(interface{ Unwrap() []error }) // only errors.Join itself is meant
	switch {
	case err == nil:
		return nil
	case !several || !strings.Contains(err.Error(), "\n"): // fmt.Errorf joins within a line
		return []error{err}
	}
	for _, one := range joined.Unwrap() {
		out = append(out, parts(one)...)
	}
	return out
}

// Hears takes what is told while a question is answered.
type Hears struct {
	Note, Behind func(text string)
	Read         func(records uint64) // so many more were read
}

// Ask asks the controller a question that was read. There may be an answer beside an error, as with Asked.Ask.
func Ask[A any](ctx context.Context, c *Client, q *ask.Asked[A], hears Hears) (*A, error) {
	path, values := ask.Address(q.Takes, q.Arguments(), q.Flags)
	resp, err := c.get(ctx, framesType, values, append([]string{"v1", q.Name}, path...)...)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	in := bufio.NewReaderSize(resp.Body, 64<<10)
	var text bytes.Buffer
	var unread []error
	for {
		kind, body, err := nextFrame(in)
		if err != nil {
			return nil, err
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
			return decoded[A](&text, unread)
		default:
			return nil, unknownFrame(kind)
		}
	}
}

func decoded[A any](text *bytes.Buffer, unread []error) (*A, error) {
	var err error
	if len(unread) == 1 {
		err = unread[0]
	} else {
		err = errors.Join(unread...)
	}
	if text.Len() == 0 {
		return nil, err
	}
	var answer A
	if failed := json.Unmarshal(text.Bytes(), &answer); failed != nil {
		return nil, errors.Join(err, failed)
	}
	return &answer, err
}

// formatWrong writes a WrongError: its text, and the lines that are shown before it.
func formatWrong(err error, wrong *which.WrongError) string {
	return strings.Join(append([]string{"wrong " + err.Error()}, wrong.Lines()...), "\n")
}

// parseWrong reads what formatWrong wrote behind the class.
func parseWrong(text string) error {
	lines := strings.Split(text, "\n")
	return which.WrongLines(lines[0], lines[1:])
}

// counted is a log that tells of each record that is read.
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
