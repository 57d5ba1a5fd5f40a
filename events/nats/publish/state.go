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

// Status is how publishing goes.
type Status struct {
	Server   string          // connected to; empty when it is not
	Stream   string          // published to; empty over core NATS, and until it was found
	Acked    events.Sequence // the record through which all are stored
	Lag      uint64          // durable records after that
	Behind   time.Duration   // the age of the oldest of them; 0 when there is none
	Problem  string          // why nothing is published; empty when nothing is wrong
	Flags    []string        // what the stream's owner should know
	Messages uint64          // acknowledged since the start
	Retreats uint64          // times that publishing went back to the first message in doubt
}

// state is what Status tells of. Any goroutine may use it.
type state struct {
	logger *slog.Logger
	head   func() events.Sequence
	log    store.Reader

	mu       sync.Mutex
	status   Status
	noted    events.Sequence      // the offset that the log was told last. Invariant: noted <= status.Acked
	moved    moved                // records that are not where they should be
	created  time.Time            // when the stream that is published to was made
	place    uint64               // where it ended when Acked was acknowledged
	oldest   oldest               // the record after Acked
	told     map[string]time.Time // when a problem was logged last
	over     bool                 // the publisher ends: whatever breaks now is meant to
	wrong    string               // the newest trouble with the connection
	changed  chan struct{}        // closed and replaced when Acked moves or Problem appears
	troubled bool                 // a problem was logged and its end was not
}

func (s *state) init(c *Config, through events.Sequence) {
	s.logger, s.log, s.head = c.Logger, c.Log, func() events.Sequence { return c.Log.Head().Sequence }
	s.told = map[string]time.Time{}
	s.status.Acked, s.noted = through, through
	s.changed = make(chan struct{})
	s.wrong = "no server was reached yet"
	s.status.Problem, s.troubled = s.wrong, true
}

// Status says how publishing goes.
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

// oldest is when the record after another one was written.
type oldest struct {
	after   events.Sequence
	written time.Time // zero when it is not known
}

// unackedSince is when the first record after that one was written, of those that the log keeps. The caller holds mu.
func (s *state) unackedSince(acked events.Sequence) time.Time {
	if s.oldest.after == acked && !s.oldest.written.IsZero() {
		return s.oldest.written
	}
	s.oldest = oldest{after: acked, written: time.Now()} // if the log says nothing: it is closed
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

// moved says that a stream had the records up to one at places that are not theirs.
type moved struct {
	through events.Sequence // 0 for none
	place   uint64          // of that record, at which there may be nothing any more
	created time.Time       // the stream
}

// known is through which record the stream said that it had them already. That holds for this stream only, and not when
// it has lost what it had there.
func (s *state) known(now *jetstream.StreamInfo) events.Sequence {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !now.Created.Equal(s.moved.created) || now.State.LastSeq < s.moved.place {
		s.moved = moved{}
	}
	return s.moved.through
}

// watch is how far it is and what is wrong, and what is closed when one of them changes.
func (s *state) watch() (events.Sequence, string, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status.Acked, s.status.Problem, s.changed
}

func (s *state) tell() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// begin notes where a session begins: all before it is there.
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

// well notes that publishing works, or that there is nothing to try it with.
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

// lostBehind is how many messages the stream does not have any more behind its end.
func (s *state) lostBehind(now *jetstream.StreamInfo) events.Sequence {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !now.Created.Equal(s.created) || now.State.LastSeq >= s.place {
		return 0
	}
	return events.Sequence(s.place - now.State.LastSeq)
}

// streamEnd is where the stream ended when the newest acknowledgement came.
func (s *state) streamEnd() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.place
}

// stored notes that records are in the stream, the last at that place. It returns which offset the log was told last.
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

// end notes that the publisher ends.
func (s *state) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
}

// found notes what the stream is.
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

// connected notes which server answers.
func (s *state) connected(server string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Server, s.wrong = server, ""
}

// lost notes that the connection is gone.
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

// unreachable notes that a server could not be reached.
func (s *state) unreachable(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrong = fmt.Sprintf("no connection: %v", err)
	s.say(s.wrong)
}

// complaint notes what the server said about the connection. It says of each message that may not be published that it
// may not.
func (s *state) complaint(err error, cluster string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrong = err.Error()
	if errors.Is(err, natsgo.ErrPermissionViolation) && strings.Contains(s.wrong, nats.Prefix+".") {
		s.wrong = fmt.Sprintf("permission is missing: the server lets this user not publish on %s", nats.Everything(cluster))
	}
	s.say(s.wrong)
}

// trouble notes why a session ended.
func (s *state) trouble(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Retreats++
	var known *movedError
	switch {
	case errors.As(err, &known):
		s.moved = moved{known.record, known.place, s.created}
	case errors.Is(err, errLostPlace), errors.Is(err, errKnown): // the next session knows more
	case errors.Is(err, errBroken), errors.Is(err, natsgo.ErrReconnectBufExceeded), errors.Is(err, natsgo.ErrDisconnected):
		if s.wrong == "" {
			s.wrong = errBroken.Error()
		}
		s.say(s.wrong)
	default:
		s.say(err.Error())
	}
}

// again is after how long a problem that is still there, or there again, is logged once more.
const again = time.Minute

// say notes a problem, and logs it now and then. Two that take turns are logged as seldom as one.
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
