package natslog

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"reflect"
	"slices"
	"testing"

	"github.com/jobledger/jobledger/events"
)

// resum gives a message the checksum of its bytes.
func resum(m []byte) []byte {
	n := len(m) - crc32.Size
	return binary.LittleEndian.AppendUint32(bytes.Clone(m[:n]), crc32.Checksum(m[:n], castagnoli))
}

func TestASegmentComesBackAsItWas(t *testing.T) {
	w := &writer{t: t, id: life, term: 3, name: "a"}
	s := w.group(4, 1)
	s.BeginsFile, s.Least.Program, s.Offsets = true, "v0.1.0", map[string]events.Sequence{"nats": 3, "kube": 1}
	for _, s := range []Segment{s, w.segment(Claim), w.segment(Released), w.segment(Closed)} {
		all := messages(t, 1<<20, s)
		got, err := Decode(all[0])
		if err != nil || len(all) != 1 || !reflect.DeepEqual(got, s) {
			t.Errorf("%d messages, %v: %+v, want %+v", len(all), err, got, s)
		}
	}
}

// TestPartsGiveTheGroup: with records of any length in parts of any, a record in two parts or more too.
func TestPartsGiveTheGroup(t *testing.T) {
	for limit := 16; limit < 900; limit += 7 {
		w := &writer{t: t, id: life, term: 1, name: "a"}
		claim := w.segment(Claim)
		s := w.group(7, 1)
		s.Offsets = map[string]events.Sequence{"nats": 3}
		all := messages(t, limit, s)
		state, verdict := State{}, Verdict{}
		for i, m := range append(messages(t, 1<<20, claim), all...) {
			state, verdict = Accept(state, uint64(i+1), m, own)
			if wait := i > 0 && i < len(all); wait != (verdict.Outcome == Waits) {
				t.Fatalf("limit %d, part %d of %d: %+v", limit, i, len(all), verdict)
			}
		}
		got := verdict.Segment
		got.Part, got.Parts = 1, 1
		if !reflect.DeepEqual(got, s) {
			t.Fatalf("limit %d, %d parts: %+v, want %+v", limit, len(all), got, s)
		}
	}
}

// TestMessagesFitTheServer: a group as large as a commit makes, and one record larger than a message.
func TestMessagesFitTheServer(t *testing.T) {
	const maxPayload = 1 << 20
	large := bytes.Repeat([]byte{1}, 3*maxPayload/2)
	s := Segment{Kind: Records, Identity: life, Term: 1, Writer: "a", First: 8, Part: 1, Parts: 1}
	for range 700 {
		s.Stored = append(s.Stored, large[:4096])
	}
	s.Stored = append(s.Stored, large)
	s.After.Sequence = 8 + events.Sequence(len(s.Stored)) - 1
	all, err := Encode(s, maxPayload)
	if err != nil || len(all) != 5 {
		t.Fatalf("%d messages, %v; want 5", len(all), err)
	}
	for i, m := range all {
		if len(m) > maxPayload-headroom+1024 {
			t.Errorf("message %d has %d bytes", i, len(m))
		}
	}
	if _, err := Encode(s, headroom); err == nil {
		t.Error("a server of small messages is accepted")
	}
}

// FuzzAccept: no bytes harm a reader, and what is void changes nothing.
func FuzzAccept(f *testing.F) {
	w := &writer{t: f, id: life, term: 1, name: "a"}
	claim, first := w.segment(Claim), w.group(3, 1)
	begun := slices.Clip(messages(f, 1<<20, claim, first))
	next := messages(f, 150, w.group(5, 2))
	for _, m := range append(begun, next...) {
		f.Add(m, false)
		f.Add(m[:len(m)/2], true)
	}
	f.Fuzz(func(t *testing.T, data []byte, sum bool) {
		if sum && len(data) > crc32.Size {
			data = resum(data)
		}
		s, _ := fold(State{}, append(begun, next[0]))
		after, v := Accept(s, s.Place+1, data, own)
		switch v.Outcome {
		case Void:
			after.Place, after.Voids = s.Place, s.Voids
			if !reflect.DeepEqual(after, s) {
				t.Errorf("a void message (%s) made %+v of %+v", v.Void, after, s)
			}
		case Newer:
			if !events.OtherReader(v.Err) || !reflect.DeepEqual(after, s) {
				t.Errorf("it needs a newer reader: %v, and made %+v of %+v", v.Err, after, s)
			}
		case Waits:
			if after.Head != s.Head {
				t.Error("a part that waits moved the head")
			}
		case Taken:
			if after.Term < s.Term || after.Head.Sequence < s.Head.Sequence {
				t.Errorf("%+v went back to %+v", s, after)
			}
		default:
			t.Error("no outcome")
		}
	})
}
