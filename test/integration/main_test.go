package integration

import (
	"flag"
	"fmt"
	"runtime"
	"testing"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/test/internal/suite"
)

var shared suite.Suite

// long enables longer tests (make test-long).
var long = effort.IsLong()

func TestMain(m *testing.M) {
	// Tests mostly wait, for pods and for time to pass.
	most := fmt.Sprint(4 * runtime.GOMAXPROCS(0))
	if err := flag.Set("test.parallel", most); err != nil { // a flag on the command line wins: it is read later
		panic(err)
	}
	shared.Main(m, suite.Options{Controllers: []string{"resourcequota-controller"}})
}
