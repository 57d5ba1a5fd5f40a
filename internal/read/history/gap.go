package history

import (
	"context"
	"errors"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/store"
)

// Gap is a time in which the cluster was not watched. Changes in it were found at its end, or never.
type Gap struct {
	From    recordjson.Instant `json:"from,omitzero"`     // end of the watch before; unset if there was none
	Until   recordjson.Instant `json:"until,omitzero"`    // start of the watch after; unset while there is none
	Reason  string             `json:"reason"`            // reason of the listing that ends it: start, gap, relist
	Orderly bool               `json:"orderly,omitempty"` // the run before stopped in good order
	Listing uint64             `json:"listing"`           // record that begins the listing
	Synced  uint64             `json:"synced,omitempty"`  // record that ends the listing; absent until then

	pending []events.Resource
}

// Gaps collects gaps from the controller's stream. The zero Gaps has read none of it.
type Gaps struct {
	open *Gap // the gap whose listing has not ended
}

// Learn takes in the next record of the controller's stream. It returns the gap of a listing that the record begins, or
// nil. A later record fills in the end of the gap.
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

// gapAt returns the gap that contains time t; nil if none does. from is the first record of the controller's stream
// after t; g has learned the records before it.
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

// GapsAt returns the gaps that contain one of some moments, in log order. Facts dated inside a gap were found at its
// end, or never.
func GapsAt(ctx context.Context, src Source, moments ...events.Time) ([]*Gap, error) {
	all, err := AllGaps(ctx, src)
	return slices.DeleteFunc(all, func(g *Gap) bool {
		return g.From == 0 || !slices.ContainsFunc(moments, g.has)
	}), err
}

// AllGaps returns the gaps of the log, in log order. Where the log is damaged, it returns the gaps that it can read,
// and the error. A gap whose end is damaged ends with the next readable record.
func AllGaps(ctx context.Context, src Source) ([]*Gap, error) {
	gaps, _, err := Unrecorded(ctx, src)
	return gaps, err
}

// Unrecorded is AllGaps that also returns the times in which namespaces were over their log budgets.
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

// has reports whether moment t lies inside the gap; its ends were watched.
func (g *Gap) has(t events.Time) bool {
	return t > events.Time(g.From) && (g.Until == 0 || t < events.Time(g.Until))
}
