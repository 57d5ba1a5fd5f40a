package publish

import (
	"context"
	"errors"
	"fmt"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// watchStream ends the session when look finds that the stream has changed.
func (p *Publisher) watchStream(ctx context.Context, cancel context.CancelCauseFunc, at *place) {
	tick := time.NewTicker(p.Look)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := p.look(ctx, at); err != nil {
			cancel(err)
			return
		}
	}
}

// look returns an error when the stream of a session was deleted, recreated, truncated or reconfigured. Without look,
// this would be noticed only when the next record is published. A server that does not answer in time is no error here;
// the code that sends messages detects that.
func (p *Publisher) look(ctx context.Context, at *place) error {
	if p.Core || !p.conn.IsConnected() {
		return nil
	}
	ended := p.state.streamEnd()
	bound, cancel := context.WithTimeout(ctx, p.AckTimeout)
	defer cancel()
	s, err := p.js.Stream(bound, at.stream)
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return fmt.Errorf("stream %s is gone", at.stream)
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount), errors.Is(err, natsgo.ErrNoResponders):
		return explain("look at stream "+at.stream, err)
	case err != nil:
		return nil // no answer in time: the code that sends messages detects that
	}
	info := s.CachedInfo()
	refused, _ := Check(&info.Config, p.Cluster)
	switch {
	case !info.Created.Equal(at.created):
		return fmt.Errorf("stream %s was deleted and created again", at.stream)
	case info.State.LastSeq < ended:
		return fmt.Errorf("stream %s lost its newest messages: it ends at %d, and %d was acknowledged", at.stream, info.State.LastSeq, ended)
	case len(refused) > 0:
		return &RefusedError{Stream: at.stream, Why: refused}
	case info.Config.Replicas != at.replicas, info.Config.AllowAtomicPublish != at.atomic:
		return fmt.Errorf("stream %s was changed: it has %d replicas now", at.stream, info.Config.Replicas)
	}
	return nil
}
