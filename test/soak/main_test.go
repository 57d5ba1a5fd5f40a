//go:build linux

package soak

import (
	"testing"

	"github.com/jobledger/jobledger/test/internal/suite"
)

var shared suite.Suite

func TestMain(m *testing.M) {
	// What was in flight when the API server was killed is in doubt for ten seconds, by its flag and ours.
	shared.Main(m, suite.Options{APIServerArgs: []string{"--request-timeout=10s"}})
}
