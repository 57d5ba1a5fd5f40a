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
	answerTime = time.Second           // a request without an answer for so long has none
	firstPause = 50 * time.Millisecond // before S is sent again; then twice as long each time
	lastPause  = time.Second           // at most
	idleTime   = 2 * time.Second       // an idle writer reads the newest message so often
	backTime   = 30 * time.Second      // a stream that is said to end before last for so long went back
	oldTime    = 10 * time.Second      // S waits longer: there is no room
	manyBytes  = 8 << 20               // more bytes wait: there is no room
)

// Do is what the caller is to do now.
type Do uint8

// The actions. Each ends with a call: of Sent, of Looked, of Newest, or of Tick when Until has passed without an
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
	Until   time.Duration // on the caller's clock, which never goes back
	Err     error         // of End: store.ErrFenced, ErrCut, ErrWentBack, ErrMine, or events.ErrNewer

	// Stored: all that was given to Store is in the stream, and every reader takes it.
	Stored bool
	// Overtaken is what a claim met in its place: the old leader's last records, or a part of them. The claim is not
	// stored, and may name a head that is past: another one is given to Store.
	Overtaken *natslog.Verdict
}

// ErrWentBack: the stream lost messages that it had acknowledged.
var ErrWentBack = errors.New("the stream of the log ends before a message that it had acknowledged")

// ErrCut: the stream was cut behind what this process had read before it could claim it.
var ErrCut = errors.New("the stream of the log has gone on without this process")

// ErrMine: the stream has a message of this writer that it did not send, or did not take one of its messages.
var ErrMine = errors.New("the stream of the log does not fit what this process wrote")

var errBusy = errors.New("store in the stream: another message is on its way, or none is given")

// Machine is the writer. It is not safe for concurrent use. It is a value: a copy of it goes its own way.
type Machine struct {
	own      events.ReaderVersion
	state    natslog.State // through place last, all of which was read
	messages [][]byte      // not stored yet; the first is S
	leads    bool          // a claim of this writer is stored
	do       Do
	until    time.Duration
	begun    time.Duration // when Store was called
	pause    time.Duration
	short    bool          // the last refusal was for room
	behind   time.Duration // since when the stream is said to end before last; negative for never
	err      error
}

// New makes the writer of a stream that was read through state.Place, by a reader of that version.
func New(now time.Duration, state natslog.State, own events.ReaderVersion) Machine {
	return Machine{own: own, state: state, do: Idle, until: now + idleTime, behind: -1}
}

// State is what the stream amounts to as far as the writer knows it.
func (m *Machine) State() natslog.State { return m.state }

// Store begins to store messages, the parts of one segment in order, each as natslog.Encode gave it. Nothing may be on
// its way. The error is of messages that readers would not take; nothing is sent then.
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

// Sent says what the server answered to Send: place is where it acknowledged S; 0 when it refused it, or answered
// anything else. room is of a refusal for want of room (10077, 10023, 10002, 10047). Answers to earlier tries are not
// given to the machine.
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

// Ends is which places the stream's leader says that it has; 0 where it does not say.
type Ends struct {
	First uint64 // the oldest; what is before it was cut, for good
	Last  uint64 // the newest, which may be from the past
}

// Looked says what the stream's leader has at the place of Look: data, or nothing. ends is where it says the stream
// begins and ends. A stream is cut only by who leads it, at a message of his own term. So where a leader finds a place
// cut that it has not read, another one has claimed the stream. Who claims has come too late: ErrCut.
func (m *Machine) Looked(now time.Duration, found bool, data []byte, ends Ends) Action {
	end := ends.Last
	switch {
	case m.do != Look:
		return m.action()
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

// other takes a message in place last+1 that is not S.
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

// Newest says which message the stream's leader gave as its newest; 0 when it gave none.
func (m *Machine) Newest(now time.Duration, place uint64) Action {
	switch {
	case m.do != Recent:
		return m.action()
	case place > m.state.Place:
		return m.look(now)
	case m.wentBack(now, place):
		return m.end(fmt.Errorf("%w: its newest message is %d, it had acknowledged %d", ErrWentBack, place, m.state.Place))
	}
	return m.idle(now)
}

// Tick says that the time has come to now. An answer that is missing then does not count any more.
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

// Room is store.ErrNoRoom while the stream refuses for room, while S is older than 10 s, and while more than 8 MiB
// wait: waiting is how many bytes the log has appended that are not durable.
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

// Waits is how long the messages that were given to Store have waited; 0 when none does.
func (m *Machine) Waits(now time.Duration) time.Duration {
	if len(m.messages) == 0 {
		return 0
	}
	return now - m.begun
}

// stored takes S, which is in place last+1.
func (m *Machine) stored(now time.Duration) Action {
	var v natslog.Verdict
	m.state, v = natslog.Accept(m.state, m.state.Place+1, m.messages[0], m.own) // Store has seen that it is taken
	m.leads = m.leads || v.Segment.Kind == natslog.Claim
	m.messages, m.pause, m.short, m.behind = m.messages[1:], firstPause, false, -1
	if len(m.messages) > 0 {
		return m.send(now)
	}
	a := m.idle(now)
	a.Stored = true
	return a
}

// wentBack reports whether the stream is said to end before last, and has been for long. Who does not say where it ends
// changes nothing.
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

// action is what the caller is to do.
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
