package feed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/turns"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/store"
)

const (
	atOnce    = 4
	partBytes = 4 << 20 // bytes of records in a part; batches are never split
)

// Config configures a Giver. All fields are optional.
type Config struct {
	Name      string
	Now       func() events.Time // by the controller's clock; 0 while it has none
	Leads     func() bool        // whether the Lease is held; nil for a controller without a Lease
	NotListed func() string
}

// Giver serves the records of one log. Make it with NewGiver.
type Giver struct {
	config Config
	turns  *turns.Turns
	log    atomic.Pointer[given] // nil until Open
}

// given is an open log.
type given struct{ store.Shared }

// NewGiver returns a Giver without a log.
func NewGiver(config Config) *Giver {
	return &Giver{config: config, turns: turns.New(turns.Config{All: atOnce, Each: atOnce})}
}

// Open sets the log to serve. After the log is closed, requests get 503.
func (g *Giver) Open(log store.Shared) { g.log.Store(&given{log}) }

// ServeHTTP answers HeadPath and RecordsPath, and no other path.
func (g *Giver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if r.URL.Path != HeadPath && r.URL.Path != RecordsPath {
		http.Error(w, "a controller answers no question here: ask a reader ('jobledger serve')", http.StatusNotFound)
		return
	}
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "only GET is answered", http.StatusMethodNotAllowed)
		return
	}
	log := g.log.Load()
	if log == nil {
		fail(w, errNotOpen)
		return
	}
	done, err := g.turns.Take(r.Context(), "")
	if err != nil {
		fail(w, err)
		return
	}
	defer done()
	if r.URL.Path == HeadPath {
		g.giveHead(w, log)
		return
	}
	from, err := parseFrom(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	body, err := g.part(r.Context(), log, from)
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", partType)
	_, _ = w.Write(body) // an error means that the client is gone
}

func parseFrom(r *http.Request) (events.Sequence, error) {
	for name := range r.URL.Query() {
		if name != "from" {
			return 0, fmt.Errorf("%s: there is no such parameter", name)
		}
	}
	text := r.URL.Query().Get("from")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("from=%q is no number of a record", text)
	}
	return events.Sequence(n), nil
}

var errNotOpen = errors.New("the log of this controller is not open yet")

// fail answers with an error: 410 Gone for records that are pruned, 503 with Retry-After while the log is not open or
// the Giver is busy, and else 500.
func fail(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	switch {
	case errors.Is(err, store.ErrPruned):
		status = http.StatusGone
	case errors.Is(err, errNotOpen), errors.Is(err, turns.ErrBusy), errors.Is(err, store.ErrClosed):
		w.Header().Set("Retry-After", "2")
		status = http.StatusServiceUnavailable
	}
	http.Error(w, err.Error(), status)
}

// head returns the current head. files may be slightly older.
func (g *Giver) head(log *given, files []store.File) Head {
	id, at := log.Identity(), log.Head()
	h := Head{
		Name: g.config.Name, Leads: g.config.Leads == nil || g.config.Leads(), LogID: id.LogID, Epoch: id.Epoch,
		Sequence: at.Sequence, Time: recordjson.Instant(at.Time), First: 1,
	}
	if len(files) > 0 {
		h.First = files[0].First
	}
	if g.config.Now != nil {
		h.Now = recordjson.Instant(g.config.Now())
	}
	if g.config.NotListed != nil {
		h.NotListed = g.config.NotListed()
	}
	return h
}

func (g *Giver) giveHead(w http.ResponseWriter, log *given) {
	files, err := log.Files()
	var text []byte
	if err == nil {
		text, err = json.Marshal(g.head(log, files))
	}
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(text, '\n')) // an error means that the client is gone
}

// part returns the body of an answer. Its head is not before its last record.
func (g *Giver) part(ctx context.Context, log *given, from events.Sequence) ([]byte, error) {
	before, err := log.Files()
	if err != nil {
		return nil, err
	}
	var begin []byte
	if from == 0 {
		if from, begin, err = log.beginning(before); err != nil {
			return nil, err
		}
	}
	hash, records, err := log.records(ctx, from)
	if err != nil {
		return nil, err
	}
	after, err := log.Files() // taken after reading, so it includes the file of each record read
	if err != nil {
		return nil, err
	}
	begins := map[events.Sequence]bool{}
	for _, f := range append(before, after...) {
		begins[f.First] = true
	}
	text, err := json.Marshal(g.head(log, after))
	if err != nil {
		return nil, err
	}
	body := appendFrame(nil, frameHead, text)
	if begin != nil {
		body = appendFrame(body, frameBegin, begin)
	}
	for i, stored := range records {
		if begins[from+events.Sequence(i)] {
			body = appendFrame(body, frameFile, nil)
		}
		body = appendFrame(body, frameRecord, stored)
	}
	return appendFrame(body, frameEnd, hash[:]), nil
}

// beginning returns the first record that the log keeps, and the body of the frame that says how its file begins.
func (l *given) beginning(files []store.File) (events.Sequence, []byte, error) {
	if len(files) == 0 {
		return 0, nil, errors.New("this log has no files, so it cannot be copied from its beginning")
	}
	first := files[0].First
	file, err := l.Share(first)
	if err != nil {
		return 0, nil, fmt.Errorf("read how the log begins: %w", err)
	}
	return first, append(file.Before.Hash[:], file.Begin...), file.Close()
}

// records returns stored whole batches from record from on, and the chain value behind them; without batches, the chain
// value before from. A read error counts only if no batch could be read before it.
func (l *given) records(ctx context.Context, from events.Sequence) (hash events.Hash, whole [][]byte, err error) {
	if from-1 > l.Head().Sequence {
		return hash, nil, nil // the client's log is ahead of this one; the head shows this
	}
	if hash, err = l.Chain(from - 1); err != nil {
		return hash, nil, err
	}
	var open [][]byte // records of the unfinished batch
	bytes, last := 0, hash
	for stored, err := range l.ReadStored(ctx, from) {
		var label events.Label
		if err == nil {
			label, err = events.DecodeLabel(stored)
		}
		if err == nil {
			last, err = last.Next(stored)
		}
		if err != nil && len(whole) > 0 {
			break // the next part begins with this batch
		}
		if err != nil {
			return hash, nil, err
		}
		open, bytes = append(open, stored), bytes+len(stored)
		if !label.Last {
			continue
		}
		whole, open, hash = append(whole, open...), nil, last
		if bytes >= partBytes {
			break
		}
	}
	return hash, whole, l.same(from+events.Sequence(len(whole))-1, hash)
}

// same returns an error if hash is not the log's chain value behind record at.
func (l *given) same(at events.Sequence, hash events.Hash) error {
	own, err := l.Chain(at)
	if err == nil && own != hash {
		err = fmt.Errorf("%w: the records up to %d do not give the log's chain value", store.ErrCorrupt, at)
	}
	return err
}
