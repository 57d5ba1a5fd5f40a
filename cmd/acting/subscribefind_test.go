package acting

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jobledger/jobledger/cmd/cli"
	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// electing is a JetStream that answers each search for a stream with the next of these errors, and repeats the last
// one.
type electing struct {
	jetstream.JetStream
	answers []error
	asked   int
}

func (e *electing) StreamNameBySubject(ctx context.Context, _ string) (string, error) {
	err := e.answers[min(e.asked, len(e.answers)-1)]
	e.asked++
	if errors.Is(err, context.DeadlineExceeded) { // no server answers
		<-ctx.Done()
	}
	return "s", err
}

func (e *electing) Stream(context.Context, string) (jetstream.Stream, error) { return nil, nil }

// TestSubscribeWaitsForALeader: a cluster of NATS servers has no leader of JetStream for some seconds after a start, or
// after it lost one. It refuses then, or is silent. A lasting error ends the command at once; a server without
// JetStream ends it after a minute.
func TestSubscribeWaitsForALeader(t *testing.T) {
	leaderless := &jetstream.APIError{Code: 503, ErrorCode: 10008, Description: "JetStream system temporarily unavailable"}
	forLong := make([]error, 600)
	for i := range forLong {
		forLong[i] = leaderless
	}
	for _, row := range []struct {
		sentence string
		answers  []error
		finds    bool
		within   time.Duration
	}{
		{"there is a leader", []error{nil}, true, 0},
		{"a leader is being elected", []error{leaderless, fmt.Errorf("look: %w", context.DeadlineExceeded), natsgo.ErrNoResponders, nil}, true, 20 * time.Second},
		{"that takes ten minutes", append(forLong, nil), true, 11 * time.Minute},
		{"no stream is there", []error{jetstream.ErrStreamNotFound}, false, 0},
		{"JetStream is off", []error{jetstream.ErrJetStreamNotEnabled}, false, 0},
		{"the account has no JetStream", []error{jetstream.ErrJetStreamNotEnabledForAccount}, false, 0},
		{"what is asked is wrong", []error{&jetstream.APIError{Code: 400}}, false, 0},
		{"nobody answers", []error{natsgo.ErrNoResponders}, false, 61 * time.Second},
		{"nobody says anything", []error{context.DeadlineExceeded}, false, 75 * time.Second},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var said strings.Builder
				c, js, begun := &cli.CLI{Err: &said}, &electing{answers: row.answers}, time.Now()
				_, err := findStream(t.Context(), c, &subscribeFlags{cluster: "c"}, js)
				if took := time.Since(begun); (err == nil) != row.finds || took > row.within {
					t.Errorf("after %s, asked %d times: %v", took, js.asked, err)
				}
				if lines := strings.Count(said.String(), "\n"); lines != min(1, js.asked-1) {
					t.Errorf("it says %q", said.String())
				}
			})
		})
	}
}
