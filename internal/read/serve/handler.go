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

// Info is the answer to GET /v1/log: which log a controller has, and how far it goes.
type Info struct {
	LogID    string             `json:"logID"`
	Epoch    uint64             `json:"epoch"`
	Sequence events.Sequence    `json:"sequence"`      // sequence of the last durable record
	Hash     string             `json:"hash"`          // hash over all records through Sequence
	Time     recordjson.Instant `json:"time,omitzero"` // time of the newest record
	Now      recordjson.Instant `json:"now,omitzero"`  // present time by the controller's clock
	PID      int                `json:"pid"`
	Version  string             `json:"version"`

	// NotListed says which rights the controller lacks to list the cluster. It is empty if the controller can list it,
	// or has listed it since its start.
	NotListed string `json:"notListed,omitempty"`
}

// Config has the settings of Handler. Log is required.
type Config struct {
	Log     store.Reader
	Now     func() events.Time // clock of the controller; nil for none
	PID     int
	Version string
	// NotListed returns the reason why the controller cannot list the cluster; empty if it can. It may be nil.
	NotListed func() string
	// Damage returns the damage of the log that is known. Each answer names it. It may be nil.
	Damage func() []error
	// Lists gives lists of Jobs and CronJobs, in pages. It may be nil if no client asks for lists.
	Lists history.Lists
	// Done is closed to end the answers that follow the log (they wait for new records); nil for never.
	Done <-chan struct{}
	// Within is the longest duration of a question of a program; 0 means 10 s.
	Within time.Duration
}

type endpoint struct{ config Config }

// Handler returns the HTTP handler that gives clients the log of a controller. It answers
//
//	GET /v1/log                        identity and newest record of the log
//	GET /v1/records                    records: ?from=SEQ, ?through=SEQ, ?stream=STREAM, ?direction=backward,
//	                                   ?limit=N, ?follow=true, ?since=TIME, ?until=TIME, ?kind=KIND (any of several),
//	                                   ?namespace=NAMESPACE
//	GET /v1/streams/{namespace}/{name} streams of the Jobs and CronJobs with that name, newest first
//
// A stream is the records of one object: job/UID. Each question of package ask has an address, too: GET /v1/QUESTION,
// or GET /v1/QUESTION/OBJECT with an object as on a command line. The parameters are the flags of the command:
// /v1/explain/prod/etl?at=41. The answer is the output of the command with -o json. It takes at most 10 s and 4 MiB;
// otherwise the answer is {"error":TEXT}. The headers Jobledger-Note have notes, and what was cut. The header
// Jobledger-As-Of has the record and the time as of which the answer is. The ETag is the hash of the answer's bytes.
//
// Records are JSON, one per line (see recordjson.Record), unless the request accepts the frames that Client reads. If
// reading fails in the middle, the last line is {"error":TEXT}. If the log is damaged, an answer has the readable part
// and names the damage: in its field damage, in a line {"damage":TEXT}, and in headers Jobledger-Damage.
func Handler(config Config) http.Handler {
	e := &endpoint{config}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/log", e.log)
	mux.HandleFunc("GET /v1/records", e.records)
	mux.HandleFunc("GET /v1/streams/{namespace}/{name}", e.streams)
	Asking{Source: e.source, Known: e.known, Patient: true, Within: config.Within}.Handle(mux, ask.All())
	return mux
}

// source implements Asking.Source: it returns the log from which a question is answered.
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

// Guard wraps a handler, and passes on only requests whose Host header is a loopback address. It answers others with
// 403: a web page could send them through a name that it points to this machine (DNS rebinding).
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

// Loopback reports whether the host in address, "host:port" or "host", is localhost or a loopback address.
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

func find(ctx context.Context, log history.Source, q *request) iter.Seq2[events.Record, error] {
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

// records answers with records as they are read. If the next record is not ready yet, it sends what is written so far.
func (e *endpoint) records(w http.ResponseWriter, r *http.Request) {
	q, err := parseRequest(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if q.follow && e.config.Done != nil {
		go func() { // this goroutine ends with the request
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
		out.push() // send the headers now, so that the client knows that it is connected
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
			return // the write failed, so the client has closed the connection
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

// answer writes records to a client: as frames for a Client of this package, as lines of JSON for others.
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
		_ = a.flush() // the error can be ignored: the next write fails, too
	}
}

// beside writes the damage in d that this answer has not named so far.
func (a *answer) beside(d *store.Damage) {
	for _, err := range d.Untold() {
		d.Tell(err)
		if a.frames {
			// The error can be ignored: the next write fails, too.
			_ = writeFrame(a.w, frameDamage, []byte(formatError(err)))
			continue
		}
		text, _ := json.Marshal(map[string]string{"damage": err.Error()})
		_, _ = a.w.Write(append(text, '\n'))
	}
}

// end writes the mark that the answer is complete, or the error err. It ignores failed writes, which mean that the
// client closed the connection.
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

// damaged reports whether err only means that the log is damaged. There is then also an answer, from what could be
// read.
func damaged(err error) bool { return errors.Is(err, store.ErrCorrupt) }

func (e *endpoint) streams(w http.ResponseWriter, r *http.Request) {
	damage := e.known()
	streams, err := e.beside(damage).Find(r.Context(), r.PathValue("namespace"), r.PathValue("name"))
	if err != nil && !damaged(err) {
		fail(w, err)
		return
	}
	writeBeside(w, namesOf(streams), damage)
}

// namesOf returns the names of streams, such as "job/UID". It never returns nil, which would be null in JSON.
func namesOf(streams []events.Stream) []string {
	names := []string{}
	for _, s := range streams {
		names = append(names, s.String())
	}
	return names
}

func fail(w http.ResponseWriter, err error) { http.Error(w, formatError(err), statusOf(err)) }

// statusOf returns the HTTP status for an error, such as 404 for an object that the log does not know.
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
	_, _ = w.Write(append(b, '\n')) // if this fails, the client has closed the connection
}
