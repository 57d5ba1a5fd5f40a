package publish

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
)

// Ahead asks the stream once whether it proves that the log has lost records: is is true if the stream has records of
// this log that the log lacks, or others in their place; lost says which. It publishes nothing. An operator needs the
// answer before a new epoch begins.
func Ahead(ctx context.Context, c Config) (lost events.Loss, is bool, err error) {
	p, err := New(c)
	if err != nil || p.Core {
		return events.Loss{}, false, err
	}
	if err := p.connect(); err != nil {
		return events.Loss{}, false, err
	}
	defer p.conn.Close()
	if err := p.awaitServer(ctx); err != nil {
		return events.Loss{}, false, fmt.Errorf("reach the NATS server: %w", err)
	}
	s, err := p.findStream(ctx)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return events.Loss{}, false, nil
	}
	if err != nil {
		return events.Loss{}, false, err
	}
	newest, err := p.newestOurs(ctx, s)
	if newest == nil || err != nil {
		return events.Loss{}, false, err
	}
	at := place{}
	if at.epochs, err = loadEpochs(ctx, c.Log); err != nil {
		return events.Loss{}, false, err
	}
	err = p.after(ctx, &at, newest, s.CachedInfo().Config.Name)
	var diverged *DivergedError
	if errors.As(err, &diverged) {
		return diverged.Loss(), true, nil
	}
	return events.Loss{}, false, err
}

// newestOurs returns the newest message of our log in the stream; nil when there is none.
func (p *Publisher) newestOurs(ctx context.Context, s jetstream.Stream) (*tail, error) {
	newest, err := p.newest(ctx, s.CachedInfo().Config.Name)
	if err == nil && newest != nil && newest.head.ID.Log.LogID != p.Log.Identity().LogID {
		newest, err = p.newestOf(ctx, s, s.CachedInfo().State.FirstSeq, newest)
	}
	return newest, err
}
