package beside

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/internal/dev/port"
	"github.com/jobledger/jobledger/test/binaries"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/child"
)

// tool is a running controller of another project.
type tool struct {
	name      string
	namespace string         // its namespace in the release
	account   string         // its ServiceAccount
	settings  map[string]any // of its configuration, in place of those of the release
}

// tools are in the order of their start: Kueue checks only at its start which kinds of others exist.
var tools = []tool{
	{
		name: binaries.JobSet, namespace: "jobset-system", account: "jobset-controller-manager",
		settings: map[string]any{"internalCertManagement": map[string]any{"enable": false}},
	},
	{
		name: binaries.Kueue, namespace: "kueue-system", account: "kueue-controller-manager",
		settings: map[string]any{
			"namespace": "kueue-system",
			// It keeps the certificate in its Secret. Without these settings it needs files in /etc.
			"internalCertManagement": map[string]any{
				"enable": true, "webhookServiceName": "kueue-webhook-service", "webhookSecretName": "kueue-webhook-server-cert",
			},
			"featureGates": map[string]any{"VisibilityOnDemand": false}, // it would listen on all interfaces
		},
	},
}

// startTools installs Kueue and JobSet and runs them until the end of the test.
func startTools(t *testing.T) {
	t.Helper()
	programs, err := binaries.Ensure(t.Context(), binaries.Config{Programs: binaries.Beside})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	for i := range tools {
		tools[i].start(ctx, t, programs)
		t.Logf("%s %s runs beside ours", tools[i].name, programs.Version(tools[i].name))
	}
}

func (x *tool) start(ctx context.Context, t *testing.T, programs binaries.Set) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("start %s: %v", x.name, err)
		}
	}
	dir, err := os.MkdirTemp("", "jobledger-"+x.name+"-")
	must(err)
	webhooks, releaseWebhooks, err := port.Hold()
	must(err)
	health, releaseHealth, err := port.Hold()
	must(err)
	certs, err := newCertificates(x.name+"-ca", x.name+"-webhook-service."+x.namespace+".svc")
	must(err)
	must(certs.write(dir))

	kubectl := programs.Path(binaries.Kubectl)
	r, err := readRelease(ctx, kubectl, x.name)
	must(err)
	must(r.serveAt(fmt.Sprintf("127.0.0.1:%d", webhooks), certs))
	must(r.apply(ctx, kubectl, shared.Kubeconfig()))

	r.config["webhook"] = map[string]any{"host": "127.0.0.1", "port": webhooks, "certDir": dir}
	r.config["health"] = map[string]any{"healthProbeBindAddress": fmt.Sprintf("127.0.0.1:%d", health)}
	r.config["metrics"] = map[string]any{"bindAddress": "0"}
	r.config["leaderElection"] = map[string]any{"leaderElect": false}
	maps.Copy(r.config, x.settings)
	text, err := yaml.Marshal(r.config)
	must(err)
	must(os.WriteFile(filepath.Join(dir, "config.yaml"), text, 0o600))

	account, err := shared.ServiceAccountConfig(ctx, x.namespace, x.account)
	must(err)
	must(controlplane.WriteKubeconfig(account, filepath.Join(dir, "kubeconfig")))
	output := filepath.Join(dir, "output.txt")
	out, err := os.Create(output)
	must(err)
	defer out.Close() // the child has its own
	cmd := exec.Command(programs.Path(x.name), "--config", filepath.Join(dir, "config.yaml"), "--kubeconfig", filepath.Join(dir, "kubeconfig"))
	cmd.Stdout, cmd.Stderr = out, out
	ended, err := child.Start(cmd)
	must(err)
	t.Cleanup(func() {
		select {
		case err := <-ended:
			t.Errorf("%s ended by itself: %v; what it said is in %s", x.name, err, output)
		default:
			if err := child.Signal(cmd.Process.Pid, syscall.SIGKILL); err != nil {
				t.Error(err)
			}
			if err := <-ended; err == nil {
				t.Errorf("%s ended by itself before it was killed; what it said is in %s", x.name, output)
			}
		}
		if err := errors.Join(releaseWebhooks(), releaseHealth()); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("what %s said is in %s", x.name, output)
		} else if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	must(awaitReady(ctx, health, ended))
}

// awaitReady returns when a tool says that it is ready. It returns an error if the tool ends before.
func awaitReady(ctx context.Context, port int, ended <-chan error) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/readyz", port), nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
			err = errors.New(response.Status)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("it is not ready: %w", err)
		case err := <-ended:
			return errors.Join(errors.New("it ended before it was ready"), err)
		case <-tick.C:
		}
	}
}
