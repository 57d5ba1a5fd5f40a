package main

import (
	"context"
	"errors"

	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/history"
)

// mostLives is how many of the Jobs that bore a name are looked at: the newest.
const mostLives = 8

// caseOf reads the Job that is meant. Of several that bore its name and were there at that point it is the one that goes on, else the newest that
// failed: it is the one that an alert tells of. Where none of them did, it is the newest.
func (c *cli) caseOf(ctx context.Context, f *caseFlags, a *question) (*explain.Case, error) {
	streams, err := c.finder(a.src).Jobs(ctx, a.place, a.handle)
	if err != nil {
		return nil, err
	}
	var all []*explain.Case
	var unread error
	older := 0
	for i, s := range streams {
		if len(all) == mostLives {
			older = len(streams) - i
			break
		}
		found, err := explain.Read(ctx, a.src, s, a.at)
		switch {
		case errors.Is(err, history.ErrNoJob):
			continue
		case err != nil && !a.src.Beside(err):
			return nil, err
		case found == nil:
			return nil, err
		}
		unread = errors.Join(unread, err)
		found.In(f.output.textZone())
		all = append(all, found)
	}
	if len(all) == 0 {
		return nil, c.nothingAt(ctx, a.src, a.handle, &f.at)
	}
	return explain.OfLives(all, older), unread
}
