package natstest

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

// MakeStream creates a stream in place of one with the same name that was deleted, or lost with its disk. It tries
// again and again, because the server refuses the new stream while it removes the files of the old one.
func MakeStream(t testing.TB, js jetstream.JetStream, config jetstream.StreamConfig) {
	t.Helper()
	Eventually(t, "stream "+config.Name+" is made", func() error {
		_, err := js.CreateStream(t.Context(), config)
		return err
	})
}

// RemakeStream deletes a stream and creates it again under the same name.
func RemakeStream(t testing.TB, js jetstream.JetStream, config jetstream.StreamConfig) {
	t.Helper()
	if err := js.DeleteStream(t.Context(), config.Name); err != nil {
		t.Fatal(err)
	}
	MakeStream(t, js, config)
}
