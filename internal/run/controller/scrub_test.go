package controller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// threeFiles has sealed files that begin with the records 1, 50 and 80.
type threeFiles struct {
	damaged atomic.Uint64
	asked   []events.Sequence
}

func (l *threeFiles) Scrub(_ context.Context, after events.Sequence) (events.Sequence, []string, error) {
	first := events.Sequence(1)
	for _, f := range []events.Sequence{80, 50} {
		if f > after && after > 0 {
			first = f
		}
	}
	l.asked = append(l.asked, first)
	if uint64(first) == l.damaged.Load() {
		return first, nil, &store.CorruptError{At: first, Cause: errors.New("rot")}
	}
	return first, nil, nil
}

// TestOneFileIsScrubbedEachHour: and again when all have been, and damage is told and counted until it is gone.
func TestOneFileIsScrubbedEachHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &threeFiles{}
		log.damaged.Store(50)
		var said strings.Builder
		registry := prometheus.NewRegistry()
		s := newScrubber(log, slog.New(slog.NewTextHandler(&said, nil)), registry)
		ctx, stop := context.WithCancel(t.Context())
		go s.run(ctx)
		time.Sleep(2*scrubEvery + time.Minute)
		synctest.Wait()
		if got := metricValue(t, registry, "jobledger_log_damaged_files"); got != 1 || !strings.Contains(said.String(), "rot") {
			t.Errorf("with a damaged file: jobledger_log_damaged_files is %v, said %q", got, said.String())
		}
		log.damaged.Store(0)
		time.Sleep(3 * scrubEvery)
		synctest.Wait()
		if got := metricValue(t, registry, "jobledger_log_damaged_files"); got != 0 {
			t.Errorf("when the file is whole again: jobledger_log_damaged_files is %v", got)
		}
		if got := fmt.Sprint(log.asked); got != "[1 50 80 1 50]" || metricValue(t, registry, "jobledger_log_scrubbed_files_total") != 5 {
			t.Errorf("scrubbed %s, counted %v", got, metricValue(t, registry, "jobledger_log_scrubbed_files_total"))
		}
		stop()
	})
}

// metricValue is the value of a counter or gauge without labels.
func metricValue(t *testing.T, registry *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetCounter().GetValue() + f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}
