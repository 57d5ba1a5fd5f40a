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
	answerTime = time.Second           // time after which a request without answer counts as unanswered
	firstPause = 50 * time.Millisecond // pause before the message is sent again; doubles with each try
	lastPause  = time.Second           // upper bound of the pause
	idleTime   = 2 * time.Second       // interval at which a writer without messages reads the newest one
	backTime   = 30 * time.Second      // time for which acknowledged messages must seem to be missing, to count as lost
	goneTime   = 5 * time.Second       // time for which the servers must deny the stream, to count as gone
	oldTime    = 10 * time.Second      // age of the message being stored from which on Room reports no room
	manyBytes  = 8 << 20               // number of waiting bytes from which on Room reports no room
)

// Do is the kind of an action that the machine wants its caller to carry out.
type Do uint8

// The actions. The caller reports the end of an action by calling Sent, Looked, Newest or Gone, or Tick if there is no
// answer until Until.
const (
	Idle   Do = 1 // wait until Until, or until the next Store; nothing is to be stored
	Send   Do = 2 // publish Message with Nats-Expected-Last-Sequence: Place, and no other expectation or message ID
	Look   Do = 3 // read the message with sequence Place from the stream's leader
	Recent Do = 4 // read the newest message from the stream's leader
	Pause  Do = 5 // wait until Until
	End    Do = 6 // stop the process; Err says why
)

// Action is what the caller of the machine must do next.
type Action struct {
	Do      Do
	Place   uint64
	Message []byte
	Until   time.Duration // time on the caller's clock, which must be monotonic
	Err     error         // reason of End: store.ErrFenced, ErrCut, ErrWentBack, ErrMine, or events.ErrNewer

	// Stored says that all messages of the last Store are in the stream, and count for every reader.
	Stored bool
	// Overtaken is set if another message took the place of a claim (the message with which a process becomes the
	// writer): the last records of the old writer, or a part of them. The claim is not stored, and may name an outdated
	// end of the log. So the caller passes a new claim to Store.
	Overtaken *natslog.Verdict
}

// ErrWentBack is the reason of End when the stream has lost messages that it had acknowledged.
var ErrWentBack = errors.New("the stream of the log ends before a message that it had acknowledged")

// ErrCut is the reason of End when another process removed messages that this one has not read, before this one could
// become the writer.
var ErrCut = errors.New("the stream of the log has gone on without this process")

// ErrMine is the error when the stream has a message with this writer's ID that it did not send, or when readers would
// not accept one of its own messages.
var ErrMine = errors.New("the stream of the log does not fit what this process wrote")

var errBusy = errors.New("store in the stream: another message is on its way, or none is given")

// Machine is the writer of a replicated log's stream, as a state machine: each method takes a fact and returns the next
// action. It is a plain value: a copy is independent. It is not safe for concurrent use.
type Machine struct {
	own      events.ReaderVersion
	state    natslog.State // state of the stream up to the last known message
	messages [][]byte      // messages that are not stored yet; the first one is being stored
	leads    bool          // this process is the writer: its claim is in the stream
	do       Do
	until    time.Duration
	begun    time.Duration // when Store was called
	pause    time.Duration
	short    bool          // the server refused the last try because it had no space
	behind   time.Duration // since when the stream has seemed to lack messages that it had; negative if it does not
	gone     time.Duration // since when the servers have answered that there is no stream; negative if they do not
	err      error
}

// New returns the writer of a stream that was read up to message state.Place. own is the version of this program as a
// reader. now is the time on the caller's clock.
func New(now time.Duration, state natslog.State, own events.ReaderVersion) Machine {
	return Machine{own: own, state: state, do: Idle, until: now + idleTime, behind: -1, gone: -1}
}

// State returns what is known of the stream after the last message that this writer stored or read.
func (m *Machine) State() natslog.State { return m.state }

// Store begins to store messages: the parts of one segment, in order, as natslog.Encode returned them. All messages of
// the previous Store must be stored already. If readers would not accept the messages, Store returns ErrMine and sends
// nothing.
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

// Sent reports how the server answered to Send. place is the sequence at which it acknowledged the message; 0 for any
// other answer. room says that the server refused because it has no space (codes 10077, 10023, 10002, 10047). The
// caller must not report answers to earlier tries.
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

// Ends is the range of messages that the stream's leader claims to have, by their sequences; 0 means unknown.
type Ends struct {
	First uint64 // oldest message; all before it were removed for good
	Last  uint64 // newest message; may be stale
}

// Looked reports which message the stream's leader has at Action.Place, as the answer to Look; found is false if it has
// none. ends is the range that the leader claims.
//
// Only the writer removes old messages, and only up to a message of its own term (time as the writer). So if messages
// that this process has not read were removed, another one has become the writer. The machine then ends: a writer with
// ErrFenced, a process that was about to become the writer with ErrCut.
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

// other handles a message that was found at the place (sequence in the stream) where this writer wants to store its
// own.
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

// Newest reports the sequence of the stream's newest message, as the answer to Recent; 0 if there was no answer.
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

// Tick reports the time. If it is Until, and the action has no answer yet, the machine goes on as if the request had
// failed.
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

// Room returns store.ErrNoRoom if the log must not append now: the server has refused a message because it has no
// space, a message has waited for more than 10 s, or more than 8 MiB wait. waiting is the number of bytes that are
// appended and not durable.
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

// Waits returns how long the messages of the last Store have waited to be stored; 0 if all are stored.
func (m *Machine) Waits(now time.Duration) time.Duration {
	if len(m.messages) == 0 {
		return 0
	}
	return now - m.begun
}

// stored notes that the first waiting message is in the stream, and sends the next one if there is one.
func (m *Machine) stored(now time.Duration) Action {
	var v natslog.Verdict
	// The message counts (verdict Taken or Waits), because Store has checked it.
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

// wentBack reports whether the stream has seemed for backTime (30 s) to end before a message that it had. end is the
// newest message by its last answer; 0 for no answer, which changes nothing.
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

// action returns what the caller must do next, as the state of the machine says.
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
