package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/turns"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/store"
)

// Info says whose endpoint this is.
type Info struct {
	LogID    string             `json:"logID"`
	Epoch    uint64             `json:"epoch"`
	Sequence events.Sequence    `json:"sequence"`      // of the durable head
	Hash     string             `json:"hash"`          // the chain value there
	Time     recordjson.Instant `json:"time,omitzero"` // of the newest record
	Now      recordjson.Instant `json:"now,omitzero"`  // by the controller's clock
	PID      int                `json:"pid"`
	Version  string             `json:"version"`

	// NotListed says why the controller cannot list the cluster: which rights are missing. It is left out when it can, or
	// has done so.
	NotListed string `json:"notListed,omitempty"`
}

// Config is what an endpoint shows. Log is required.
type Config struct {
	Log     store.Reader
	Now     func() events.Time // the controller's clock; nil while there is none
	PID     int
	Version string
	// NotListed says why the controller cannot list the cluster; empty when it can. Nil for a controller that need not
	// say.
	NotListed func() string
	// Damage is what is known to be wrong with the log, and named in every answer; nil for nothing.
	Damage func() []error
	// Lists are those of the log's Jobs; nil when no lists of Jobs are asked for.
	Lists history.Lists
	// Done ends every answer that follows the log; nil for never.
	Done <-chan struct{}
	// Within is how long a question that a program asks may take; 0 for 10 s.
	Within time.Duration
}

type endpoint struct{ config Config }

// Handler answers
//
//	GET /v1/log                        whose log it is, and its head
//	GET /v1/records                    records: ?from=SEQ, ?through=SEQ, ?stream=STREAM, ?direction=backward, ?limit=N,
//	                                   ?follow=true, ?since=TIME, ?until=TIME, ?kind=KIND (any of several), ?namespace=NAMESPACE
//	GET /v1/streams/{namespace}/{name} the streams of the Jobs and CronJobs that bore that name, newest first
//
// and each question of package ask under its name: GET /v1/QUESTION, or GET /v1/QUESTION/OBJECT where it has an object,
// which is named as on a command line. The parameters are its flags: /v1/explain/prod/etl?at=41. The answer is what the
// command writes with -o json, within 10 s and 4 MiB; else it is {"error":TEXT}. Notes, and what was cut, are in headers
// Jobledger-Note, the record and the time as of which it is in Jobledger-As-Of; its ETag is the hash of its bytes.
//
// Records are JSON, one per line (see recordjson.Record), unless the request accepts the frames that Client reads. A
// listing that fails midway ends with a line {"error":TEXT}. Of a log that is damaged an answer is what can be read: it
// names the damage in its field damage, in a line {"damage":TEXT}, and in headers Jobledger-Damage.
func Handler(config Config) http.Handler {
	e := &endpoint{config}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/log", e.log)
	mux.HandleFunc("GET /v1/records", e.records)
	mux.HandleFunc("GET /v1/streams/{namespace}/{name}", e.streams)
	Asking{Source: e.source, Known: e.known, Patient: true, Within: config.Within}.Handle(mux, ask.All())
	return mux
}

// source is where questions are answered from.
func (e *endpoint) source(_ *http.Request, _ string, told Told) (ask.Source, func(), error) {
	log := e.config.Log
	if told.Read != nil {
		log = counted{log, told.Read}
	}
	local := history.Local{Log: log, Clock: e.config.Now, Lists: e.config.Lists, Damage: told.Damage}
	notListed := func(context.Context) string {
		if e.config.NotListed == nil {
			return ""
		}
		return e.config.NotListed()
	}
	return ask.Source{
		Source: local, Note: told.Note, Behind: told.Behind, AsOf: told.AsOf, Clock: time.Now, Damage: told.Damage,
		NotListed: notListed,
	}, nil, nil
}

// Guard answers only requests that were addressed to a loopback address: others come through a name that somebody
// points here, such as a web page's.
func Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !Loopback(r.Host) {
			http.Error(w, "this endpoint answers requests to a loopback address only", http.StatusForbidden)
			return
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}

// Loopback reports whether a "host:port" or "host" names this machine by a loopback address.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func (e *endpoint) log(w http.ResponseWriter, _ *http.Request) {
	id, head := e.config.Log.Identity(), e.config.Log.Head()
	now := events.Time(0)
	if e.config.Now != nil {
		now = e.config.Now()
	}
	notListed := ""
	if e.config.NotListed != nil {
		notListed = e.config.NotListed()
	}
	writeJSON(w, Info{
		Now: recordjson.Instant(now), NotListed: notListed,
		LogID: id.LogID, Epoch: id.Epoch, Sequence: head.Sequence, Hash: head.Hash.String(), Time: recordjson.Instant(head.Time),
		PID: e.config.PID, Version: e.config.Version,
	})
}

func find(ctx context.Context, log history.Local, q *request) iter.Seq2[events.Record, error] {
	switch {
	case q.follow && q.Stream != nil:
		return only(log.Follow(ctx, q.From), *q.Stream)
	case q.follow:
		return log.Follow(ctx, q.From)
	case q.backward:
		return log.ReadStream(ctx, *q.Stream, q.From, store.Backward)
	}
	return log.Records(ctx, q.Query)
}

func only(records iter.Seq2[events.Record, error], s events.Stream) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r, err := range records {
			if (err != nil || r.Stream == s) && !yield(r, err) {
				return
			}
		}
	}
}

// records streams an answer. What was found is flushed whenever there is nothing more for the moment.
func (e *endpoint) records(w http.ResponseWriter, r *http.Request) {
	q, err := parseRequest(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if q.follow && e.config.Done != nil {
		go func() { // ends with the request
			select {
			case <-e.config.Done:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	out := &answer{w: bufio.NewWriterSize(w, 64<<10), flush: http.NewResponseController(w).Flush, frames: q.frames}
	w.Header().Set("Content-Type", out.contentType())
	if q.follow {
		out.push() // the client shall see that it is connected
	}
	n, damage := 0, e.known()
	out.beside(damage)
	for rec, err := range find(ctx, e.beside(damage), &q) {
		if err != nil {
			damage.Tell(err)
			out.beside(damage)
			out.end(err)
			return
		}
		if out.record(&rec) != nil {
			return // the client has gone
		}
		if n++; n == q.Limit {
			break
		}
		if q.follow && rec.Sequence >= e.config.Log.Head().Sequence {
			out.push()
		}
	}
	out.beside(damage)
	out.end(nil)
}

// answer is a stream of records on its way out.
type answer struct {
	w      *bufio.Writer
	flush  func() error
	frames bool
}

func (a *answer) contentType() string {
	if a.frames {
		return framesType
	}
	return linesType
}

func (a *answer) record(r *events.Record) error {
	if a.frames {
		return writeRecord(a.w, r)
	}
	_, err := a.w.Write(append(recordjson.Record(r), '\n'))
	return err
}

func (a *answer) push() {
	if a.w.Flush() == nil {
		_ = a.flush() // an error shows in the next write
	}
}

// beside names damage beside which the answer is read, if it was not named.
func (a *answer) beside(d *store.Damage) {
	for _, err := range d.Untold() {
		d.Tell(err)
		if a.frames {
			_ = writeFrame(a.w, frameDamage, []byte(formatError(err))) // an error shows in the next write
			continue
		}
		text, _ := json.Marshal(map[string]string{"damage": err.Error()})
		_, _ = a.w.Write(append(text, '\n'))
	}
}

// end marks that the answer is complete, or why it is not. An error here means that the client has gone.
func (a *answer) end(err error) {
	switch {
	case a.frames && err == nil:
		_ = writeFrame(a.w, frameEnd, nil)
	case a.frames:
		_ = writeFrame(a.w, frameError, []byte(formatError(err)))
	case err != nil:
		text, _ := json.Marshal(map[string]string{"error": err.Error()})
		_, _ = a.w.Write(append(text, '\n'))
	}
	_ = a.w.Flush()
}

// damaged reports whether an error says that a log is damaged: what was read beside that is the answer, which names it.
func damaged(err error) bool { return errors.Is(err, store.ErrCorrupt) }

func (e *endpoint) streams(w http.ResponseWriter, r *http.Request) {
	damage := e.known()
	streams, err := e.beside(damage).Find(r.Context(), r.PathValue("namespace"), r.PathValue("name"))
	if err != nil && !damaged(err) {
		fail(w, err)
		return
	}
	names := []string{}
	for _, s := range streams {
		names = append(names, s.String())
	}
	writeBeside(w, names, damage)
}

func fail(w http.ResponseWriter, err error) { http.Error(w, formatError(err), statusOf(err)) }

// statusOf is the status of a request that failed.
func statusOf(err error) (status int) {
	status = http.StatusInternalServerError
	var wrong *which.WrongError
	var unknown *which.UnknownError
	var refused interface{ HTTPStatus() int }
	switch {
	case errors.As(err, &refused):
		status = refused.HTTPStatus()
	case errors.As(err, &wrong):
		status = http.StatusBadRequest
	case errors.As(err, &unknown):
		status = http.StatusNotFound
	case errors.Is(err, history.ErrNoJob), errors.Is(err, history.ErrNoCronJob):
		status = http.StatusNotFound
	case errors.Is(err, history.ErrQuery):
		status = http.StatusBadRequest
	case errors.As(err, new(*bytesError)):
		status = http.StatusUnprocessableEntity
	case errors.Is(err, store.ErrClosed), errors.Is(err, store.ErrFailed), errors.Is(err, turns.ErrBusy):
		status = http.StatusServiceUnavailable
	case errors.Is(err, store.ErrPruned):
		status = http.StatusGone
	}
	return status
}

func writeJSON(w http.ResponseWriter, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(b, '\n')) // who asked may be gone
}
