package main

import (
	"context"
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

// mostUnlisted is among how many of the controller's newest records its start is looked for. One that listed nothing writes few.
const mostUnlisted = 200

// noteUnlisted says of a list that the controller has listed nothing since its start: that nothing is in the list says nothing about the cluster.
func (c *cli) noteUnlisted(ctx context.Context, src history.Source) {
	asked := src
	if s, is := asked.(countedSource); is {
		asked = s.Source
	}
	if client, is := asked.(*serve.Client); is {
		if info, err := client.Info(ctx); err == nil && info.NotListed != "" {
			fmt.Fprintf(c.err, "note: nothing was listed: %s\n", words.Clean(info.NotListed))
			return
		}
	}
	if since := unlistedSince(ctx, src); since != 0 {
		fmt.Fprintf(c.err, "note: nothing was listed since the controller started at %s: it had no right to list Jobs, did not reach the API server, or "+
			"did not get that far; what is shown is older\n", words.Zone{}.Second(since))
	}
}

// unlistedSince is when the controller started that has listed nothing since; 0 for one that has, or where that is not known.
func unlistedSince(ctx context.Context, src history.Source) events.Time {
	n := 0
	for r, err := range src.ReadStream(ctx, events.Controller, 0, store.Backward) {
		if n++; err != nil || n > mostUnlisted {
			return 0
		}
		switch r.Kind {
		case events.KindSynced, events.KindStateStored:
			return 0
		case events.KindControllerStarted:
			return r.Time
		default:
		}
	}
	return 0
}
