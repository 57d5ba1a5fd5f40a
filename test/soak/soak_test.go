//go:build linux

package soak

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/binaries"
	"github.com/jobledger/jobledger/test/internal/controller"
)

const (
	rate = 20 // Jobs a second
	ttl  = 60 * time.Second
	// cluster is its name in the subjects of the stream.
	cluster = "soak"
	// flat: at the end the memory may be at most 1.25 times that after a third of the time.
	flat = 1.25
)

// length returns how long the soak runs; 0: not at all.
func length(t *testing.T) time.Duration {
	text := os.Getenv("JOBLEDGER_SOAK")
	switch {
	case text != "":
		d, err := time.ParseDuration(text)
		if err != nil || d < 5*time.Minute {
			t.Fatalf("JOBLEDGER_SOAK=%s: a length of 5m or more is wanted", text)
		}
		return d
	case effort.IsLong():
		return 30 * time.Minute
	}
	t.Skip("takes half an hour: JOBLEDGER_LONG=1, or JOBLEDGER_SOAK=5m")
	return 0
}

// TestSoak: 20 Jobs a second, while one failure follows another.
func TestSoak(t *testing.T) {
	l := length(t)
	ctx, cancel := context.WithTimeoutCause(t.Context(), 2*l+10*time.Minute, errors.New("it takes more than twice as long as it should"))
	defer cancel()
	disk := newDisk(t)
	nats := natstest.NewServer(t).Start()
	namespace, err := shared.CreateNamespace(ctx, "soak")
	if err != nil {
		t.Fatal(err)
	}
	c := start(t, ctx, namespace, disk.dir, nats.URL())
	alerts := watchAlerts(t, ctx, metricsAddress(t, ctx, c)+"/metrics")
	memory := sample(t, c)
	work := newWork(t, ctx, namespace)

	began := time.Now()
	at := func(share float64) { // waits until that share of the time is over
		t.Helper()
		select {
		case <-time.After(time.Until(began.Add(time.Duration(share * float64(l))))):
		case <-c.Ended():
			t.Fatal("jobledger ended by itself")
		case <-ctx.Done():
			t.Fatal(context.Cause(ctx))
		}
		// On a machine that is too busy, requests wait and use memory.
		wait, err := metric(ctx, alerts.target, "jobledger_commands_waiting")
		if err != nil {
			t.Error(err)
		}
		t.Logf("after %s: %s; %.0f commands wait", time.Since(began).Round(time.Second), work, wait)
	}
	restartAPIServer := func() {
		t.Helper()
		if err := errors.Join(shared.Interrupt(binaries.APIServer), shared.Resume(ctx, binaries.APIServer)); err != nil {
			t.Fatal(err)
		}
	}
	at(0.15)
	restartAPIServer()
	at(0.2)
	freezeAPIServer(t, ctx, alerts)

	at(0.25)
	// JobledgerStreamBehind waits for ten minutes.
	away, state := 0.15, pending
	if l >= 25*time.Minute {
		away, state = float64(11*time.Minute)/float64(l), firing
	}
	nats.Stop()
	alerts.await(t, ctx, "JobledgerStreamBehind", pending)
	at(0.25 + away)
	alerts.await(t, ctx, "JobledgerStreamBehind", state)
	nats.Start()
	alerts.await(t, ctx, "JobledgerStreamBehind", inactive)

	at(max(0.55, 0.25+away+0.02))
	full := time.Now()
	disk.fill(t)
	alerts.await(t, ctx, "JobledgerDiskFull", firing) // after a minute
	t.Logf("the disk was full for %s: %s", time.Since(full).Round(time.Second), work)
	if time.Since(full) < time.Minute {
		t.Error("JobledgerDiskFull fires before a minute is over")
	}
	disk.empty(t)
	alerts.await(t, ctx, "JobledgerDiskFull", inactive)

	at(0.85)
	if l >= 25*time.Minute {
		alerts.await(t, ctx, slow, inactive) // 15 minutes after the freeze
	}
	restartAPIServer()
	at(1)
	work.stop()
	work.done(t, ctx, c)
	published(t, ctx, alerts.target)
	alerts.clear(t, ctx)
	memory.judge(t)
	if err := c.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	logHasAll(t, ctx, c, work)
	streamHasAll(t, ctx, nats, work)
}

// freezeAPIServer freezes the API server until the alert about it fires. Meanwhile Jobs are due for deletion by their
// TTL.
func freezeAPIServer(t *testing.T, ctx context.Context, alerts *alerts) {
	t.Helper()
	frozen := time.Now()
	if err := shared.Freeze(binaries.APIServer); err != nil {
		t.Fatal(err)
	}
	thaw := sync.OnceValue(func() error { return shared.Thaw(binaries.APIServer) })
	defer func() { _ = thaw() }() // if the test fails; else a no-op
	alerts.await(t, ctx, slow, firing)
	if err := thaw(); err != nil {
		t.Fatal(err)
	}
	t.Logf("the API server answered nothing for %s", time.Since(frozen).Round(time.Second))
}

// start runs the controller on the disk, and returns when it is ready. It has no Lease: by design, an outage of the API
// server that is longer than a Lease ends the process.
func start(t *testing.T, ctx context.Context, namespace, disk, nats string) *controller.Controller {
	t.Helper()
	dir := t.TempDir()
	kubeconfig, err := controller.NewUser(ctx, shared.ControlPlane, namespace, namespace, dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := controller.GrantTTL(ctx, shared.ControlPlane, namespace, namespace); err != nil {
		t.Fatal(err)
	}
	c := controller.New(controller.Config{
		Program: shared.Program, Kubeconfig: kubeconfig, Namespace: namespace, Dir: dir, Log: filepath.Join(disk, "log"), Manage: "all",
		Args: []string{
			"--cronjobs=false", "--leader-elect=false", "--log-max-size=3Gi", "--server-request-timeout=10s", "--metrics-bind-address=127.0.0.1:0",
			"--nats-url=" + nats, "--cluster=" + cluster,
		},
	})
	t.Cleanup(func() {
		if output, err := c.Output(); t.Failed() && err == nil {
			t.Logf("jobledger said at the end:\n%s", output[max(0, len(output)-4000):])
		}
		if err := c.Kill(); err != nil {
			t.Error(err)
		}
	})
	if err := c.Start(ctx); err != nil {
		t.Fatal(err)
	}
	return c
}

func metricsAddress(t *testing.T, ctx context.Context, c *controller.Controller) (url string) {
	t.Helper()
	said := regexp.MustCompile(`msg="serving health and metrics" metrics=(\S+)`)
	eventually(t, ctx, "the controller says where its metrics are", func() error {
		text, err := c.Output()
		if m := said.FindStringSubmatch(text); m != nil {
			url = m[1]
			return nil
		}
		return errors.Join(err, errors.New("it does not"))
	})
	return url
}

// eventually waits until holds returns no error.
func eventually(t *testing.T, ctx context.Context, what string, holds func() error) {
	t.Helper()
	ctx, cancel := patience.Context(ctx)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		err := holds()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("waited for this in vain: %s: %v", what, err)
		}
	}
}

// samples is the memory of the process, twice a second.
type samples struct {
	resident, anonymous []int64
	minutes             []int64 // the resident memory every five minutes
	end                 func()  // ends the sampling; then the samples may be read
}

func sample(t *testing.T, c *controller.Controller) *samples {
	t.Helper()
	ended, stop := make(chan struct{}), make(chan struct{})
	s, began := &samples{end: sync.OnceFunc(func() { close(stop); <-ended })}, time.Now()
	go func() { // ends with end, or with the process
		defer close(ended)
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-stop:
				return
			}
			resident, err := c.Resident()
			anonymous, also := c.Anonymous()
			if err != nil || also != nil {
				return
			}
			s.resident, s.anonymous = append(s.resident, resident), append(s.anonymous, anonymous)
			if time.Since(began) >= time.Duration(len(s.minutes)+1)*5*time.Minute {
				s.minutes = append(s.minutes, resident)
			}
		}
	}()
	t.Cleanup(s.end)
	return s
}

// judge compares the last sixth of the time with the sixth after the first third.
func (s *samples) judge(t *testing.T) {
	t.Helper()
	s.end()
	n := len(s.anonymous)
	third, end := s.anonymous[n/3:n/2], s.anonymous[5*n/6:]
	for what, all := range map[string][]int64{"resident": s.resident, "anonymous": s.anonymous} {
		t.Logf("memory, %s, at the start, after a third, a half, five sixths, and the most: %s", what, megabytes(all[n/60], median(all[n/3:n/2]), median(all[n/2:2*n/3]), median(all[5*n/6:]), slices.Max(all)))
	}
	t.Logf("memory, resident, after each five minutes: %s", megabytes(s.minutes...))
	if float64(median(end)) > flat*float64(median(third)) {
		t.Errorf("its memory grows: %s", megabytes(median(third), median(end)))
	}
}

func median(all []int64) int64 {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

func megabytes(all ...int64) (text string) {
	for _, n := range all {
		text += fmt.Sprintf(" %.1f MB", float64(n)/1e6)
	}
	return text
}
