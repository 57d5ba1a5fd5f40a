package acting

import (
	"errors"
	"strings"
	"testing"
)

// TestWhatWasLeftOut: an error about a missing NATS server, or a missing user, says what to give.
func TestWhatWasLeftOut(t *testing.T) {
	refused, unknown := errors.New("connection refused"), errors.New("nats: Authorization Violation")
	named := subscribeFlags{}
	named.URL = "nats://a"
	for _, row := range []struct {
		sentence string
		flags    subscribeFlags
		err      error
		want     string // behind the error; empty for nothing
	}{
		{"nothing was named", subscribeFlags{}, refused, "; no server was named: give --log DIR of a controller with --nats-embedded, or --nats-url or --nats-context"},
		{"a server that is not there", named, refused, ""},
		{"a server that wants a user", named, unknown, "; that server wants a user: give --nats-creds or --nats-context, or --log DIR of a controller with --nats-embedded"},
		{"a log whose controller is gone", subscribeFlags{log: "log"}, refused, ""},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			err := row.flags.advise(row.err)
			if got, is := strings.CutPrefix(err.Error(), row.err.Error()); !is || got != row.want || !errors.Is(err, row.err) {
				t.Errorf("%v\nwant behind the error: %q", err, row.want)
			}
		})
	}
}
