package fence

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/natslog"
)

var life = events.Identity{LogID: "5b9e0c1d2f3a44556677889900aabbcc", Epoch: 1}

// request is a publish that has left a writer. It may come into the stream at any later time, or never.
type request struct {
	expect  uint64 // the place that it is to follow
	any     bool   // it names none
	lastID  string // Nats-Expected-Last-Msg-Id: the message that it is to follow; empty for none
	message string
}

// world is the stream and its writers. What is committed stays. Of what is proposed nothing is known until then: a
// request stays on its way for ever, and its answer may be lost, or be a refusal that means nothing.
type world struct {
	committed []string
	air       []request // sorted by key, none twice: of two that are alike one can be committed at most
	dead      bool      // the stream takes nothing any more
	cut       uint64    // its first place; 0 when nothing was cut
	misled    bool      // who began at that place came to another state than who read all
	writers   [2]actor
}

// actor is a process: a machine, and what it is to store.
type actor struct {
	m        Machine
	name     string
	term     uint64
	groups   int      // left to be stored, behind the claim
	stored   []string // messages that it takes as stored, and acts on
	given    []string // messages that it takes as not stored
	ended    bool
	asked    []string // by a writer with many messages on their way
	current  []string // the messages of the group on its way
	tries    int      // of its first message that is left; 2 for more
	finished bool
}

func (a *actor) done() bool { return a.ended || a.finished }

// segment is a message of the actor behind the head that it knows.
func (a *actor) segment(kind natslog.Kind, head store.Head) natslog.Segment {
	return natslog.Segment{
		Kind: kind, Identity: life, Term: a.term, Writer: a.name, Before: head, After: head, Part: 1, Parts: 1,
	}
}

// group is the next group of the actor: two records in one batch, in two parts when that is asked for.
func (a *actor) group(t testing.TB, head store.Head, parts int) ([][]byte, store.Head) {
	s := a.segment(natslog.Records, head)
	s.First = head.Sequence + 1
	for i := range 2 {
		r := events.Record{
			Header: events.Header{
				Sequence: head.Sequence + 1, Time: events.Time(1_774_000_000_000_000_000 + int64(s.First)), Last: i == 1,
				Stream: events.Controller, Kind: events.KindTermStarted, Critical: true,
			},
			Facts:     &events.TermStarted{Term: a.term},
			FactsSalt: events.Salt{a.name[0], byte(a.groups)},
		}
		if r.Sequence == 1 {
			r.Kind = events.KindLogCreated
			r.Facts = &events.LogCreated{LogID: life.LogID, Epoch: life.Epoch, Format: events.LeastFormat}
		}
		stored, err := events.AppendRecord(nil, &r)
		if err != nil {
			t.Fatal(err)
		}
		s.Stored = append(s.Stored, stored)
		if head.Hash, err = head.Hash.Next(stored); err != nil {
			t.Fatal(err)
		}
		head.Sequence, head.Time = r.Sequence, r.Time
	}
	s.After = head
	return encoded(t, s, parts), head
}

// encoded gives the messages of a segment, divided in two by hand: natslog divides what is larger than 64 KiB.
func encoded(t testing.TB, s natslog.Segment, parts int) [][]byte {
	all, err := natslog.Encode(s, 1<<20)
	if err != nil || parts == 1 {
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	var out [][]byte
	for i := range s.Stored {
		var w pb.Segment
		if err := proto.Unmarshal(all[0][1:len(all[0])-crc32.Size], &w); err != nil {
			t.Fatal(err)
		}
		w.Part, w.Parts, w.First, w.Records = uint32(i+1), uint32(len(s.Stored)), uint64(s.First)+uint64(i), w.Records[i:i+1]
		m, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend([]byte{1}, &w)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, binary.LittleEndian.AppendUint32(m, crc32.Checksum(m, crc32.MakeTable(crc32.Castagnoli))))
	}
	return out
}

// newWorld is a stream with the claim of a. It leads, and is to store that many groups, the first in two parts; b is to
// claim the stream and to store one.
func newWorld(t testing.TB, groups int) world {
	a, b := actor{name: "a", term: 1, groups: groups}, actor{name: "b", term: 2, groups: 1}
	claim := encoded(t, a.segment(natslog.Claim, store.Head{}), 1)[0]
	state, _ := natslog.Accept(natslog.State{}, 1, claim, events.ReaderVersion{})
	a.m, b.m = New(0, state, events.ReaderVersion{}), New(0, state, events.ReaderVersion{})
	a.m.leads = true
	return world{committed: []string{string(claim)}, writers: [2]actor{a, b}}
}

func (w world) clone() world {
	w.committed, w.air = slices.Clone(w.committed), slices.Clone(w.air)
	for i := range w.writers {
		a := &w.writers[i]
		a.stored, a.given, a.asked = slices.Clone(a.stored), slices.Clone(a.given), slices.Clone(a.asked)
		a.current = slices.Clone(a.current)
	}
	return w
}

// send puts a request on its way.
func (w *world) send(r request) {
	if i, found := slices.BinarySearchFunc(w.air, r, compare); !found {
		w.air = slices.Insert(w.air, i, r)
	}
}

func compare(a, b request) int {
	if a.expect != b.expect {
		return int(a.expect) - int(b.expect)
	}
	return strings.Compare(a.message, b.message)
}

// commit lets the i-th request come into the stream, if it may.
func (w *world) commit(i int) bool {
	r := w.air[i]
	switch last := w.at(uint64(len(w.committed))); {
	case w.dead:
		return false
	case r.lastID != "":
		if w.dead = r.lastID != last; w.dead {
			return true
		}
	case !r.any && r.expect != uint64(len(w.committed)):
		return false
	}
	w.committed = append(w.committed, r.message)
	w.air = slices.Delete(w.air, i, i+1)
	return true
}

// cuts are the places at which a writer that leads may cut the stream: those of its own messages that are stored, but
// not of a part that goes on with another one.
func (w *world) cuts(a *actor, way way) (all []uint64) {
	for i, m := range w.committed {
		s, err := natslog.Decode([]byte(m))
		if s.Part > 1 && way != cutAnywhere {
			continue
		}
		if place := uint64(i + 1); err == nil && a.m.leads && s.Writer == a.name && place <= a.m.state.Place && place > w.cut {
			all = append(all, place)
		}
	}
	return all
}

// begins is a writer that reads the stream from its first message, and it must come to what the whole stream amounts to.
func (w *world) begins(t testing.TB) Machine {
	var whole, s natslog.State
	for i, m := range w.committed {
		place := uint64(i + 1)
		whole, _ = natslog.Accept(whole, place, []byte(m), events.ReaderVersion{})
		if place < w.cut {
			continue
		}
		if place == w.cut {
			first, err := natslog.Decode([]byte(m))
			if err != nil {
				t.Fatal(err)
			}
			s = natslog.From(place, first)
		}
		s, _ = natslog.Accept(s, place, []byte(m), events.ReaderVersion{})
	}
	if s.Head != whole.Head || s.Term != whole.Term || s.Writer != whole.Writer || s.Place != whole.Place {
		w.misled = true
	}
	return New(0, s, events.ReaderVersion{})
}

// at is the message in a place, also of one that was cut; empty when it is not taken.
func (w *world) at(place uint64) string {
	if place == 0 || place > uint64(len(w.committed)) {
		return ""
	}
	return w.committed[place-1]
}

// judge says what is wrong in a world; it knows what is committed, and what every reader makes of it.
func judge(w *world, taken map[string]bool, term uint64) error {
	if w.misled {
		return errors.New("who begins where the stream was cut comes to another state")
	}
	for i := range w.writers {
		a := &w.writers[i]
		for _, m := range a.stored {
			if !taken[m] {
				return fmt.Errorf("%s acted on a message that does not count", a.name)
			}
		}
		for _, m := range a.given {
			if taken[m] {
				return fmt.Errorf("%s takes a message as not stored, and it counts", a.name)
			}
		}
		if err := a.m.err; err != nil && !(errors.Is(err, store.ErrFenced) && term > a.term) {
			return fmt.Errorf("%s ended in term %d, the newest is %d: %w", a.name, a.term, term, err)
		}
	}
	return nil
}

// readers gives what every reader takes of the stream, and the newest term.
func readers(committed []string) (taken map[string]bool, term uint64) {
	taken = map[string]bool{}
	var s natslog.State
	var parts []string
	for i, m := range committed {
		var v natslog.Verdict
		s, v = natslog.Accept(s, uint64(i+1), []byte(m), events.ReaderVersion{})
		switch v.Outcome {
		case natslog.Waits:
			parts = append(parts, m)
		case natslog.Taken:
			if v.Segment.Kind == natslog.Records {
				for _, p := range parts {
					taken[p] = true
				}
			}
			taken[m], parts = true, nil
		case natslog.Void, natslog.Newer:
		}
	}
	return taken, s.Term
}
