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

// Probe is what a place can do, as it was tried with an object of its own.
type Probe struct {
	// Fenced: it puts no object in the place of another, and replaces only the one that is named. Else two writers are not
	// told apart.
	Fenced bool
	// Ranges: it reads parts of objects.
	Ranges bool
	// Ahead is by how much its clock is ahead; 0 where it has none, or the difference is smaller than it shows.
	Ahead time.Duration
}

// Dated is a Place that knows when an object was written.
type Dated interface {
	Written(ctx context.Context, name string) (time.Time, error)
}

const probed = "probe"

// Try puts an object at a place, reads it, tries to overwrite it, and deletes it. The error is that of a request that
// must not fail.
func Try(ctx context.Context, p Place) (found Probe, err error) {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
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

// apart is by how much a time is outside of two others, which a clock that shows whole seconds may be by one.
func apart(at, from, to time.Time) time.Duration {
	switch {
	case at.Before(from.Add(-time.Second)):
		return at.Sub(from)
	case at.After(to):
		return at.Sub(to)
	}
	return 0
}
