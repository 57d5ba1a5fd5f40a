package integration

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// TestAStartOnAFullDisk: a controller starts on a full disk, with a new log or an old one. It does nothing, says so to
// probes and to the waiting Jobs, and continues by itself once there is room.
func TestAStartOnAFullDisk(t *testing.T) {
	effort.Whole(t)
	t.Parallel()
	disk := smallDisk(t, "48m") // before the world, which reads the log at its end
	w := newWorld(t)
	w.told = []string{"the log has no room"}
	c := controller.New(controller.Config{
		Program: shared.Program, Kubeconfig: w.kubeconfig, Namespace: w.namespace, Dir: w.dir, Log: filepath.Join(disk, "log"),
		Args: []string{"--metrics-bind-address=127.0.0.1:0"},
	})
	w.controllers = append(w.controllers, c)
	ballast := filepath.Join(disk, "ballast")

	for _, row := range []struct{ name, of string }{{"new", "a new log"}, {"old", "a log that is there"}} {
		w.stop(c)
		holdNothingAhead(t, c.Log())
		fillDisk(t, ballast)
		if err := c.Launch(); err != nil {
			t.Fatal(err)
		}
		w.create(newJob(row.name))
		address := w.newestAddress(c)
		w.eventually("probes hear that there is no room for "+row.of, func() (bool, error) {
			status, body := w.get(address + "/readyz?verbose")
			return status != 200 && strings.Contains(string(body), "[-]room: "), nil
		})
		if status, body := w.get(address + "/livez"); status != 200 {
			t.Errorf("for %s: it waits, and livez says %d %s", row.of, status, body)
		}
		if row.name != "new" { // before the log is open, the waiting Jobs are unknown
			w.eventually("the Job hears that there is no room for "+row.of, func() (bool, error) {
				list, err := w.client.CoreV1().Events(w.namespace).List(t.Context(), metav1.ListOptions{
					FieldSelector: "reason=LogDiskFull,involvedObject.name=" + row.name,
				})
				return err == nil && len(list.Items) == 1, err
			})
			_, body := w.get(address + "/metrics")
			for _, metric := range []string{"jobledger_log_bytes ", "jobledger_log_free_bytes "} {
				if !strings.Contains(string(body), "\n"+metric) {
					t.Errorf("for %s: no metric %s", row.of, metric)
				}
			}
		}
		if n := len(w.pods(row.name)); n != 0 {
			t.Errorf("for %s: %d pods were made without a record", row.of, n)
		}
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := patience.Context(t.Context())
		if err := c.Ready(ctx); err != nil {
			t.Fatalf("with room for %s: %v", row.of, err)
		}
		cancel()
		w.eventually("with room for "+row.of+" the Job completes", func() (bool, error) {
			return condition(w.job(row.name), batchv1.JobComplete) != nil, nil
		})
	}

	w.stop(c)
	holdNothingAhead(t, c.Log())
	fillDisk(t, ballast)
	if err := c.Launch(); err != nil {
		t.Fatal(err)
	}
	address := w.newestAddress(c)
	w.eventually("it waits once more", func() (bool, error) {
		_, body := w.get(address + "/readyz?verbose")
		return strings.Contains(string(body), "[-]room: "), nil
	})
	began := time.Now()
	w.stop(c) // fails unless it ends with exit code 0
	t.Logf("a start that waited for room stopped within %s", time.Since(began))
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
}

// newestAddress returns where the newest run of the controller serves probes and metrics.
func (w *world) newestAddress(c *controller.Controller) string {
	return w.metricsAddress(c.NewestOutput)
}

// smallDisk mounts a file system of that size for one test.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	at := t.TempDir()
	if err := syscall.Mount("tmpfs", at, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("needs to mount a tmpfs (root): %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(at, 0); err != nil {
			t.Errorf("unmount %s: %v", at, err)
		}
	})
	return at
}

// holdNothingAhead frees the space that a closed log holds ahead of its records; a copy of the log would not have it
// either. The space that stays is larger than so short a log needs.
func holdNothingAhead(t *testing.T, log string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(log, "*.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if err := os.Truncate(file, 1<<20); err != nil {
			t.Fatal(err)
		}
	}
}

// fillDisk fills the file system to the last byte.
func fillDisk(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 64<<10); err == nil && len(block) > 0; {
		var n int
		n, err = f.Write(block)
		if n < len(block) && n > 0 {
			err = nil
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}
