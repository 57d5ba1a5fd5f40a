package archtest

import (
	"os/exec"
	"strings"
	"testing"
)

// mostForReaders is the largest number of packages, including Go's own, that the program with the build tag reader
// consists of. There are 448, of the 993 of the whole program, and a first build compiles each of them. 33 belong
// to the library of the Model Context Protocol, which also has HTTP and OAuth that we do not use: 1.9 of 30 MB.
const mostForReaders = 448

// TestTheReaderIsSmall: a program that only reads logs has no client of Kubernetes, no controller and no NATS.
func TestTheReaderIsSmall(t *testing.T) {
	goFiles(t)
	cmd := exec.Command("go", "list", "-deps", "-tags", "reader", "./cmd/jobledger")
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("list what the reader is compiled from: %v\n%s", err, out)
	}
	all := strings.Fields(string(out))
	if len(all) > mostForReaders {
		t.Errorf("the reader is compiled from %d packages, more than %d", len(all), mostForReaders)
	}
	never := []string{
		clientGo, natsGo, natsd, "./internal/run/controller", "./events/informer", "./events/observation", "./reconciler/executor",
		"github.com/prometheus/...",
	}
	except := []string{"k8s.io/client-go/util/jsonpath", "k8s.io/client-go/third_party/forked/golang/template"} // -o jsonpath
	for _, p := range all {
		if matchesAny(never, p) && !matchesAny(except, p) {
			t.Errorf("the reader is compiled from %s", p)
		}
	}
}
