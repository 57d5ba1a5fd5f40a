package controller

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/joblog"
	"github.com/jobledger/jobledger/reconciler/loop"
)

// TestStatesThatOutgrowTheSizeAreToldAndStopNoJob: Jobs that are not over come to more than the log may have. It
// becomes larger than it should, which a metric and a probe say for as long as it is so; the controller is ready, and
// all goes on.
func TestStatesThatOutgrowTheSizeAreToldAndStopNoJob(t *testing.T) {
	const most, records = 1 << 20, 20_000
	k := keep(t, most)
	cfg := joblog.Busy(records)
	cfg.Parked = 1500 // their states fill the cap
	overAt, readyAtThen := events.Sequence(0), ""
	cfg.Between = func(now events.Time, l *loop.Loop) error {
		k.loop = l
		if k.turns++; k.turns%25 != 0 {
			return nil
		}
		if err := k.look(now); err != nil {
			return err
		}
		if overAt == 0 && k.over() {
			overAt, readyAtThen = k.log.Head().Sequence, withoutNumbers(k.readyz())
		}
		return nil
	}
	l, err := joblog.Write(k.log, cfg)
	if err != nil {
		t.Fatalf("the log stopped growing: %v", err)
	}
	if overAt == 0 || k.size() <= most {
		t.Fatalf("with %d bytes the log is not over %d: this test tests nothing", k.size(), most)
	}
	if int(overAt) > records/2 || int(l.World().Head) < records {
		t.Errorf("over its size at record %d, the log ends with record %d: Jobs stopped", overAt, l.World().Head)
	}
	want := "[~]retention: the log has  MiB, more than --log-max-size allows: the states of what is unfinished or not deleted need more room. " +
		"No Job waits for that; set a larger size\n"
	if !strings.HasPrefix(readyAtThen, "OK") || !strings.Contains(readyAtThen, want) {
		t.Errorf("the probe said %q, want OK and %q", readyAtThen, want)
	}
	t.Logf("over its size from record %d on; %d bytes in the end, %d times records went", overAt, k.size(), k.prunes)
}

// readyz is what the probe of readiness answers.
func (k *keeping) readyz() string {
	w := httptest.NewRecorder()
	k.health.Probe("readyz", true)(w, probe("127.0.0.1"))
	return http.StatusText(w.Code) + "\n" + w.Body.String()
}

// resident is the memory of this process that is in RAM, as the kernel counts it; 0 where there is no /proc.
func resident() (bytes int64) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			if err != nil {
				return 0
			}
			return kib << 10
		}
	}
	return 0
}

// over reports whether the metric says that the log is larger than it may be.
func (k *keeping) over() bool {
	var m dto.Metric
	if err := k.retainer.over.Write(&m); err != nil {
		k.t.Fatal(err)
	}
	return m.GetGauge().GetValue() == 1
}
