package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/internal/run/replicating"
)

// Replicate says whether a NATS stream replicates the log, and how.
type Replicate struct {
	Config *replicating.Config // nil if the log is not replicated
	Synced bool                // the operator says that the servers sync their disks (--replicate-assume-synced)
}

// replicateWait is the time limit for the answers of the NATS servers, and of their monitoring addresses.
const replicateWait = 10 * time.Second

// ownAccount is a sentence for the operator about a danger that no NATS client can see.
const ownAccount = "who else may publish to the stream cannot be seen from here, and one message of theirs can stop it: " +
	"give the log a NATS account of its own, with one user"

// replicatedLog checks the NATS servers and the stream that replicate the log.
func replicatedLog(ctx context.Context, c *Config) (found []Finding) {
	config := c.Replicate.Config
	if config == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, replicateWait)
	defer cancel()
	e, err := replicating.Examine(ctx, *config)
	switch {
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount),
		errors.Is(err, jetstream.ErrNoStreamResponse), errors.Is(err, nats.ErrNoResponders):
		return []Finding{{
			Level: Problem, Text: "JetStream does not answer at " + e.Servers + ": " + err.Error(),
			Do: "give each server 'jetstream {}' and the account a share of it",
		}}
	case err != nil:
		return []Finding{{
			Level: Problem, Text: fmt.Sprintf("the stream %s of the log cannot be looked at, at %s: %v", config.Stream, e.Servers, err),
			Do: "look at --replicate, --replicate-creds, --replicate-ca and the network; a controller waits for them and decides nothing",
		}}
	}
	for _, why := range e.Wrong {
		found = append(found, Finding{
			Level: Problem, Text: fmt.Sprintf("stream %s: %s", config.Stream, why),
			Do: "correct the server or the stream, or name another stream (--replicate-stream): a controller refuses this one",
		})
	}
	found = append(found, c.synced(&e)...)
	is := fmt.Sprintf("NATS at %s answers; the first controller makes the stream %s", e.Servers, config.Stream)
	if !e.Missing {
		is = fmt.Sprintf("NATS at %s answers; stream %s is held by %s and has %d bytes",
			e.Servers, e.Named, strings.Join(e.Holders, ", "), e.Bytes)
	}
	level := OK
	if len(found) > 0 {
		level = Note
	}
	return append(found, Finding{Level: level, Text: is}, Finding{Level: Note, Text: ownAccount})
}

// synced returns a finding if it cannot be seen that the NATS servers write a message to the disk (sync) before they
// acknowledge it.
func (c *Config) synced(e *replicating.Examined) []Finding {
	const proof = "give the monitoring addresses of all servers (--replicate-monitor), also those that are offline now"
	monitored := len(c.Replicate.Config.Monitor) > 0
	switch {
	case e.Unseen != "":
		return []Finding{{Level: Unknown, Text: e.Unseen, Do: "start the monitoring port of that server (http_port), or look at its address and --replicate-ca"}}
	case monitored && e.Missing:
		return []Finding{{Level: Unknown, Text: "whether the servers sync what they store is looked at once they hold the stream"}}
	case monitored:
		return nil
	case c.Replicate.Synced:
		return []Finding{{
			Level: Note, Do: proof,
			Text: "whether the servers sync what they store (sync_interval: always) is believed and not seen (--replicate-assume-synced)",
		}}
	}
	return []Finding{{
		Level: Warning, Do: proof,
		Text: "whether the servers sync what they store (sync_interval: always) is not known: one that does not loses what it has acknowledged",
	}}
}
