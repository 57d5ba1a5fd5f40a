package natstest

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

// MakeStream makes a stream in the place of one that was deleted, or lost with its disk: the server refuses it while it
// still removes the files of the first.
func MakeStream(t testing.TB, js jetstream.JetStream, config jetstream.StreamConfig) {
	t.Helper()
	Eventually(t, "stream "+config.Name+" is made", func() error {
		_, err := js.CreateStream(t.Context(), config)
		return err
	})
}

// RemakeStream deletes a stream and makes another one of its name.
func RemakeStream(t testing.TB, js jetstream.JetStream, config jetstream.StreamConfig) {
	t.Helper()
	if err := js.DeleteStream(t.Context(), config.Name); err != nil {
		t.Fatal(err)
	}
	MakeStream(t, js, config)
}
