package publish

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events/nats"
)

// StreamConfig says how to make the stream when it does not exist. One that exists is not changed, only checked.
type StreamConfig struct {
	Name     string        // empty: the stream that has the cluster's subjects, else "jobledger-<cluster>"
	Replicas int           // servers that hold it; 1 when it is 0
	MaxAge   time.Duration // after which messages are deleted; never when it is 0
	MaxBytes int64         // of the stream; when there are more, the oldest messages are deleted; 0 for no bound
}

func (c *StreamConfig) validate(cluster string) error {
	switch {
	case strings.ContainsAny(c.Name, ".*>/\\ \t\r\n"):
		return fmt.Errorf("publish on NATS: a stream cannot be called %q", c.Name)
	case c.Replicas < 0 || c.Replicas > 5:
		return fmt.Errorf("publish on NATS: a stream of %d replicas: want 1 to 5", c.Replicas)
	case c.MaxAge < 0 || c.MaxBytes < 0:
		return errors.New("publish on NATS: a bound of the stream is negative")
	}
	if c.Replicas == 0 {
		c.Replicas = 1
	}
	return nil
}

// duplicates is how long the server knows the IDs of messages. It guards against what the order of sequences does not:
// a message that was stored and then deleted by hand.
const duplicates = 2 * time.Minute

// stream gives the stream, which is made if need be, and refuses one that loses messages.
func (p *Publisher) stream(ctx context.Context) (jetstream.Stream, error) {
	s, err := p.findStream(ctx)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		s, err = p.makeStream(ctx)
	}
	if err != nil {
		return nil, err
	}
	refused, flags := Check(&s.CachedInfo().Config, p.Cluster)
	p.state.found(s.CachedInfo().Config.Name, flags)
	if len(refused) > 0 {
		return nil, &RefusedError{Stream: s.CachedInfo().Config.Name, Why: refused}
	}
	return s, nil
}

func (p *Publisher) findStream(ctx context.Context) (jetstream.Stream, error) {
	name := p.Stream.Name
	if name == "" {
		var err error
		if name, err = p.js.StreamNameBySubject(ctx, nats.Everything(p.Cluster)); err != nil {
			return nil, explain("look for the stream", err)
		}
	}
	s, err := p.js.Stream(ctx, name)
	return s, explain("look for stream "+name, err)
}

func (p *Publisher) makeStream(ctx context.Context) (jetstream.Stream, error) {
	c := jetstream.StreamConfig{
		Name:        p.Stream.Name,
		Description: "Records of the Jobledger controller of cluster " + p.Cluster + ": it alone publishes here.",
		Subjects:    []string{nats.Everything(p.Cluster)},
		Retention:   jetstream.LimitsPolicy,
		Storage:     jetstream.FileStorage,
		Discard:     jetstream.DiscardOld,
		Replicas:    p.Stream.Replicas,
		MaxAge:      p.Stream.MaxAge,
		MaxBytes:    p.Stream.MaxBytes,
		Duplicates:  duplicates,
		AllowDirect: true, // replicas answer subscribers too

		AllowAtomicPublish: p.Stream.Replicas > 1,
	}
	if c.Name == "" {
		c.Name = "jobledger-" + nats.Token(p.Cluster)
	}
	if c.MaxAge > 0 && c.MaxAge < c.Duplicates {
		c.Duplicates = c.MaxAge // the server wants it so
	}
	s, err := p.js.CreateStream(ctx, c)
	if err != nil {
		return nil, explain("make stream "+c.Name, err)
	}
	p.Logger.Info("NATS stream made", "stream", c.Name, "subjects", c.Subjects[0], "replicas", c.Replicas,
		"maxAge", c.MaxAge.String(), "maxBytes", c.MaxBytes)
	return s, nil
}

// explain adds to what the server says what one can do.
func explain(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount), errors.Is(err, natsgo.ErrNoResponders):
		return fmt.Errorf("%s: JetStream does not answer: %w (the server needs 'jetstream {}', the account a share of it; core NATS would do without, and lose messages)", what, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// RefusedError says why nothing is published to a stream. It is looked at again now and then.
type RefusedError struct {
	Stream string
	Why    []string
}

// Error says all of it.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("stream %s is refused: %s", e.Stream, strings.Join(e.Why, "; "))
}
