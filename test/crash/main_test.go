package crash

import (
	"flag"
	"testing"

	"github.com/jobledger/jobledger/test/internal/suite"
)

var shared suite.Suite

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "3"); err != nil { // a flag on the command line wins: it is read later
		panic(err)
	}
	shared.Main(m, suite.Options{Tags: []string{"failpoints"}})
}
