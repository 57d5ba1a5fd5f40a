package line_test

import (
	"testing"

	"github.com/jobledger/jobledger/internal/dev/natstest"
)

func TestMain(m *testing.M) { natstest.Main(m) }
