package history

import (
	"context"
	"errors"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/store"
)

// Gap is a time in which the cluster was not watched: what happened then was found at its end, or never.
type Gap struct {
	From    recordjson.Instant `json:"from,omitzero"`     // until then it was watched; unset when it never was
	Until   recordjson.Instant `json:"until,omitzero"`    // from then on it is again; unset when it is not yet
	Reason  string             `json:"reason"`            // of the listing that ends it: start, gap, relist
	Orderly bool               `json:"orderly,omitempty"` // the run before stopped in good order
	Listing uint64             `json:"listing"`           // the record that begins the listing
	Synced  uint64             `json:"synced,omitempty"`  // the record by which it is watched again; absent when it is not yet

	pending []events.Resource
}

// Gaps follows the controller's stream. The zero Gaps has seen none of it.
type Gaps struct {
	open *Gap // its listing has not ended
}

// Learn takes in the next record of the controller's stream. It returns the gap that the record begins to tell of, if
// it does. When the gap ends is filled in by a later record.
func (g *Gaps) Learn(r *events.Record) *Gap {
	switch f := r.Facts.(type) {
	case *events.ListingStarted:
		if g.open == nil {
			g.open = &Gap{From: recordjson.Instant(f.LastSeen), Reason: f.Reason.String(), Orderly: f.Orderly, Listing: uint64(r.Sequence)}
		}
		g.open.pending = append(g.open.pending, f.Resources...)
		return g.open
	case *events.Synced:
		if g.open == nil {
			return nil
		}
		g.open.pending = slices.DeleteFunc(g.open.pending, func(x events.Resource) bool { return slices.Contains(f.Resources, x) })
		if len(g.open.pending) == 0 {
			g.open.Until, g.open.Synced = recordjson.Instant(r.Time), uint64(r.Sequence)
			g.open = nil
		}
	}
	return nil
}

// gapAt is the gap in which a time lies; nil when it lies in none. From is the first record of the controller's stream
// behind that time, and g what was learnt of those before it.
func gapAt(ctx context.Context, src Source, g *Gaps, from events.Sequence, t events.Time) (*Gap, error) {
	found := g.open
	for r, err := range src.ReadStream(ctx, events.Controller, from, store.Forward) {
		if err != nil {
			return found, err
		}
		began := g.Learn(&r)
		if found == nil && began != nil {
			if events.Time(began.From) >= t {
				return nil, nil
			}
			found = began
		}
		if found != nil && found.Until != 0 {
			break
		}
	}
	return found, nil
}

// GapsAt are the gaps in which one of some moments lies, in the order of the log: what is dated inside was found at the
// end of the gap, or never.
func GapsAt(ctx context.Context, src Source, moments ...events.Time) ([]*Gap, error) {
	all, err := AllGaps(ctx, src)
	return slices.DeleteFunc(all, func(g *Gap) bool {
		return g.From == 0 || !slices.ContainsFunc(moments, g.has)
	}), err
}

// AllGaps are those of the log, in its order. Where the log is damaged, it gives with the error those that can be read:
// one whose end is damaged ends with the next record that is not.
func AllGaps(ctx context.Context, src Source) ([]*Gap, error) {
	gaps, _, err := Unrecorded(ctx, src)
	return gaps, err
}

// Unrecorded is AllGaps, and the times in which namespaces were over their budgets of log.
func Unrecorded(ctx context.Context, src Source) ([]*Gap, *PassedOver, error) {
	var passed PassedOver
	var gaps Gaps
	var all []*Gap
	var unread error
	var cut *Gap
	for r, err := range PastDamage(ctx, src, events.Controller, 0) {
		if src.Beside(err) {
			unread = errors.Join(unread, err)
			if gaps.open != nil {
				cut = gaps.open
			}
			gaps = Gaps{}
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		passed.Learn(&r)
		if cut != nil {
			cut.Until, cut = recordjson.Instant(r.Time), nil
		}
		if g := gaps.Learn(&r); g != nil && !slices.Contains(all, g) {
			all = append(all, g)
		}
	}
	return all, &passed, unread
}

// has reports whether a moment lies in the gap. Its ends were watched.
func (g *Gap) has(t events.Time) bool {
	return t > events.Time(g.From) && (g.Until == 0 || t < events.Time(g.Until))
}
