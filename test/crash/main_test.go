package crash

import (
	"flag"
	"fmt"
	"runtime"
	"testing"

	"github.com/jobledger/jobledger/test/internal/suite"
)

var shared suite.Suite

func TestMain(m *testing.M) {
	most := fmt.Sprint(2 * runtime.GOMAXPROCS(0))           // rows wait most of the time
	if err := flag.Set("test.parallel", most); err != nil { // a flag on the command line wins: it is read later
		panic(err)
	}
	shared.Main(m, suite.Options{Tags: []string{"failpoints"}, Gangs: true})
}
