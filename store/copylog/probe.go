package copylog

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Probe tells what a place (directory or bucket) can do, as found by Try.
type Probe struct {
	// Fenced reports that Put never overwrites, and Replace replaces only the version with the given tag (ID of a
	// version). In a place without this, two writers may overwrite each other's objects.
	Fenced bool
	// Ranges reports that the place can read parts of objects.
	Ranges bool
	// Ahead is how far the place's clock is ahead of ours. It is 0 if the place has no clock, or if the difference is
	// smaller than the clock's resolution.
	Ahead time.Duration
}

// Dated is a Place that can tell when an object was written.
type Dated interface {
	Written(ctx context.Context, name string) (time.Time, error)
}

const probed = "probe"

// Try finds out what a place can do: it stores an object, reads it, tries to overwrite it, and deletes it. It returns
// an error if a request fails that must succeed.
func Try(ctx context.Context, p Place) (found Probe, err error) {
	var random [8]byte
	_, _ = rand.Read(random[:]) // it never returns an error
	name := "probe-" + hex.EncodeToString(random[:])
	began := time.Now()
	if err := p.Put(ctx, name, strings.NewReader(probed), int64(len(probed))); err != nil {
		return found, fmt.Errorf("put an object: %w", err)
	}
	defer func() {
		if gone := p.Delete(ctx, name); gone != nil {
			err = errors.Join(err, fmt.Errorf("delete an object: %w", gone))
		}
	}()
	part, err := p.Range(ctx, name, 1, 3)
	if err != nil {
		return found, fmt.Errorf("read a part of an object: %w", err)
	}
	found.Ranges = string(part) == probed[1:4]
	again := p.Put(ctx, name, strings.NewReader(probed), int64(len(probed)))
	if again != nil && !errors.Is(again, ErrExists) {
		return found, fmt.Errorf("put an object that is there: %w", again)
	}
	_, replaced := p.Replace(ctx, name, []byte(probed), strings.Repeat("0", 32))
	if replaced != nil && !errors.Is(replaced, ErrChanged) {
		return found, fmt.Errorf("replace an object: %w", replaced)
	}
	found.Fenced = again != nil && replaced != nil
	dated, is := p.(Dated)
	if !is {
		return found, nil
	}
	at, err := dated.Written(ctx, name)
	if err != nil {
		return found, fmt.Errorf("look at an object: %w", err)
	}
	found.Ahead = apart(at, began, time.Now())
	return found, nil
}

// apart returns by how much `at`, a time by the place's clock, lies after `to` by our clock, or (as a negative number)
// before `from`; 0 if it lies in between. A clock with whole seconds may be up to one second behind.
func apart(at, from, to time.Time) time.Duration {
	switch {
	case at.Before(from.Add(-time.Second)):
		return at.Sub(from)
	case at.After(to):
		return at.Sub(to)
	}
	return 0
}
