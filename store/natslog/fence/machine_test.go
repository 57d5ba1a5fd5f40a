package fence

import (
	"errors"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/natslog"
)

// leading is a machine that leads a stream of one message, its claim, with a group to store.
func leading(t *testing.T) (Machine, [][]byte) {
	w := newWorld(t, 1)
	a := w.writers[0]
	group, _ := a.group(t, store.Head{}, 1)
	return a.m, group
}

func begun(t *testing.T, m *Machine, now time.Duration, group [][]byte) Action {
	t.Helper()
	a, err := m.Store(now, group)
	if err != nil || a.Do != Send || a.Place != 1 || string(a.Message) != string(group[0]) {
		t.Fatalf("%+v, %v; want that the group is sent behind place 1", a, err)
	}
	return a
}

func TestAnAcknowledgementInTheNextPlaceStores(t *testing.T) {
	for _, row := range []struct {
		sentence string
		place    uint64
		want     Do
		stored   bool
	}{
		{"the next place", 2, Idle, true},
		{"a later place", 3, Look, false},
		{"the place of the last message", 1, Look, false},
		{"a refusal", 0, Look, false},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			m, group := leading(t)
			begun(t, &m, 0, group)
			if a := m.Sent(0, row.place, false); a.Do != row.want || a.Stored != row.stored {
				t.Errorf("%+v", a)
			}
		})
	}
}

// TestPausesGrow: S is sent again after 50 ms, 100 ms, to 1 s, as it was, for as long as nothing is known.
func TestPausesGrow(t *testing.T) {
	m, group := leading(t)
	now, a := time.Duration(0), begun(t, &m, 0, group)
	for _, ms := range []int64{50, 100, 200, 400, 800, 1000, 1000} {
		want := time.Duration(ms) * time.Millisecond
		if a.Do != Send || a.Place != 1 || string(a.Message) != string(group[0]) || a.Until != now+answerTime {
			t.Fatalf("at %s %+v, want that the group is sent again", now, a)
		}
		now = a.Until
		if a = m.Tick(now); a.Do != Look || a.Place != 2 {
			t.Fatalf("at %s %+v, want a look at place 2", now, a)
		}
		if a = m.Looked(now, false, nil, Ends{}); a.Do != Pause || a.Until != now+want {
			t.Fatalf("at %s %+v, want a pause of %s", now, a, want)
		}
		now = a.Until
		a = m.Tick(now)
	}
}

// TestAStreamThatStaysAwayIsAFullDisk: for want of room at once, else after 10 s, or with 8 MiB.
func TestAStreamThatStaysAwayIsAFullDisk(t *testing.T) {
	m, group := leading(t)
	if err := m.Room(time.Hour, 64<<20); err != nil {
		t.Errorf("with nothing on its way there is no room: %v", err)
	}
	begun(t, &m, 0, group)
	for _, row := range []struct {
		now     time.Duration
		waiting int64
		room    bool
	}{{10 * time.Second, 8<<20 - 1, true}, {10*time.Second + 1, 0, false}, {0, 8 << 20, false}} {
		if err := m.Room(row.now, row.waiting); (err == nil) != row.room || err != nil && !errors.Is(err, store.ErrNoRoom) {
			t.Errorf("after %s with %d bytes: %v", row.now, row.waiting, err)
		}
	}
	m.Sent(0, 0, true)
	if err := m.Room(0, 0); !errors.Is(err, store.ErrNoRoom) {
		t.Errorf("after a refusal for room: %v", err)
	}
	if a := m.Looked(0, true, group[0], Ends{}); !a.Stored || m.Room(0, 0) != nil {
		t.Errorf("%+v, %v; want that the group is stored, and room", a, m.Room(0, 0))
	}
}

// TestAStreamThatEndsEarlierForLongWentBack: for 30 s without another word.
func TestAStreamThatEndsEarlierForLongWentBack(t *testing.T) {
	m, group := leading(t)
	begun(t, &m, 0, group)
	m.Sent(0, 2, false) // last is 2
	idle := func(now time.Duration, place uint64) Action {
		m.until = now
		if a := m.Tick(now); a.Do != Recent {
			t.Fatalf("at %s %+v, want a read of the newest message", now, a)
		}
		return m.Newest(now, place)
	}
	for _, row := range []struct {
		at    int64 // seconds
		place uint64
		want  Do
	}{{1, 1, Idle}, {29, 1, Idle}, {30, 2, Idle}, {40, 1, Idle}, {69, 1, Idle}, {69, 0, Idle}, {70, 1, End}} {
		a := idle(time.Duration(row.at)*time.Second, row.place)
		if a.Do != row.want || (a.Do == End) != errors.Is(a.Err, ErrWentBack) {
			t.Errorf("after %d s the newest is %d: %+v", row.at, row.place, a)
		}
	}
}

// TestAStreamThatIsSaidNotToExistForLongWentBack: for 5 s without another word, to an idle writer and to one that
// waits.
func TestAStreamThatIsSaidNotToExistForLongWentBack(t *testing.T) {
	for _, waits := range []bool{false, true} {
		m, group := leading(t)
		if waits {
			begun(t, &m, 0, group)
			m.Sent(0, 0, false)
		}
		for _, row := range []struct {
			at   int64 // seconds
			gone bool
			end  bool
		}{{1, true, false}, {5, true, false}, {5, false, false}, {6, true, false}, {10, true, false}, {11, true, true}} {
			now := time.Duration(row.at) * time.Second
			m.do = Recent
			if waits {
				m.do = Look
			}
			var a Action
			switch {
			case row.gone:
				a = m.Gone(now)
			case waits:
				a = m.Looked(now, false, nil, Ends{Last: m.state.Place})
			default:
				a = m.Newest(now, m.state.Place)
			}
			if (a.Do == End) != row.end || row.end != errors.Is(a.Err, ErrWentBack) {
				t.Errorf("waits %t, after %d s, gone %t: %+v", waits, row.at, row.gone, a)
			}
		}
		if a := m.Gone(time.Hour); a.Do != End {
			t.Errorf("it goes on with %+v", a)
		}
	}
}

// TestAnIdleLeaderLearnsOfAClaim: by the newest message, over void ones.
func TestAnIdleLeaderLearnsOfAClaim(t *testing.T) {
	m, _ := leading(t)
	b := actor{name: "b", term: 2}
	claim := encoded(t, b.segment(natslog.Claim, store.Head{}), 1)[0]
	a := m.Tick(idleTime)
	if a.Do != Recent {
		t.Fatalf("%+v, want a read of the newest message", a)
	}
	if a = m.Newest(idleTime, 3); a.Do != Look || a.Place != 2 {
		t.Fatalf("%+v, want a look at place 2", a)
	}
	if a = m.Looked(idleTime, true, []byte("junk"), Ends{Last: 3}); a.Do != Look || a.Place != 3 {
		t.Fatalf("%+v, want a look at place 3", a)
	}
	if a = m.Looked(idleTime, true, claim, Ends{Last: 3}); a.Do != End || !errors.Is(a.Err, store.ErrFenced) {
		t.Errorf("%+v, want that it is fenced", a)
	}
}

// TestWhatNobodyWouldTakeIsNotSent: and the machine can go on.
func TestWhatNobodyWouldTakeIsNotSent(t *testing.T) {
	m, group := leading(t)
	b := actor{name: "b", term: 2}
	theirs, _ := b.group(t, store.Head{}, 1)
	parts, _ := (&actor{name: "a", term: 1}).group(t, store.Head{}, 2)
	for name, messages := range map[string][][]byte{
		"nothing": nil, "another writer's": theirs, "half a group": parts[:1], "junk": {{1}},
	} {
		if a, err := m.Store(0, messages); err == nil || a.Do != Idle {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
	begun(t, &m, 0, group)
	if _, err := m.Store(0, group); err == nil {
		t.Error("a second message is on its way")
	}
}

// TestAMessageForANewerReaderEndsTheWriter: it cannot know whether it is fenced.
func TestAMessageForANewerReaderEndsTheWriter(t *testing.T) {
	m, group := leading(t)
	b := actor{name: "b", term: 2}
	s := b.segment(natslog.Claim, store.Head{})
	s.Least = events.ReaderVersion{Format: 9}
	m.own = events.ReaderVersion{Format: 1}
	begun(t, &m, 0, group)
	m.Sent(0, 0, false)
	if a := m.Looked(0, true, encoded(t, s, 1)[0], Ends{Last: 2}); a.Do != End || !errors.Is(a.Err, events.ErrNewer) {
		t.Errorf("%+v, want that the writer ends", a)
	}
}

// TestAPlaceThatWasCutIsAnothersWork: who has not read it is fenced. The beginning of the stream before it says nothing.
func TestAPlaceThatWasCutIsAnothersWork(t *testing.T) {
	m, group := leading(t)
	begun(t, &m, 0, group)
	m.Sent(0, 0, false)
	if a := m.Looked(0, false, nil, Ends{First: 2, Last: 1}); a.Do != Pause {
		t.Errorf("%+v, want a pause: place 2 may still be taken", a)
	}
	m.Sent(0, 0, false)
	m.look(0)
	if a := m.Looked(0, false, nil, Ends{First: 3, Last: 9}); a.Do != End || !errors.Is(a.Err, store.ErrFenced) {
		t.Errorf("%+v, want that it is fenced", a)
	}
	claims := New(0, m.state, events.ReaderVersion{})
	claims.look(0)
	if a := claims.Looked(0, false, nil, Ends{First: 3, Last: 9}); a.Do != End || !errors.Is(a.Err, ErrCut) {
		t.Errorf("%+v, want that who claims comes too late", a)
	}
}
