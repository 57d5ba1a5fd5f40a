package fence

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/natslog"
)

const (
	answerTime = time.Second           // a request without an answer for so long counts as unanswered
	firstPause = 50 * time.Millisecond // before S is sent again; doubles with each try
	lastPause  = time.Second           // upper bound of the pause
	idleTime   = 2 * time.Second       // time between an idle writer's reads of the newest message
	backTime   = 30 * time.Second      // a stream that for so long claims to end before last has gone back
	goneTime   = 5 * time.Second       // a stream that for so long is said not to exist is gone
	oldTime    = 10 * time.Second      // if S waits longer, the log has no room
	manyBytes  = 8 << 20               // if more bytes wait, the log has no room
)

// Do is the kind of an action.
type Do uint8

// The actions. The caller ends each with a call: of Sent, Looked or Newest, or of Tick if Until has passed without an
// answer.
const (
	Idle   Do = 1 // nothing until Until, or the next Store
	Send   Do = 2 // publish Message with Nats-Expected-Last-Sequence: Place, and no other expectation or message ID
	Look   Do = 3 // read the message at Place from the stream's leader
	Recent Do = 4 // read the newest message from the stream's leader
	Pause  Do = 5 // nothing until Until
	End    Do = 6 // stop the process: Err says why
)

// Action is one step of the writer.
type Action struct {
	Do      Do
	Place   uint64
	Message []byte
	Until   time.Duration // on the caller's clock, which must be monotonic
	Err     error         // of End: store.ErrFenced, ErrCut, ErrWentBack, ErrMine, or events.ErrNewer

	// Stored: all messages of the last Store are in the stream, and every reader accepts them.
	Stored bool
	// Overtaken is what a claim met in its place: the last records of the old leader, or a part of them. The claim is
	// not stored, and its head may be outdated: the caller gives another claim to Store.
	Overtaken *natslog.Verdict
}

// ErrWentBack: the stream lost messages that it had acknowledged.
var ErrWentBack = errors.New("the stream of the log ends before a message that it had acknowledged")

// ErrCut: the stream was cut behind the place that this process had read before it could claim the stream.
var ErrCut = errors.New("the stream of the log has gone on without this process")

// ErrMine: the stream has a message of this writer that it did not send, or did not accept one of its messages.
var ErrMine = errors.New("the stream of the log does not fit what this process wrote")

var errBusy = errors.New("store in the stream: another message is on its way, or none is given")

// Machine is the state of the writer. It is not safe for concurrent use. It is a value: a copy is independent.
type Machine struct {
	own      events.ReaderVersion
	state    natslog.State // through place last, all of it read
	messages [][]byte      // not stored yet; the first is S
	leads    bool          // a claim of this writer is stored
	do       Do
	until    time.Duration
	begun    time.Duration // when Store was called
	pause    time.Duration
	short    bool          // the last refusal was for want of room
	behind   time.Duration // since when the stream claims to end before last; negative for never
	gone     time.Duration // since when the stream is said not to exist; negative if the newest answer was another one
	err      error
}

// New returns the writer of a stream that has been read through state.Place. own is the version of this program as a
// reader.
func New(now time.Duration, state natslog.State, own events.ReaderVersion) Machine {
	return Machine{own: own, state: state, do: Idle, until: now + idleTime, behind: -1, gone: -1}
}

// State returns the state of the stream as far as the writer knows it.
func (m *Machine) State() natslog.State { return m.state }

// Store begins to store messages: the parts of one segment, in order, as natslog.Encode returned them. No message may
// be in flight. It returns ErrMine for messages that readers would not accept, and then sends nothing.
func (m *Machine) Store(now time.Duration, messages [][]byte) (Action, error) {
	if len(messages) == 0 || len(m.messages) > 0 || m.err != nil {
		return m.action(), errors.Join(errBusy, m.err)
	}
	state, v := m.state, natslog.Verdict{}
	for _, message := range messages {
		state, v = natslog.Accept(state, state.Place+1, message, m.own)
		if v.Outcome != natslog.Taken && v.Outcome != natslog.Waits {
			return m.action(), fmt.Errorf("store in the stream: %s: %w", v.Void, errors.Join(ErrMine, v.Err))
		}
	}
	if v.Outcome != natslog.Taken {
		return m.action(), fmt.Errorf("store in the stream: the last part ends no group: %w", ErrMine)
	}
	m.messages, m.begun, m.pause, m.short = messages, now, firstPause, false
	return m.send(now), nil
}

// Sent reports the answer to Send. place is where the server acknowledged S; 0 if it refused S or answered anything
// else. room is set for a refusal for want of room (10077, 10023, 10002, 10047). The caller drops answers to earlier
// tries.
func (m *Machine) Sent(now time.Duration, place uint64, room bool) Action {
	if m.do != Send {
		return m.action()
	}
	if place == m.state.Place+1 {
		return m.stored(now)
	}
	m.short = room
	return m.look(now)
}

// Ends is the range of places that the stream's leader claims to have; 0 where it does not say.
type Ends struct {
	First uint64 // the oldest; all before it was cut, for good
	Last  uint64 // the newest; may be stale
}

// Looked reports what the stream's leader has at the place of Look: data, or nothing. ends is the range of the stream
// by its own account. Only a leader cuts the stream, and only at a message of its own term. So if a leader finds that
// places it has not read are cut, another process has claimed the stream. For a process that claims, it is too late:
// ErrCut.
func (m *Machine) Looked(now time.Duration, found bool, data []byte, ends Ends) Action {
	end := ends.Last
	if m.do != Look {
		return m.action()
	}
	if found || end > 0 {
		m.gone = -1
	}
	switch {
	case !found && ends.First > m.state.Place+1:
		return m.end(fmt.Errorf("%w: another writer has cut the stream before place %d, and this one had read it through %d",
			m.whyCut(), ends.First, m.state.Place))
	case !found && m.wentBack(now, end):
		return m.end(fmt.Errorf("%w: it says that it ends at %d, and had acknowledged %d", ErrWentBack, end, m.state.Place))
	case !found && len(m.messages) == 0:
		return m.idle(now)
	case !found:
		m.do, m.until, m.pause = Pause, now+m.pause, min(2*m.pause, lastPause)
		return m.action()
	case len(m.messages) > 0 && bytes.Equal(data, m.messages[0]):
		return m.stored(now)
	}
	return m.other(now, data)
}

func (m *Machine) whyCut() error {
	if m.leads {
		return store.ErrFenced
	}
	return ErrCut
}

// other handles a message in place last+1 that is not S.
func (m *Machine) other(now time.Duration, data []byte) Action {
	state, v := natslog.Accept(m.state, m.state.Place+1, data, m.own)
	m.behind = -1
	switch {
	case v.Outcome == natslog.Newer:
		return m.end(v.Err)
	case v.Outcome == natslog.Void:
		m.state = state
		if len(m.messages) == 0 {
			return m.look(now)
		}
		return m.send(now)
	case v.Outcome == natslog.Taken && v.Segment.Kind == natslog.Claim:
		return m.end(fmt.Errorf("%w: %s claimed it in term %d", store.ErrFenced, v.Segment.Writer, v.Segment.Term))
	case !m.leads:
		m.state, m.messages = state, nil
		a := m.idle(now)
		a.Overtaken = &v
		return a
	}
	return m.end(fmt.Errorf("%w: at place %d", ErrMine, state.Place))
}

// Newest reports the place of the newest message by the stream's leader; 0 without an answer.
func (m *Machine) Newest(now time.Duration, place uint64) Action {
	if m.do != Recent {
		return m.action()
	}
	if place > 0 {
		m.gone = -1
	}
	switch {
	case place > m.state.Place:
		return m.look(now)
	case m.wentBack(now, place):
		return m.end(fmt.Errorf("%w: its newest message is %d, it had acknowledged %d", ErrWentBack, place, m.state.Place))
	}
	return m.idle(now)
}

// Gone reports, in answer to Look or Recent, that the servers say that they have no such stream.
func (m *Machine) Gone(now time.Duration) Action {
	if m.do != Look && m.do != Recent {
		return m.action()
	}
	if m.gone < 0 {
		m.gone = now
	}
	if now-m.gone >= goneTime {
		return m.end(fmt.Errorf("%w: there is no such stream any more", ErrWentBack))
	}
	if m.do == Look {
		return m.Looked(now, false, nil, Ends{})
	}
	return m.Newest(now, 0)
}

// Tick reports the time. An answer still missing at Until no longer counts.
func (m *Machine) Tick(now time.Duration) Action {
	if now < m.until {
		return m.action()
	}
	switch m.do {
	case Idle:
		m.do, m.until = Recent, now+answerTime
	case Send:
		return m.Sent(now, 0, m.short)
	case Look:
		return m.Looked(now, false, nil, Ends{})
	case Recent:
		return m.Newest(now, 0)
	case Pause:
		return m.send(now)
	case End:
	}
	return m.action()
}

// Room returns store.ErrNoRoom while the stream refuses messages for want of room, while S is older than 10 s, and
// while more than 8 MiB wait. waiting is the number of appended bytes that are not durable.
func (m *Machine) Room(now time.Duration, waiting int64) error {
	switch {
	case m.err != nil:
		return m.err
	case len(m.messages) == 0:
		return nil
	case m.short:
		return fmt.Errorf("%w: its stream has none", store.ErrNoRoom)
	case now-m.begun > oldTime:
		return fmt.Errorf("%w: its stream has not answered for %s", store.ErrNoRoom, (now - m.begun).Round(time.Second))
	case waiting >= manyBytes:
		return fmt.Errorf("%w: %d bytes wait for its stream", store.ErrNoRoom, waiting)
	}
	return nil
}

// Waits returns how long the messages of the last Store have waited; 0 if none do.
func (m *Machine) Waits(now time.Duration) time.Duration {
	if len(m.messages) == 0 {
		return 0
	}
	return now - m.begun
}

// stored advances the state past S, which is in place last+1.
func (m *Machine) stored(now time.Duration) Action {
	var v natslog.Verdict
	// Store has checked that it is accepted
	m.state, v = natslog.Accept(m.state, m.state.Place+1, m.messages[0], m.own)
	m.leads = m.leads || v.Segment.Kind == natslog.Claim
	m.messages, m.pause, m.short, m.behind = m.messages[1:], firstPause, false, -1
	if len(m.messages) > 0 {
		return m.send(now)
	}
	a := m.idle(now)
	a.Stored = true
	return a
}

// wentBack reports whether the stream has claimed for backTime to end before last. An answer without an end changes
// nothing.
func (m *Machine) wentBack(now time.Duration, end uint64) bool {
	switch {
	case end == 0:
		return false
	case end >= m.state.Place:
		m.behind = -1
		return false
	case m.behind < 0:
		m.behind = now
	}
	return now-m.behind >= backTime
}

func (m *Machine) send(now time.Duration) Action {
	m.do, m.until = Send, now+answerTime
	return m.action()
}

func (m *Machine) look(now time.Duration) Action {
	m.do, m.until = Look, now+answerTime
	return m.action()
}

func (m *Machine) idle(now time.Duration) Action {
	m.do, m.until = Idle, now+idleTime
	return m.action()
}

func (m *Machine) end(err error) Action {
	m.do, m.err = End, err
	return m.action()
}

// action returns the current action.
func (m *Machine) action() Action {
	a := Action{Do: m.do, Until: m.until, Err: m.err}
	switch m.do {
	case Send:
		a.Place, a.Message = m.state.Place, m.messages[0]
	case Look:
		a.Place = m.state.Place + 1
	case Idle, Recent, Pause, End:
	}
	return a
}
