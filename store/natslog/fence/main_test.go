package fence

import (
	"testing"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/natstest"
)

func TestMain(m *testing.M) { natstest.Main(m) }

// long reports whether tests take as long as they can.
func long() bool { return effort.IsLong() }
