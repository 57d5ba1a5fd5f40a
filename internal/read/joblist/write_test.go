package joblist

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// full takes so many bytes, and no more.
type full struct{ left int }

var errFull = errors.New("no space is left")

func (f *full) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// TestAListThatCannotBeWrittenIsTold: wherever the disk is full, and wherever an entry cannot be had.
func TestAListThatCannotBeWrittenIsTold(t *testing.T) {
	h := header{id: events.Identity{LogID: "0f0f"}, first: 1, through: store.Head{Sequence: 9}}
	entries := func(fails int) fillTable {
		return func(add func(key, content []byte) error) error {
			for i := range 3 {
				if i == fails {
					return errMalformed
				}
				if err := add(fmt.Appendf(nil, "%d", i), bytes.Repeat([]byte{'x'}, blockBytes/2)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	write := func(left int, tables ...fillTable) (*full, error) {
		to := &full{left: left}
		out := bufio.NewWriterSize(to, 16)
		return to, errors.Join(h.write(out, tables), out.Flush())
	}
	const plenty = 1 << 30
	whole, err := write(plenty, entries(-1), entries(-1))
	if err != nil {
		t.Fatal(err)
	}
	size := plenty - whole.left
	for left := 0; left < size; left += 1 + size/97 {
		if _, err := write(left, entries(-1), entries(-1)); !errors.Is(err, errFull) {
			t.Errorf("with room for %d of %d bytes the error is %v", left, size, err)
		}
	}
	for fails := range 3 {
		if _, err := write(plenty, entries(-1), entries(fails)); !errors.Is(err, errMalformed) {
			t.Errorf("entry %d cannot be had, and the error is %v", fails, err)
		}
	}
	if err := writeList("/nowhere", h, entries(-1)); err == nil {
		t.Error("a list is written to where there is no directory")
	}
}

// TestNumbersAndTextsThatEndEarly: nothing is read behind the end, and what was read of it is nothing.
func TestNumbersAndTextsThatEndEarly(t *testing.T) {
	whole := appendText([]byte{0x80, 0x01}, "text") // 128, and a text
	for n := range len(whole) + 1 {
		d := decoder{rest: whole[:n]}
		number, text := d.uvarint(), string(d.text())
		if ok := n == len(whole); d.bad == ok || ok && (number != 128 || text != "text") || !ok && text != "" {
			t.Errorf("of %d bytes there are %d and %q, bad: %t", n, number, text, d.bad)
		}
	}
	d := decoder{rest: []byte{0x80}}
	if d.varint() != 0 || !d.bad || d.bytes(0) != nil {
		t.Error("half a number is one")
	}
	if _, err := unseal([]byte{1, 2, 3}); err == nil {
		t.Error("three bytes are sealed")
	}
	if b, err := unseal(seal(nil)); err != nil || len(b) != 0 {
		t.Errorf("nothing, sealed, is %q: %v", b, err)
	}
}
