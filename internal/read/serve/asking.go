package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/turns"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/store"
)

// AsOfHeader is the response header with the record and the time as of which the answer is: "384 2026-03-27T03:00:36Z".
const AsOfHeader = "Jobledger-As-Of"

// Limits of a request, unless Asking sets others: its duration, and the size of the answer.
const (
	UsualWithin = 10 * time.Second
	MostBytes   = 4 << 20 // largest size of an answer, in bytes

	patientWithin = 10 * time.Minute // limit for Jobledger's own commands, which show progress
)

// The users if Asking.User is nil: there are two, all programs that read JSON, and all of Jobledger's own commands.
const (
	programs = ""
	commands = "commands"
)

// Told has functions to call while a request is answered. Only Read may be nil.
type Told struct {
	Damage *store.Damage       // collects the damage of the log that is met
	Note   func(text string)   // called with each remark for the user
	Behind func(text string)   // called with a remark on what was cut, and how to get the rest
	AsOf   func(history.Place) // called with the record as of which an answer about the past is
	Read   func()              // called after each record that is read; may be nil
}

// Asking has the settings of HTTP handlers that answer the questions of package ask. Source is required.
type Asking struct {
	// Source returns the log for one request. namespace is the namespace of the question; empty for all. done is called
	// when the answer is complete; it may be nil. An error refuses the request; the status is that of its method
	// HTTPStatus, if it has one.
	Source func(r *http.Request, namespace string, told Told) (src ask.Source, done func(), err error)
	// Known returns damage of the log that was found before the request. Each answer names it. Known may be nil.
	Known func() *store.Damage
	// Turns limits how many questions are answered at the same time. It may be shared with other services, which then
	// share the limit. If nil, the handlers make their own.
	Turns *turns.Turns
	// User returns the name of the user who sent a request: each user has a limit of questions, too. If nil, there are
	// two users: all of Jobledger's own commands, and all other programs.
	User func(r *http.Request) string
	// Within is the longest duration of a request; 0 means 10 s.
	Within time.Duration
	// Patient gives Jobledger's own commands ten minutes for a request, and answers of any size. Set it only for a
	// loopback address: the user sees the progress there, and can interrupt.
	Patient bool
}

// Handle adds handlers of the questions to mux: GET /v1/QUESTION and GET /v1/QUESTION/OBJECT.
func (a Asking) Handle(mux *http.ServeMux, questions []ask.Entry) {
	a = a.usual()
	for _, q := range questions {
		mux.HandleFunc("GET /v1/"+q.Name+"/{object...}", a.answer(&q))
		mux.HandleFunc("GET /v1/"+q.Name, a.answer(&q))
	}
}

// usual returns a copy of a with default values for unset fields.
func (a Asking) usual() Asking {
	if a.Turns == nil {
		a.Turns = turns.New(turns.Config{})
	}
	if a.Within <= 0 {
		a.Within = UsualWithin
	}
	if a.Known == nil {
		a.Known = func() *store.Damage { return &store.Damage{} }
	}
	return a
}

// acceptsFrames reports whether the request comes from a command of Jobledger: it reads frames (see frameRecord), while
// other programs read JSON.
func acceptsFrames(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), framesType) }

// asked is one request with a question, while it is answered.
type asked struct {
	*Asking
	w       http.ResponseWriter
	r       *http.Request
	request ask.Request
	frames  bool
	within  time.Duration
}

// answer returns the handler of a question. An address such as /v1/explain/prod/etl?at=41 has the name of the question,
// its arguments, and its flags.
func (a *Asking) answer(question *ask.Entry) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q := &asked{Asking: a, w: w, r: r, request: question.Begin(), within: a.Within}
		q.frames = acceptsFrames(r)
		if q.frames && a.Patient {
			q.within = patientWithin
		}
		args, err := ask.Arguments(question.Takes, r.PathValue("object"), q.request.Flags, r.URL.Query())
		if err == nil {
			err = q.request.Read(args)
		}
		if err != nil {
			q.fail(err)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), q.within)
		defer cancel()
		q.r = r.WithContext(ctx)
		done, err := q.turn(ctx)
		if err != nil {
			q.fail(err)
			return
		}
		defer done()
		if q.frames {
			q.inFrames(ctx)
			return
		}
		q.inJSON(ctx)
	}
}

// turn waits until the question may be answered: only so many are answered at the same time. If it returns no error,
// the caller must call done afterwards.
func (q *asked) turn(ctx context.Context) (done func(), err error) {
	user := programs
	switch {
	case q.User != nil:
		user = q.User(q.r)
	case q.frames:
		user = commands
	}
	if q.frames && q.Patient {
		return q.Turns.Wait(ctx, user)
	}
	return q.Turns.Take(ctx, user)
}

// from returns the log for the question, and done, which the caller must call afterwards. done is never nil.
func (q *asked) from(told Told) (src ask.Source, done func(), err error) {
	src, done, err = q.Source(q.r, q.request.Namespace(), told)
	if done == nil {
		done = func() {}
	}
	return src, done, err
}

// inJSON answers a program: with the JSON that the command prints with -o json.
func (q *asked) inJSON(ctx context.Context) {
	note := func(text string) { q.w.Header().Add(noteHeader, strconv.QuoteToASCII(text)) }
	damage := q.Known()
	var asOf history.Place
	src, done, err := q.from(Told{Damage: damage, Note: note, Behind: note, AsOf: func(at history.Place) { asOf = at }})
	if err != nil {
		q.fail(err)
		return
	}
	defer done()
	_, head, err := src.Head(ctx)
	if err != nil {
		q.fail(err)
		return
	}
	answer, err := q.request.Ask(ctx, src)
	switch damage.Note(err); {
	case ctx.Err() != nil:
		q.fail(ctx.Err())
		return
	case answer == nil || err != nil && !damaged(err):
		q.fail(err)
		return
	}
	text, err := ask.Write(answer, damage.Met())
	if err == nil && len(text) > MostBytes {
		err = &bytesError{len(text)}
	}
	if err != nil {
		q.fail(err)
		return
	}
	if asOf.Sequence == 0 {
		asOf = history.Place{Sequence: uint64(head.Sequence), Time: recordjson.Instant(head.Time)}
	}
	for _, err := range damage.Met() {
		q.w.Header().Add(damageHeader, strconv.QuoteToASCII(formatError(err)))
	}
	q.w.Header().Set(AsOfHeader, asOfText(asOf))
	writeTagged(q.w, q.r, text)
}

// progressEvery: a frame with the progress is sent each time 4096 records were read.
const progressEvery = 4096

// inFrames answers a command of Jobledger, in frames (a length, a type and a body): notes and progress as they occur,
// then the answer, damage of the log, and errors.
func (q *asked) inFrames(ctx context.Context) {
	out := &answer{w: bufio.NewWriterSize(q.w, 64<<10), flush: http.NewResponseController(q.w).Flush, frames: true}
	damage := q.Known()
	n := uint64(0)
	notes := func(kind byte) func(string) {
		// The error can be ignored: if a write fails, the writes at the end of the answer fail, too.
		return func(text string) { _ = writeFrame(out.w, kind, []byte(text)) }
	}
	src, done, err := q.from(Told{
		Damage: damage, Note: notes(frameNote), Behind: notes(frameBehind), AsOf: func(history.Place) {},
		Read: func() {
			if n++; n%progressEvery == 0 {
				_ = writeFrame(out.w, frameProgress, strconv.AppendUint(nil, progressEvery, 10))
				out.push()
			}
		},
	})
	if err != nil {
		q.fail(err)
		return
	}
	defer done()
	q.w.Header().Set("Content-Type", framesType)
	out.beside(damage)
	answer, err := q.request.Ask(ctx, src)
	damage.Note(err)
	if answer != nil {
		text, failed := ask.Pack(answer)
		switch {
		case failed == nil && len(text) > MostBytes && !q.Patient:
			err = errors.Join(err, &bytesError{len(text)})
		case failed == nil:
			for part := range bytesIn(text, maxPart) {
				_ = writeFrame(out.w, frameAnswer, part)
			}
		}
		err = errors.Join(err, failed)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = q.late()
	}
	out.beside(damage)
	for _, one := range parts(err) {
		_ = writeFrame(out.w, frameUnread, []byte(formatError(one)))
	}
	out.end(nil)
}

func (q *asked) late() error {
	return fmt.Errorf("it was not answered within %s: ask for less of it", q.within)
}

// bytesError is the error for an answer that is larger than MostBytes (4 MiB).
type bytesError struct{ bytes int }

func (e *bytesError) Error() string {
	return fmt.Sprintf("the answer has %d bytes, more than %d: ask for less of it, such as with limit", e.bytes, MostBytes)
}

// fail answers with an error: as text for commands of Jobledger (formatError), as JSON for other programs. If time is
// up, the error says so.
func (q *asked) fail(err error) {
	if errors.Is(err, context.DeadlineExceeded) && q.r.Context().Err() != nil {
		q.failWith(http.StatusGatewayTimeout, q.late())
		return
	}
	q.failWith(statusOf(err), err)
}

func (q *asked) failWith(status int, err error) {
	switch status {
	case http.StatusServiceUnavailable:
		q.w.Header().Set("Retry-After", "2")
	case http.StatusUnauthorized:
		q.w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if q.frames {
		http.Error(q.w, formatError(err), status)
		return
	}
	text, _ := json.Marshal(map[string]string{"error": err.Error()}) // a map of texts can always be encoded
	q.w.Header().Del(noteHeader)                                     // an error has no remarks: remove those set so far
	q.w.Header().Set("Content-Type", "application/json")
	q.w.WriteHeader(status)
	_, _ = q.w.Write(append(text, '\n')) // if this fails, the client has closed the connection
}
