package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	natssubject "github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/publish"
)

// natsWait is the time limit for the server's answers.
const natsWait = 5 * time.Second

// natsServer checks the NATS server and its stream, if the log's records are to be published there.
func natsServer(ctx context.Context, c *Config) []Finding {
	if c.NATS == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, natsWait)
	defer cancel()
	const reach = "look at --nats-url and the credentials, and at the network; Jobs do not wait for NATS"
	dial, err := c.NATS.Dial.Load()
	if err != nil {
		return []Finding{{Level: Problem, Text: err.Error(), Do: "correct the flags of NATS"}}
	}
	conn, err := dial.Connect(nats.RetryOnFailedConnect(false))
	if err != nil {
		return []Finding{{Level: Problem, Text: err.Error(), Do: reach}}
	}
	defer conn.Close()
	if err := conn.FlushWithContext(ctx); err != nil {
		if last := conn.LastError(); last != nil {
			err = last
		}
		return []Finding{{Level: Problem, Text: fmt.Sprintf("NATS at %s does not answer: %v", dial.Servers(), err), Do: reach}}
	}
	if c.NATS.Core {
		return well("NATS at " + dial.Servers() + " answers; records go out without a stream (--nats-core)")
	}
	js, err := dial.JetStream(conn)
	if err != nil {
		return []Finding{{Level: Problem, Text: err.Error()}}
	}
	return stream(ctx, c.NATS, js, dial.Servers())
}

func stream(ctx context.Context, c *publish.Config, js jetstream.JetStream, servers string) []Finding {
	name := c.Stream.Name
	var err error
	if name == "" {
		name, err = js.StreamNameBySubject(ctx, natssubject.Everything(c.Cluster))
	}
	var s jetstream.Stream
	if err == nil {
		s, err = js.Stream(ctx, name)
	}
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return well("NATS at " + servers + " answers; the stream is made at the start")
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount), errors.Is(err, jetstream.ErrNoStreamResponse):
		return []Finding{{
			Level: Problem, Text: "JetStream does not answer: " + err.Error(),
			Do: "give the server 'jetstream {}' and the account a share of it; or publish without a stream (--nats-core), which loses messages",
		}}
	case err != nil:
		return []Finding{{Level: Problem, Text: fmt.Sprintf("the stream cannot be looked at: %v", err), Do: "give the account the rights on JetStream that docs/stream.md names"}}
	}
	refused, flags := publish.Check(&s.CachedInfo().Config, c.Cluster)
	var found []Finding
	for _, why := range refused {
		found = append(found, Finding{Level: Problem, Text: fmt.Sprintf("stream %s is refused: %s", name, why), Do: "change the stream, or name another with --nats-stream"})
	}
	for _, flag := range flags {
		found = append(found, Finding{Level: Note, Text: fmt.Sprintf("stream %s: %s", name, flag)})
	}
	if found == nil {
		return well(fmt.Sprintf("NATS at %s answers; stream %s holds %d messages", servers, strings.TrimSpace(name), s.CachedInfo().State.Msgs))
	}
	return found
}
