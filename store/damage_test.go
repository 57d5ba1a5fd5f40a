package store_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jobledger/jobledger/store"
)

// TestDamage: each damaged place is listed once, with its first record, however often it was met and in whatever error.
func TestDamage(t *testing.T) {
	page := func(at int) error { // met again and again in one file
		return fmt.Errorf("read record %d: %w", at, &store.CorruptError{Path: "a.db", At: 40, Next: 80, Cause: fmt.Errorf("at %d", at)})
	}
	early := &store.CorruptError{Path: "a.db", At: 38, Next: 80}
	missing := &store.CorruptError{Path: "dir", At: 90, Next: 120}
	other := &store.CorruptError{Path: "dir", At: 10, Next: 20}
	lost := &store.CorruptError{Path: "dir", At: 200, Cause: &store.LossError{Says: "gone"}}
	first := &store.CorruptError{Path: "dir", At: 1}
	var d store.Damage
	d.Note(nil)
	d.Note(errors.New("of something else"))
	d.Note(page(41))
	d.Tell(errors.Join(missing, errors.New("of something else"), lost))
	d.Note(fmt.Errorf("a page: %w", errors.Join(page(44), early, other)))
	d.Note(first)
	var at []int
	for _, err := range d.Met() {
		var bad *store.CorruptError
		if !errors.As(err, &bad) {
			t.Fatal(err)
		}
		at = append(at, int(bad.At))
	}
	if want := []int{1, 10, 38, 90, 200}; fmt.Sprint(at) != fmt.Sprint(want) {
		t.Errorf("met at %v, want %v", at, want)
	}
	if untold := d.Untold(); len(untold) != 3 {
		t.Errorf("not told: %v", untold)
	}
	d.Known(errors.New("open b.db: permission denied"))
	if met, untold := d.Met(), d.Untold(); len(met) != 6 || len(untold) != 3 {
		t.Errorf("with a file that cannot be opened: met %v, not told %v", met, untold)
	}
	var nowhere *store.Damage
	nowhere.Note(first)
	if len(nowhere.Met()) != 0 {
		t.Error("a nil Damage takes something in")
	}
}
