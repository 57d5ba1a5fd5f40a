package publish

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/store"
)

// Status describes the progress of publishing.
type Status struct {
	Server   string          // current server; empty when not connected
	Stream   string          // empty over core NATS, and until the stream was found
	Acked    events.Sequence // all records up to this one are stored
	Lag      uint64          // number of durable records after Acked
	Behind   time.Duration   // age of the oldest of these; 0 when there is none
	Problem  string          // why nothing is published; empty when there is no problem
	Flags    []string        // facts that the stream's owner should know
	Messages uint64          // acknowledged since the start
	Retreats uint64          // how often publishing went back to the first message in doubt
}

// state holds what Status returns, and what the next session must know. Any goroutine may use it.
type state struct {
	logger *slog.Logger
	head   func() events.Sequence
	log    store.Reader

	mu       sync.Mutex
	status   Status
	noted    events.Sequence      // progress stored in the log. Invariant: noted <= status.Acked
	moved    moved                // records that the stream is known to have at unexpected positions
	created  time.Time            // creation time of the stream
	place    uint64               // newest position of the stream when Acked was acknowledged
	oldest   oldest               // the record after Acked
	told     map[string]time.Time // when each problem was last logged
	over     bool                 // the publisher is ending, so errors are not reported
	wrong    string               // the newest problem of the connection
	changed  chan struct{}        // closed and replaced when Acked moves or Problem appears
	troubled bool                 // a problem was logged, and its end was not
}

func (s *state) init(c *Config, through events.Sequence) {
	s.logger, s.log, s.head = c.Logger, c.Log, func() events.Sequence { return c.Log.Head().Sequence }
	s.told = map[string]time.Time{}
	s.status.Acked, s.noted = through, through
	s.changed = make(chan struct{})
	s.wrong = "no server was reached yet"
	s.status.Problem, s.troubled = s.wrong, true
}

// Status returns the progress of publishing.
func (p *Publisher) Status() Status {
	head := p.state.head()
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	st := p.state.status
	if head > st.Acked {
		st.Lag = uint64(head - st.Acked)
		st.Behind = max(0, time.Since(p.state.unackedSince(st.Acked)))
	}
	return st
}

// oldest caches when the record after the sequence after was written.
type oldest struct {
	after   events.Sequence
	written time.Time // the time of the lookup if the log could not tell, because it is closed
}

// unackedSince returns when the oldest record after acked that the log still has was written. The caller holds mu.
func (s *state) unackedSince(acked events.Sequence) time.Time {
	if s.oldest.after == acked && !s.oldest.written.IsZero() {
		return s.oldest.written
	}
	s.oldest = oldest{after: acked, written: time.Now()} // used if the log cannot tell, because it is closed
	for _, from := range []events.Sequence{acked + 1, 0} {
		for r, err := range s.log.Read(context.Background(), from) {
			if err == nil {
				s.oldest.written = r.Time.Go()
				return s.oldest.written
			}
			break
		}
	}
	return s.oldest.written
}

func (s *state) acked() events.Sequence {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status.Acked
}

// moved says that a stream has all records up to through, but not at the expected positions.
type moved struct {
	through events.Sequence // 0 for none
	place   uint64          // position of that record, which may be empty now
	created time.Time       // creation time of the stream
}

// known returns the last record up to which the stream is known to have all records, from s.moved; 0 if that is about
// another stream, or if the stream has lost messages since.
func (s *state) known(now *jetstream.StreamInfo) events.Sequence {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !now.Created.Equal(s.moved.created) || now.State.LastSeq < s.moved.place {
		s.moved = moved{}
	}
	return s.moved.through
}

// watch returns the offset, the problem, and a channel that is closed when one of them changes.
func (s *state) watch() (events.Sequence, string, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status.Acked, s.status.Problem, s.changed
}

func (s *state) tell() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// begin notes where a session begins: all earlier records are in the stream.
func (s *state) begin(at *place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.created, s.place = at.created, at.last
	through := at.from - 1
	s.move(through)
	s.noted = through
	if through >= s.head() {
		s.well()
	}
}

// well notes that publishing works, or that there is nothing to publish.
func (s *state) well() {
	s.status.Problem = ""
	if s.troubled {
		s.troubled = false
		s.logger.Info("publishing on NATS", "server", s.status.Server, "stream", s.status.Stream, "after", uint64(s.status.Acked))
	}
}

func (s *state) move(through events.Sequence) {
	if through == s.status.Acked {
		return
	}
	s.status.Acked = through
	s.tell()
}

// lostBehind returns the number of acknowledged messages that the stream has lost at its end. now is the stream's
// state.
func (s *state) lostBehind(now *jetstream.StreamInfo) events.Sequence {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !now.Created.Equal(s.created) || now.State.LastSeq >= s.place {
		return 0
	}
	return events.Sequence(s.place - now.State.LastSeq)
}

// streamEnd returns the newest position of the stream when it last acknowledged a message.
func (s *state) streamEnd() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.place
}

// stored notes that all records up to through are in the stream, the last one at position place; messages is the number
// of newly acknowledged messages. It returns the progress that the log has stored.
func (s *state) stored(through events.Sequence, place uint64, messages int) events.Sequence {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.place = place
	s.move(through)
	s.status.Messages += uint64(messages)
	s.well()
	return s.noted
}

func (s *state) note(through events.Sequence) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noted = through
}

// end notes that the publisher is ending: problems are not reported any more.
func (s *state) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
}

// found notes the name of the stream, and flags: what its owner should know.
func (s *state) found(stream string, flags []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status.Stream != stream {
		for _, flag := range flags {
			s.logger.Info("about the NATS stream "+stream, "note", flag)
		}
	}
	s.status.Stream, s.status.Flags = stream, flags
}

// connected notes the address of the server of a new connection.
func (s *state) connected(server string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Server, s.wrong = server, ""
}

// lost reports that the connection broke.
func (s *state) lost(err error) {
	if err == nil {
		err = errBroken
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Server = ""
	s.wrong = fmt.Sprintf("no connection: %v", err)
	s.say(s.wrong)
}

// unreachable reports a failed attempt to connect.
func (s *state) unreachable(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrong = fmt.Sprintf("no connection: %v", err)
	s.say(s.wrong)
}

// complaint reports an error that the server sent by itself. The server sends one for each message that may not be
// published.
func (s *state) complaint(err error, cluster string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrong = err.Error()
	if errors.Is(err, natsgo.ErrPermissionViolation) && strings.Contains(s.wrong, nats.Prefix+".") {
		s.wrong = fmt.Sprintf("permission is missing: the server lets this user not publish on %s", nats.Everything(cluster))
	}
	s.say(s.wrong)
}

// trouble reports why a session ended, unless the next session finds out more.
func (s *state) trouble(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Retreats++
	var known *movedError
	switch {
	case errors.As(err, &known):
		s.moved = moved{known.record, known.place, s.created}
	case errors.Is(err, errLostPlace), errors.Is(err, errKnown): // the next session finds out more
	case errors.Is(err, errBroken), errors.Is(err, natsgo.ErrReconnectBufExceeded), errors.Is(err, natsgo.ErrDisconnected):
		if s.wrong == "" {
			s.wrong = errBroken.Error()
		}
		s.say(s.wrong)
	default:
		s.say(err.Error())
	}
}

// again is the interval at which a persisting or recurring problem is logged.
const again = time.Minute

// say makes problem the current problem, and logs it at most once per interval, even if two problems alternate.
func (s *state) say(problem string) {
	if s.over {
		return
	}
	if s.status.Problem != problem && time.Since(s.told[problem]) > again {
		if len(s.told) > 100 {
			clear(s.told)
		}
		s.told[problem] = time.Now()
		s.logger.Warn("nothing is published on NATS for now", "problem", problem, "after", uint64(s.status.Acked))
	}
	s.status.Problem, s.troubled = problem, true
	s.tell()
}
