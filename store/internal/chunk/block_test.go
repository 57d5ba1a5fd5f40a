package chunk

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/jobledger/jobledger/events"
)

func TestABlockGivesBackWhatWasPutIn(t *testing.T) {
	w, err := NewBlockWriter()
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(21, 22))
	hash := events.Hash{1, 2, 3}
	for _, sizes := range [][]int{{1}, {200, 0, 1}, {64, 64, 64, 64}, {300_000}, {90, 2 << 20, 17}} {
		for _, end := range []*events.Hash{nil, &hash} {
			t.Run(fmt.Sprint(sizes, " ends ", end != nil), func(t *testing.T) {
				var want [][]byte
				for i, size := range sizes {
					stored := bytes.Repeat([]byte{byte(random.IntN(256)), 'x'}, size/2+1)
					want = append(want, stored)
					w.Add(events.Sequence(7+i), stored)
				}
				c := w.End(end)
				got, read, err := contents(c)
				if err != nil || len(got) != len(want) || read != 7+events.Sequence(len(want)) {
					t.Fatalf("%d of %d records, then %d, error %v", len(got), len(want), read, err)
				}
				for i := range want {
					if !bytes.Equal(got[i], want[i]) {
						t.Errorf("record %d has %d bytes, want %d", i, len(got[i]), len(want[i]))
					}
				}
				if unpacked, _ := c.Unpacked(); (unpacked.Value[0]&EndsGroup != 0) != (end != nil) {
					t.Error("whether it ends a group is lost")
				}
				for at := 0; at < len(c.Value); at += 1 + len(c.Value)/200 {
					bad := Chunk{First: c.First, Value: bytes.Clone(c.Value)}
					bad.Value[at] ^= 0x20
					if _, _, err := contents(bad); err == nil {
						t.Errorf("byte %d of %d is another, and nobody notices", at, len(c.Value))
					}
				}
			})
		}
	}
}

func contents(c Chunk) (all [][]byte, next events.Sequence, err error) {
	if c, err = c.Unpacked(); err != nil {
		return nil, 0, err
	}
	r, err := c.Reader()
	for err == nil {
		stored, ok, bad := r.Record()
		if !ok {
			return all, r.Next, bad
		}
		all = append(all, stored)
	}
	return nil, 0, err
}
