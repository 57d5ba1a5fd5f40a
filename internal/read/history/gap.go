package history

import (
	"context"
	"errors"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/store"
)

// Gap is a time in which nobody watched the cluster. Changes in it were noticed when it ended, or never.
type Gap struct {
	From    recordjson.Instant `json:"from,omitzero"`     // when the watch before it ended; unset if there was none
	Until   recordjson.Instant `json:"until,omitzero"`    // when the next watch began; unset while the gap lasts
	Reason  string             `json:"reason"`            // why the controller listed then: start, gap, relist
	Orderly bool               `json:"orderly,omitempty"` // the controller before had stopped in good order
	Listing uint64             `json:"listing"`           // record of the start of the listing after the gap
	Synced  uint64             `json:"synced,omitempty"`  // record of the end of this listing; absent until then

	pending []events.Resource
}

// Gaps finds the gaps (times in which nobody watched the cluster) in the controller's records: give each to Learn. The
// zero Gaps is ready to use.
type Gaps struct {
	open *Gap // the gap whose end is not known yet, because the listing after it has not ended
}

// Learn processes the next record of the controller. If the record starts a listing, a gap ends: Learn returns the gap
// (a time in which nobody watched), otherwise nil. It completes a returned gap when the listing ends.
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

// gapAt returns the gap (a time in which nobody watched) that contains time t; nil if the cluster was watched then.
// from is the controller's first record after t; g must have learned all records before it.
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

// GapsAt returns the gaps (times in which nobody watched the cluster) that contain at least one of the moments, in log
// order. It leaves out the time before the first watch.
func GapsAt(ctx context.Context, src Source, moments ...events.Time) ([]*Gap, error) {
	all, err := AllGaps(ctx, src)
	return slices.DeleteFunc(all, func(g *Gap) bool {
		return g.From == 0 || !slices.ContainsFunc(moments, g.has)
	}), err
}

// AllGaps returns the gaps (times in which nobody watched the cluster), in log order. If the log is damaged, it returns
// the error and the gaps that it can read. If the end of a gap is damaged, the gap ends with the next readable record.
func AllGaps(ctx context.Context, src Source) ([]*Gap, error) {
	gaps, _, err := Unrecorded(ctx, src)
	return gaps, err
}

// Unrecorded returns all times that the records may not cover: the gaps in which nobody watched, as AllGaps does, and
// the times in which namespaces were over their log budgets.
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

// has reports whether time t lies inside the gap. At its first and its last instant the cluster was watched.
func (g *Gap) has(t events.Time) bool {
	return t > events.Time(g.From) && (g.Until == 0 || t < events.Time(g.Until))
}
