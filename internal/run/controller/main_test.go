package controller

import (
	"testing"

	"github.com/jobledger/jobledger/internal/dev/natstest"
)

// TestMain makes this program a NATS server where a test asks for one in a process of its own.
func TestMain(m *testing.M) { natstest.Main(m) }
