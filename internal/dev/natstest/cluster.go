package natstest

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

// Servers is a cluster of NATS servers, each in a process of its own. A member of a cluster syncs each write to disk; a
// single server of package natstest does not.
type Servers []*Server

// NewServers starts n NATS servers, and returns when they form a cluster. The TestMain of the test's package must call
// Main.
func NewServers(t testing.TB, n int) Servers {
	t.Helper()
	var peers []string
	for range n {
		peers = append(peers, strconv.Itoa(FreePort(t)))
	}
	var all Servers
	for i, own := range peers {
		s := NewServer(t).Apart()
		if n > 1 {
			s.peers = append([]string{own}, slices.Delete(slices.Clone(peers), i, i+1)...)
		}
		all = append(all, s.Start())
	}
	js := JetStream(t, all.URL())
	Eventually(t, "the servers are a cluster", func() error {
		config := jetstream.StreamConfig{Name: "cluster", Subjects: []string{"cluster"}, Replicas: n}
		_, err := js.CreateStream(t.Context(), config)
		return errors.Join(err, t.Context().Err())
	})
	return all
}

// URL returns the addresses of the servers.
func (all Servers) URL() string {
	var urls []string
	for _, s := range all {
		urls = append(urls, s.URL())
	}
	return strings.Join(urls, ",")
}
