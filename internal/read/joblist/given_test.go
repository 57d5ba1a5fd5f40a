package joblist

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestWhatCannotBeWrittenEndsAList: whichever entry of a table cannot be written, its error is given, and nothing is
// written behind it. A list is written in the order of its keys.
func TestWhatCannotBeWrittenEndsAList(t *testing.T) {
	c, file := lied(t)
	files, err := c.Files()
	if err != nil {
		t.Fatal(err)
	}
	l, err := openList(c.Dir, c.Log.Identity(), file, c.Log)
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	m := newMerge(t.Context(), &c, files)
	defer m.close()
	for name, base := range map[string]*list{"anew": nil, "gone on with": l} {
		p := newPart(c.Log, file, base, m.complete)
		if err := p.advance(t.Context(), c.Log.Head().Sequence); err != nil {
			t.Fatal(err)
		}
		rows := p.rows()
		if base != nil { // some of before, as if records of them had been folded, and one that is new
			rows = oldRows(t, l, 2)
			rows = append(rows, row{key: 1 << 40, Summary: history.Summary{UID: "zz", Name: "z"}})
		}
		for table, fill := range map[string]fillTable{
			"rows":    func(add func(key, content []byte) error) error { return p.mergeRows(rows, add) },
			"streams": func(add func(key, content []byte) error) error { return p.mergeStreams(rows, true, add) },
			"crons":   func(add func(key, content []byte) error) error { return p.mergeCrons(true, add) },
		} {
			n, before := 0, ""
			err := fill(func(key, _ []byte) error {
				if n++; string(key) <= before {
					t.Errorf("%s, %s: the key %x comes behind %x", name, table, key, before)
				}
				before = string(key)
				return nil
			})
			if err != nil || n < 2 {
				t.Fatalf("%s, %s: %d entries, %v", name, table, n, err)
			}
			for fails := range n {
				asked := 0
				err := fill(func(_, _ []byte) error {
					if asked++; asked > fails {
						return errFull
					}
					return nil
				})
				if !errors.Is(err, errFull) || asked != fails+1 {
					t.Errorf("%s, %s: entry %d of %d cannot be written, and %d are asked for: %v", name, table, fails, n, asked, err)
				}
			}
		}
	}
}

// oldRows are some rows of a list, one of every n.
func oldRows(t *testing.T, l *list, every int) (rows []row) {
	t.Helper()
	n := 0
	for it, err := range l.rows.all {
		if err != nil {
			t.Fatal(err)
		}
		r, err := decodeRow(0, it.content)
		if err != nil {
			t.Fatal(err)
		}
		s, err := r.summary()
		if err != nil {
			t.Fatal(err)
		}
		if n++; n%every == 0 {
			rows = append(rows, row{key: events.Sequence(binary.BigEndian.Uint64(it.key)), Summary: s})
		}
	}
	return rows
}
