package archtest

import (
	"os/exec"
	"strings"
	"testing"
)

// mostForReaders is how many packages the program is compiled from with the build tag reader, those of Go's library
// too. It has some 410 of the 955 that the whole program has, and who tries it first waits for each. 33 of them are the
// library of the Model Context Protocol, which also has HTTP and OAuth that we do not use: 1.9 of 30 MB.
const mostForReaders = 415

// TestTheReaderIsSmall: what only reads a log is built without the client of Kubernetes, the controller and NATS.
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
	never := []string{clientGo, natsGo, natsd, "./internal/run/controller", "./events/informer", "./reconciler/executor", "github.com/prometheus/..."}
	except := []string{"k8s.io/client-go/util/jsonpath", "k8s.io/client-go/third_party/forked/golang/template"} // -o jsonpath
	for _, p := range all {
		if matchesAny(never, p) && !matchesAny(except, p) {
			t.Errorf("the reader is compiled from %s", p)
		}
	}
}
