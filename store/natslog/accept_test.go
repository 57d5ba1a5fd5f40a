package natslog

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

var (
	life = events.Identity{LogID: "5b9e0c1d2f3a44556677889900aabbcc", Epoch: 1}
	key  = events.Hash{7}
	own  = events.ReaderVersion{Format: 1, Rules: 1, Fold: 1}
)

// writer makes the messages of one writer behind a head.
type writer struct {
	t    testing.TB
	id   events.Identity
	term uint64
	name string
	head store.Head
}

func (w *writer) segment(kind Kind) Segment {
	return Segment{
		Kind: kind, Identity: w.id, Term: w.term, Writer: w.name, Before: w.head, After: w.head,
		Least: own, Key: key, Part: 1, Parts: 1,
	}
}

// group is the next group: one batch of records with a text of that many bytes each.
func (w *writer) group(records, bytes int) Segment {
	w.t.Helper()
	s := w.segment(Records)
	s.First = w.head.Sequence + 1
	for i := range records {
		at := s.First + events.Sequence(i)
		r := events.Record{Header: events.Header{
			Sequence: at, Time: events.Time(1_774_000_000_000_000_000 + int64(s.First)), Stream: events.Controller,
			Kind: events.KindPodChanged, Last: i == records-1,
		}}
		r.Facts, r.Critical = &events.LogCreated{LogID: w.id.LogID, Epoch: w.id.Epoch, Format: events.LeastFormat}, true
		r.Kind = events.KindLogCreated
		if at > 1 {
			r.Kind, r.Facts = events.KindTermStarted, &events.TermStarted{Term: uint64(at), Previous: events.Hash(filled(bytes))}
		}
		stored, err := events.AppendRecord(nil, &r)
		if err != nil {
			w.t.Fatal(err)
		}
		s.Stored = append(s.Stored, stored)
		if w.head.Hash, err = w.head.Hash.Next(stored); err != nil {
			w.t.Fatal(err)
		}
		w.head.Sequence, w.head.Time = at, r.Time
	}
	s.After = w.head
	return s
}

func filled(n int) (out [32]byte) { out[0] = byte(n); return out }

// messages encodes segments, each in as many parts as it needs with that many bytes of records in one.
func messages(t testing.TB, limit int, all ...Segment) (out [][]byte) {
	t.Helper()
	for _, s := range all {
		parts, err := Encode(s, limit+headroom)
		if limit < headroom { // parts smaller than production has
			parts, err = nil, nil
			divided := divide(s, limit)
			for i := range divided {
				divided[i].Part, divided[i].Parts = uint32(i+1), uint32(len(divided))
				one, e := encode(&divided[i])
				parts, err = append(parts, one), errors.Join(err, e)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, parts...)
	}
	return out
}

// fold accepts all messages, and gives the state and the outcome of each, with why it is void.
func fold(s State, all [][]byte) (State, []string) {
	var out []string
	for _, m := range all {
		var v Verdict
		s, v = Accept(s, s.Place+1, m, own)
		out = append(out, map[Outcome]string{Taken: "taken", Waits: "waits", Void: v.Void, Newer: "newer"}[v.Outcome])
	}
	return s, out
}

func TestAccept(t *testing.T) {
	a := &writer{t: t, id: life, term: 1, name: "a"}
	claim := a.segment(Claim)
	first, second := a.group(3, 1), a.group(2, 1)
	third := a.group(9, 1)
	b := &writer{t: t, id: life, term: 2, name: "b", head: second.After}
	rival, theirs := b.segment(Claim), b.group(1, 2)
	with := func(s Segment, change func(*Segment)) Segment { change(&s); return s }
	one := func(s Segment) [][]byte { return messages(t, 1<<20, s) }
	spoilt := func(change func(*Segment)) []byte { return one(with(third, change))[0] }
	all := func(s ...Segment) [][]byte { return messages(t, 1<<20, s...) }
	foldedAnew := func(s *Segment) { s.Least.Fold = 2 }
	ofOther, inEpoch2 := func(s *Segment) { s.Identity.LogID = "other" }, func(s *Segment) { s.Identity.Epoch = 2 }
	release := Segment{
		Kind: Released, Identity: life, Term: 1, Writer: "a", Before: second.After, After: second.After, Key: key,
		Part: 1, Parts: 1,
	}
	parts := messages(t, 100, third)
	last := parts[len(parts)-1]
	if len(parts) < 3 {
		t.Fatalf("%d parts", len(parts))
	}
	begun := slices.Clip(all(claim, first, second))
	rows := []struct {
		sentence string
		before   [][]byte
		message  []byte
		want     string
	}{
		{"the first claim is taken", nil, one(claim)[0], "taken"},
		{"records behind the claim are taken", one(claim), one(first)[0], "taken"},
		{"records without a claim are void", nil, one(first)[0], NoClaim},
		{"the same records again are void", begun, one(second)[0], OtherHead},
		{"records behind a record that is missing are ahead", all(claim, first), messages(t, 1<<20, third)[0], Ahead},
		{"a claim of a later term is taken", begun, one(rival)[0], "taken"},
		{"a claim of the same term is void", begun, one(with(rival, func(s *Segment) { s.Term = 1 }))[0], OldTerm},
		{"a claim that does not know the head is void", append(begun, one(third)...), one(rival)[0], OtherHead},
		{"a claim from ahead is void", all(claim, first), one(rival)[0], Ahead},
		{"records of the old writer behind a claim are void", append(begun, one(rival)...), one(third)[0], NotWriter},
		{"records of the new writer are taken", append(begun, one(rival)...), one(theirs)[0], "taken"},
		{"records of a claim that was missed are void", begun, one(theirs)[0], LaterTerm},
		{"another writer of the same term is void", begun, spoilt(func(s *Segment) { s.Writer = "x" }), NotWriter},
		{"another log is void", begun, spoilt(func(s *Segment) { s.Identity.LogID = "other" }), OtherLog},
		{"a claim of another log is void", begun, one(with(rival, ofOther))[0], OtherLog},
		{"a claim of another epoch is void", begun, one(with(rival, inEpoch2))[0], OtherLog},
		{"another key is void", begun, spoilt(func(s *Segment) { s.Key[0]++ }), OtherKey},
		{"an epoch that no record begins is void", begun, spoilt(func(s *Segment) { s.Identity.Epoch = 2 }), BadRecords},
		{"another chain value before is void", begun, spoilt(func(s *Segment) { s.Before.Hash[0]++ }), OtherHead},
		{"another chain value behind is void", begun, spoilt(func(s *Segment) { s.After.Hash[0]++ }), BadRecords},
		{"another time behind is void", begun, spoilt(func(s *Segment) { s.After.Time++ }), BadRecords},
		{"a batch without its end is void", begun, spoilt(func(s *Segment) {
			s.Stored = s.Stored[:8]
			s.After.Sequence--
		}), BadRecords},
		{"bytes of others are void", begun, []byte("hello"), NoSegment},
		{"an empty message is void", begun, nil, NoSegment},
		{"a part waits", begun, parts[0], "waits"},
		{"a part that is not the next one is void", append(begun, parts[0]), parts[2], OutOfOrder},
		{"a part without the first one is void", begun, parts[1], OutOfOrder},
		{"the last part gives the group", append(begun, parts[:len(parts)-1]...), parts[len(parts)-1], "taken"},
		{"a claim ends parts that wait", append(append(begun, parts[:len(parts)-1]...), one(rival)...), last, NotWriter},
		{"a release is taken", begun, one(release)[0], "taken"},
		{"what needs a newer program stops the reader", begun, spoilt(func(s *Segment) { s.Least.Fold = 2 }), "newer"},
		{"what is void needs no newer program", begun, one(with(second, foldedAnew))[0], OtherHead},
		{"a kind to come stops the reader", begun, one(with(claim, func(s *Segment) { s.Kind = 9 }))[0], "newer"},
		{"a version to come stops the reader", begun, resum(append([]byte{2}, one(third)[0][1:]...)), "newer"},
		{"a bit flipped is void", begun, flipped(one(third)[0]), NoSegment},
	}
	for _, row := range rows {
		t.Run(row.sentence, func(t *testing.T) {
			s, _ := fold(State{}, row.before)
			after, v := Accept(s, s.Place+1, row.message, own)
			_, got := fold(s, [][]byte{row.message})
			if got[0] != row.want {
				t.Fatalf("%s (%v), want %s", got[0], v.Err, row.want)
			}
			if v.Outcome == Void && (after.Voids != s.Voids+1 || after.Head != s.Head || after.Term != s.Term) {
				t.Errorf("a void message made %+v of %+v", after, s)
			}
			if v.Outcome == Newer && !reflect.DeepEqual(after, s) {
				t.Error("a message that needs a newer reader changed the state")
			}
		})
	}
}

func flipped(m []byte) []byte {
	m = bytes.Clone(m)
	m[len(m)/2] ^= 4
	return m
}

// TestBehindTheEndNothingCounts: of a term that was given back, and of a stream that was closed.
func TestBehindTheEndNothingCounts(t *testing.T) {
	a := &writer{t: t, id: life, term: 1, name: "a"}
	claim, first, released := a.segment(Claim), a.group(3, 1), a.segment(Released)
	closed := released
	closed.Kind = Closed
	more := a.group(1, 1)
	b := &writer{t: t, id: life, term: 2, name: "b", head: first.After}
	_, got := fold(State{}, messages(t, 1<<20, claim, first, released, more, b.segment(Claim)))
	if want := []string{"taken", "taken", "taken", GivenBack, "taken"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	_, got = fold(State{}, messages(t, 1<<20, claim, first, closed, more, b.segment(Claim)))
	if want := []string{"taken", "taken", "taken", StreamShut, StreamShut}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestVoidMessagesChangeNothing: whatever is strewn between the messages of two writers, in any order, the state is
// that without it, and the groups that are taken give one chain.
func TestVoidMessagesChangeNothing(t *testing.T) {
	for seed := range uint64(300) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 42))
			a := &writer{t: t, id: life, term: 1, name: "a"}
			good := messages(t, 300, a.segment(Claim), a.group(3, 1), a.group(1+rng.IntN(12), 2), a.group(2, 3))
			b := &writer{t: t, id: life, term: 2, name: "b", head: a.head}
			late := messages(t, 120, a.group(1+rng.IntN(9), 1), a.group(2, 1)) // of a, behind the claim of b
			good = append(good, messages(t, 200, b.segment(Claim), b.group(1+rng.IntN(9), 2), b.group(4, 2))...)
			want, _ := fold(State{}, good)
			strewn := [][]byte{good[0]}
			foreign := &writer{t: t, id: events.Identity{LogID: "other", Epoch: 1}, term: 9, name: "x"}
			junk := append(messages(t, 200, foreign.segment(Claim), foreign.group(5, 1)), []byte("junk"), flipped(good[1]), nil)
			for i, m := range good[1:] {
				for rng.IntN(2) == 0 {
					strewn = append(strewn, junk[rng.IntN(len(junk))])
				}
				if part, err := Decode(good[i]); err == nil && part.Part == part.Parts && rng.IntN(3) == 0 { // again
					strewn = append(strewn, good[i])
				}
				if i >= len(good)-4 && rng.IntN(2) == 0 && bytesOf(good[:i+1], "b") {
					strewn = append(strewn, late[rng.IntN(len(late))])
				}
				strewn = append(strewn, m)
			}
			got, verdicts := fold(State{}, strewn)
			want.Place, want.Voids = got.Place, got.Voids
			if !reflect.DeepEqual(got, want) {
				t.Errorf("state %+v, want %+v; %q", got, want, verdicts)
			}
		})
	}
}

func bytesOf(all [][]byte, writer string) bool {
	for _, m := range all {
		if s, err := Decode(m); err == nil && s.Writer == writer && s.Kind == Claim {
			return true
		}
	}
	return false
}

// TestAReaderBeginsInTheMiddle: with any message that was taken, the state at the end is that of who read all.
func TestAReaderBeginsInTheMiddle(t *testing.T) {
	a := &writer{t: t, id: life, term: 1, name: "a"}
	all := messages(t, 1<<20, a.segment(Claim), a.group(3, 1), a.group(2, 2))
	b := &writer{t: t, id: life, term: 5, name: "b", head: a.head}
	all = append(all, messages(t, 1<<20, b.segment(Claim), b.group(2, 1))...)
	want, _ := fold(State{}, all)
	for i, m := range all {
		s, err := Decode(m)
		if err != nil {
			t.Fatal(err)
		}
		if got, verdicts := fold(From(uint64(i+1), s), all[i:]); !reflect.DeepEqual(got, want) {
			t.Errorf("from place %d: %+v, want %+v; %q", i+1, got, want, verdicts)
		}
	}
}
