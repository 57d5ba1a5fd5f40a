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

// StreamConfig configures a stream that does not exist yet. An existing stream is checked and never changed.
type StreamConfig struct {
	Name     string        // empty means the stream with the cluster's subjects, else "jobledger-<cluster>"
	Replicas int           // number of servers that hold it; 0 means 1
	MaxAge   time.Duration // age at which messages are deleted; 0 for never
	MaxBytes int64         // size above which the oldest messages are deleted; 0 for no limit
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

// duplicates is how long the server remembers IDs of messages. It guards against a case that the order of positions
// does not detect: a message that was stored and then deleted by hand.
const duplicates = 2 * time.Minute

// stream returns the stream and creates it if necessary. It returns a RefusedError for a stream that would lose
// messages.
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
		AllowDirect: true, // let replicas, not only the leader, answer reads of subscribers

		AllowAtomicPublish: p.Stream.Replicas > 1,
	}
	if c.Name == "" {
		c.Name = "jobledger-" + nats.Token(p.Cluster)
	}
	if c.MaxAge > 0 && c.MaxAge < c.Duplicates {
		c.Duplicates = c.MaxAge // the server refuses a stream with Duplicates above MaxAge
	}
	s, err := p.js.CreateStream(ctx, c)
	if err != nil {
		return nil, explain("make stream "+c.Name, err)
	}
	p.Logger.Info("NATS stream made", "stream", c.Name, "subjects", c.Subjects[0], "replicas", c.Replicas,
		"maxAge", c.MaxAge.String(), "maxBytes", c.MaxBytes)
	return s, nil
}

// explain adds to a server's error what the user can do about it.
func explain(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount), errors.Is(err, natsgo.ErrNoResponders):
		return fmt.Errorf("%s: JetStream does not answer: %w (the server needs 'jetstream {}', the account a share of it; core NATS would do without, and lose messages)", what, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// RefusedError says why nothing is published to a stream. The publisher checks the stream again from time to time.
type RefusedError struct {
	Stream string
	Why    []string
}

// Error returns all reasons in one sentence.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("stream %s is refused: %s", e.Stream, strings.Join(e.Why, "; "))
}
