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

// AsOfHeader has the record and the time as of which an answer is: "384 2026-03-27T03:00:36Z".
const AsOfHeader = "Jobledger-As-Of"

// The bounds of a request, unless others are given.
const (
	UsualWithin = 10 * time.Second
	MostBytes   = 4 << 20 // of an answer

	patientWithin = 10 * time.Minute // of a command on this machine, which shows how far it is
)

// The users whose turns are counted where requests have none: programs that read JSON, and our own commands.
const (
	programs = ""
	commands = "commands"
)

// Told takes what is told while a request is answered. All are set, but for Read.
type Told struct {
	Damage *store.Damage       // notes what is met
	Note   func(text string)   // what the user should know beside the answer
	Behind func(text string)   // what was cut, and how to go on
	AsOf   func(history.Place) // the point of the past that the answer is as of, if it is of one
	Read   func()              // a record was read; nil for nobody wants to know
}

// Asking says how the questions of package ask are answered over HTTP. Source is required.
type Asking struct {
	// Source is where the question of a request is answered from, and namespace the one that it is about; empty for all.
	// done is called when the answer is made; nil for nothing. An error refuses the request, with the status that its
	// method HTTPStatus gives, if it has one.
	Source func(r *http.Request, namespace string, told Told) (src ask.Source, done func(), err error)
	// Known begins the damage of an answer; nil for none.
	Known func() *store.Damage
	// Turns bound how many questions are answered at a time, here and wherever else they are taken; nil for turns of its
	// own.
	Turns *turns.Turns
	// User says whose turn a request takes; nil for one user, beside whom our own commands are another one.
	User func(r *http.Request) string
	// Within is how long a request may take; 0 for 10 s.
	Within time.Duration
	// Patient lets our own commands wait for their turn and their answer for ten minutes, and has no bound on the size of
	// their answers. It is for a loopback address, where they show how far they are and are stopped with a key.
	Patient bool
}

// Handle answers each question under its name: GET /v1/QUESTION, or GET /v1/QUESTION/OBJECT.
func (a Asking) Handle(mux *http.ServeMux, questions []ask.Entry) {
	if a.Turns == nil {
		a.Turns = turns.New(turns.Config{})
	}
	if a.Within <= 0 {
		a.Within = UsualWithin
	}
	if a.Known == nil {
		a.Known = func() *store.Damage { return &store.Damage{} }
	}
	for _, q := range questions {
		mux.HandleFunc("GET /v1/"+q.Name+"/{object...}", a.answer(&q))
		mux.HandleFunc("GET /v1/"+q.Name, a.answer(&q))
	}
}

// asked is a request on its way.
type asked struct {
	*Asking
	w       http.ResponseWriter
	r       *http.Request
	request ask.Request
	frames  bool
	within  time.Duration
}

// answer answers a question. Its name is the first part of the address, behind it stands what its arguments name, and
// its parameters are those of the address: /v1/explain/prod/etl?at=41.
func (a *Asking) answer(question *ask.Entry) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q := &asked{Asking: a, w: w, r: r, request: question.Begin(), within: a.Within}
		q.frames = strings.Contains(r.Header.Get("Accept"), framesType)
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

// turn waits for a turn.
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

// from is where the question is answered from; done is never nil.
func (q *asked) from(told Told) (src ask.Source, done func(), err error) {
	src, done, err = q.Source(q.r, q.request.Namespace(), told)
	if done == nil {
		done = func() {}
	}
	return src, done, err
}

// inJSON answers as the command does with -o json.
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

// progressEvery is after how many records who waits for an answer in frames hears how far it is.
const progressEvery = 4096

// inFrames answers a client: notes and progress as they come, then the answer, damage and errors.
func (q *asked) inFrames(ctx context.Context) {
	out := &answer{w: bufio.NewWriterSize(q.w, 64<<10), flush: http.NewResponseController(q.w).Flush, frames: true}
	damage := q.Known()
	n := uint64(0)
	notes := func(kind byte) func(string) {
		return func(text string) { _ = writeFrame(out.w, kind, []byte(text)) } // an error shows in the end
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
		text, failed := json.Marshal(answer)
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

// bytesError: an answer is too large.
type bytesError struct{ bytes int }

func (e *bytesError) Error() string {
	return fmt.Sprintf("the answer has %d bytes, more than %d: ask for less of it, such as with limit", e.bytes, MostBytes)
}

// fail says why there is no answer: to our own commands as formatError does, to others in JSON.
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
	text, _ := json.Marshal(map[string]string{"error": err.Error()}) // a map of texts
	q.w.Header().Del(noteHeader)                                     // notes are on an answer
	q.w.Header().Set("Content-Type", "application/json")
	q.w.WriteHeader(status)
	_, _ = q.w.Write(append(text, '\n')) // who asked may be gone
}
