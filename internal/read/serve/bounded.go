package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/store"
)

// scopeParam is the URL parameter by which a user asks for the records of one namespace only, because he may not read
// the others. Without it the request is about all namespaces. It only decides which rights are needed: a user who may
// read all namespaces gets all records with it, too.
const scopeParam = "scope"

// HandleRecords adds handlers to mux that give users the records of the log:
//
//	GET /v1/log                        identity and newest record of the log: ?scope=NAMESPACE
//	GET /v1/records                    records, as Handler gives them, without follow: ?scope=NAMESPACE
//	GET /v1/streams/{namespace}/{name} streams (job/UID) of the Jobs and CronJobs with that name
//
// An answer ends after Within, or at MostBytes. A list of records that is cut in this way has the last line
// {"continue":N}; ask again with from=N for the rest.
func (a Asking) HandleRecords(mux *http.ServeMux) {
	a = a.usual()
	mux.HandleFunc("GET /v1/log", a.bounded(scopeOf, (*reading).log))
	mux.HandleFunc("GET /v1/records", a.bounded(scopeOf, (*reading).records))
	mux.HandleFunc("GET /v1/streams/{namespace}/{name}",
		a.bounded(func(r *http.Request) string { return r.PathValue("namespace") }, (*reading).streams))
}

func scopeOf(r *http.Request) string { return r.URL.Query().Get(scopeParam) }

// reading is one request for records, while it is answered.
type reading struct {
	*asked
	src    ask.Source
	damage *store.Damage
}

// bounded returns a handler that calls answer with the part of the log that the user may read. scope returns the
// namespace that the request asks for. The handler enforces the limits of a, such as the duration.
func (a *Asking) bounded(scope func(*http.Request) string, answer func(*reading, context.Context)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), a.Within)
		defer cancel()
		q := &reading{asked: &asked{Asking: a, w: w, r: r.WithContext(ctx), within: a.Within}, damage: a.Known()}
		q.frames = acceptsFrames(r)
		done, err := q.turn(ctx)
		if err != nil {
			q.fail(err)
			return
		}
		defer done()
		note := func(text string) { w.Header().Add(noteHeader, strconv.QuoteToASCII(text)) }
		told := Told{Damage: q.damage, Note: note, Behind: note, AsOf: func(history.Place) {}}
		src, release, err := a.Source(q.r, scope(r), told)
		if err != nil {
			q.fail(err)
			return
		}
		if release != nil {
			defer release()
		}
		q.src = src
		answer(q, ctx)
	}
}

// log answers with the identity of the log, and its newest record.
func (q *reading) log(ctx context.Context) {
	id, head, err := q.src.Head(ctx)
	if err != nil {
		q.fail(err)
		return
	}
	now, err := q.src.Now(ctx)
	if err != nil {
		q.fail(err)
		return
	}
	info := Info{
		LogID: id.LogID, Epoch: id.Epoch, Sequence: head.Sequence, Hash: head.Hash.String(),
		Time: recordjson.Instant(head.Time), Now: recordjson.Instant(now),
	}
	if q.src.NotListed != nil {
		info.NotListed = q.src.NotListed(ctx)
	}
	writeJSON(q.w, info)
}

// streams answers with the streams of the Jobs and CronJobs with a name. A stream is the records of one object, by its
// UID: job/UID.
func (q *reading) streams(ctx context.Context) {
	streams, err := q.src.Find(ctx, q.r.PathValue("namespace"), q.r.PathValue("name"))
	if err != nil && !damaged(err) {
		q.fail(err)
		return
	}
	q.damage.Note(err)
	writeBeside(q.w, namesOf(streams), q.damage)
}

// records answers with records, until there are no more or a limit of time or size is reached.
func (q *reading) records(ctx context.Context) {
	values := q.r.URL.Query()
	values.Del(scopeParam)
	wanted, err := parseValues(values)
	if err == nil && wanted.follow {
		err = errNoFollow
	}
	if err != nil {
		q.failWith(http.StatusBadRequest, err)
		return
	}
	sent := &countedBytes{to: q.w}
	out := &answer{w: bufio.NewWriterSize(sent, 64<<10), flush: http.NewResponseController(q.w).Flush, frames: q.frames}
	q.w.Header().Set("Content-Type", out.contentType())
	out.beside(q.damage)
	n, next := 0, events.Sequence(0)
	for r, err := range find(ctx, q.src.Source, &wanted) {
		late := errors.Is(err, context.DeadlineExceeded)
		if late || err == nil && n > 0 && sent.n > MostBytes {
			q.cut(out, next, n > 0)
			return
		}
		if err != nil {
			q.damage.Tell(err)
			out.beside(q.damage)
			out.end(err)
			return
		}
		if out.record(&r) != nil {
			return // the write failed, so the client has closed the connection
		}
		next = r.Sequence + 1
		if wanted.backward {
			next = r.Previous
		}
		if n++; n == wanted.Limit || next == 0 {
			break
		}
	}
	out.beside(q.damage)
	out.end(nil)
}

// errNoFollow is the error for follow=true. Such an answer has no end, and would use up the limit of questions at the
// same time.
var errNoFollow = errors.New("follow=true: this listing ends; ask again from the next record on")

// cut ends an answer that reached a limit, and says that it continues with record next. some is set if a record was
// sent; if none was, cut answers with an error.
func (q *reading) cut(out *answer, next events.Sequence, some bool) {
	out.beside(q.damage)
	if !some {
		out.end(q.late())
		return
	}
	if out.frames {
		// If this fails, the client finds no end of the answer, and knows that it was cut.
		_ = writeFrame(out.w, frameMore, nil)
	} else {
		text, _ := json.Marshal(map[string]events.Sequence{"continue": next}) // a number can always be encoded
		_, _ = out.w.Write(append(text, '\n'))
	}
	_ = out.w.Flush()
}

// countedBytes counts the bytes that are written to it.
type countedBytes struct {
	to io.Writer
	n  int
}

func (c *countedBytes) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	c.n += n
	return n, err
}
