package acting

import (
	"context"
	"errors"
	"fmt"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/dial"
	"github.com/jobledger/jobledger/internal/say/words"
)

const (
	findAgain   = time.Second      // time between two requests for the stream
	silentAtAll = time.Minute      // without an answer for this long, there may be no server with JetStream
	findWithin  = 10 * time.Second // time limit of one request
)

// findStream returns the stream with the cluster's events. While the JetStream servers elect a leader, they answer 503
// or not at all; findStream then waits.
func findStream(ctx context.Context, c *cli.CLI, f *subscribeFlags, js jetstream.JetStream) (jetstream.Stream, error) {
	begun, told := time.Now(), false
	for {
		stream, err := f.lookForStream(ctx, js)
		if err == nil || ctx.Err() != nil || !passes(err, time.Since(begun)) {
			return stream, err
		}
		if !told {
			told = true
			fmt.Fprintf(c.Err, "jobledger: %s; waiting: the servers of JetStream may be electing a leader\n", words.Clean(err.Error()))
		}
		dial.Wait(ctx, findAgain)
	}
}

// passes reports whether the error will go away by itself, because JetStream has no leader at the moment. since is how
// long there has been no answer. A server without JetStream does not answer either, so no answer counts as temporary
// only for a minute.
func passes(err error, since time.Duration) bool {
	const unavailable = 503
	var api *jetstream.APIError
	switch {
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return false
	case errors.As(err, &api):
		return api.Code == unavailable
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, natsgo.ErrTimeout), errors.Is(err, natsgo.ErrNoResponders):
		return since < silentAtAll
	}
	return false
}

func (f *subscribeFlags) lookForStream(ctx context.Context, js jetstream.JetStream) (jetstream.Stream, error) {
	bound, cancel := context.WithTimeout(ctx, findWithin)
	defer cancel()
	name := f.stream
	if name == "" {
		var err error
		name, err = js.StreamNameBySubject(bound, nats.Everything(f.cluster))
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			return nil, fmt.Errorf("no stream holds events of cluster %q: is --cluster right, and does its controller publish there (jobledger run --nats-url)?", f.cluster)
		}
		if err != nil {
			return nil, fmt.Errorf("look for the stream of cluster %q: %w", f.cluster, err)
		}
	}
	stream, err := js.Stream(bound, name)
	if err != nil {
		return nil, fmt.Errorf("look for stream %s: %w", name, err)
	}
	return stream, nil
}
