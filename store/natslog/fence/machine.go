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
	answerTime = time.Second           // time without an answer after which a request counts as unanswered
	firstPause = 50 * time.Millisecond // pause before S is sent again; doubles with each try
	lastPause  = time.Second           // upper bound of the pause
	idleTime   = 2 * time.Second       // interval at which an idle writer reads the newest message
	backTime   = 30 * time.Second      // time for which the stream must claim to end before last, to count as gone back
	goneTime   = 5 * time.Second       // time for which the servers must deny the stream, to count as gone
	oldTime    = 10 * time.Second      // age of S from which on the log reports no room
	manyBytes  = 8 << 20               // number of waiting bytes from which on the log reports no room
)

// Do is the kind of an action.
type Do uint8

// The actions. The caller reports the end of an action by calling Sent, Looked, Newest or Gone, or Tick if there is no
// answer until Until.
const (
	Idle   Do = 1 // wait until Until, or until the next Store
	Send   Do = 2 // publish Message with Nats-Expected-Last-Sequence: Place, and no other expectation or message ID
	Look   Do = 3 // read the message at Place from the stream's leader
	Recent Do = 4 // read the newest message from the stream's leader
	Pause  Do = 5 // wait until Until
	End    Do = 6 // stop the process; Err says why
)

// Action is what the caller must do next.
type Action struct {
	Do      Do
	Place   uint64
	Message []byte
	Until   time.Duration // time on the caller's clock, which must be monotonic
	Err     error         // reason of End: store.ErrFenced, ErrCut, ErrWentBack, ErrMine, or events.ErrNewer

	// Stored: all messages of the last Store are in the stream, and count for every reader.
	Stored bool
	// Overtaken is the message that was in the place for which a claim was sent: the last records of the old leader, or
	// a part of them. The claim is not stored, and its head may be outdated, so the caller passes another claim to
	// Store.
	Overtaken *natslog.Verdict
}

// ErrWentBack: the stream has lost messages that it had acknowledged.
var ErrWentBack = errors.New("the stream of the log ends before a message that it had acknowledged")

// ErrCut: before this process could claim the stream, another one removed messages that this process has not read.
var ErrCut = errors.New("the stream of the log has gone on without this process")

// ErrMine: the stream has a message with this writer's ID that it did not send, or one of its own messages is not
// valid.
var ErrMine = errors.New("the stream of the log does not fit what this process wrote")

var errBusy = errors.New("store in the stream: another message is on its way, or none is given")

// Machine is the state of the writer. It is a plain value: a copy is independent. It is not safe for concurrent use.
type Machine struct {
	own      events.ReaderVersion
	state    natslog.State // state of the stream up to place last
	messages [][]byte      // messages that are not stored yet; the first one is S
	leads    bool          // a claim of this writer is stored
	do       Do
	until    time.Duration
	begun    time.Duration // when Store was called
	pause    time.Duration
	short    bool          // the server refused the last try because it had no space
	behind   time.Duration // since when the stream has claimed to end before last; negative if it does not
	gone     time.Duration // since when the servers have denied the stream; negative if they do not
	err      error
}

// New returns the writer of a stream that was read up to state.Place. own is the version of this program as a reader.
func New(now time.Duration, state natslog.State, own events.ReaderVersion) Machine {
	return Machine{own: own, state: state, do: Idle, until: now + idleTime, behind: -1, gone: -1}
}

// State returns the state of the stream, as far as the writer knows it.
func (m *Machine) State() natslog.State { return m.state }

// Store begins to store messages: the parts of one segment, in order, as natslog.Encode returned them. All messages of
// the last Store must be stored. If readers would not accept the messages, Store returns ErrMine and sends nothing.
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

// Sent reports the answer to Send. place is the place at which the server acknowledged the message; 0 for any other
// answer. room says that the server refused because it has no space (codes 10077, 10023, 10002, 10047). The caller must
// not report answers to earlier tries.
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

// Ends is the range of places that the stream's leader claims to have; 0 means unknown.
type Ends struct {
	First uint64 // oldest place; all places before it were removed for good
	Last  uint64 // newest place; may be stale
}

// Looked reports which message the stream's leader has at the place of Look, if any. ends is the range that the leader
// claims. Only the writer that leads removes old messages, and only up to a message of its own term. So if places that
// this writer has not read were removed, another process has claimed the stream. Then a leader is fenced; a process
// that is about to claim is too late, and gets ErrCut.
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

// Newest reports the place of the newest message according to the stream's leader; 0 if there was no answer.
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

// Gone reports, as the answer to Look or Recent, that the servers do not have the stream.
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

// Tick reports the time. If it is Until, and the action has no answer yet, the machine continues without it.
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

// Room returns store.ErrNoRoom if the log must not append now: the server has refused S because it has no space, S has
// waited for more than 10 s, or more than 8 MiB wait. waiting is the number of bytes that are appended and not durable.
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

// Waits returns how long the messages of the last Store have waited; 0 if none wait.
func (m *Machine) Waits(now time.Duration) time.Duration {
	if len(m.messages) == 0 {
		return 0
	}
	return now - m.begun
}

// stored advances the state, because S is in place last+1.
func (m *Machine) stored(now time.Duration) Action {
	var v natslog.Verdict
	// The verdict is Taken or Waits, as Store has checked.
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

// wentBack reports whether the stream has claimed for backTime that it ends before last. end is its newest answer; 0
// for no answer, which changes nothing.
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

// action returns the action that the caller must carry out now.
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
