//go:build linux

package soak

import (
	"testing"

	"github.com/jobledger/jobledger/test/internal/suite"
)

var shared suite.Suite

func TestMain(m *testing.M) {
	// Requests in flight when the API server is killed are in doubt for ten seconds, by the flags of server and
	// controller.
	shared.Main(m, suite.Options{APIServerArgs: []string{"--request-timeout=10s"}})
}
