package copying

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Degraded returns why the copy is behind the log, for probes; empty if it is not. The controller stays ready, because
// Jobs do not wait for the copy.
func (k *Copier) Degraded() string {
	st := k.Status()
	behindBy := "no records behind"
	if st.Lag > 0 {
		behindBy = fmt.Sprintf("%d records behind, the oldest %s old", st.Lag, st.Behind.Round(time.Second))
	}
	switch {
	case st.Problem != "":
		return fmt.Sprintf("degraded: %s: %s", behindBy, st.Problem)
	case st.Behind > lagging:
		return "degraded: " + behindBy
	}
	return ""
}

// lagging: if the oldest record that the copy lacks is older than this, the copy counts as behind.
const lagging = 20 * time.Second

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("jobledger_copy_"+name, help, labels, nil)
}

// The metrics of the log's copy.
var (
	sequence   = desc("sequence", "Sequence of the record through which all are in the copy of the log.")
	lagRecords = desc("lag_records", "Durable records that are not in the copy of the log yet.")
	lagSeconds = desc("lag_seconds", "Age of the oldest such record.")
	objects    = desc("objects_total", "Objects that were put into the copy of the log.")
	bytes      = desc("bytes_total", "Bytes of these objects.")
	failures   = desc("failures_total",
		"Times that copying the log failed and was tried again, by reason (ahead, busy, changed, denied, full, other, timeout, unfenced, unreachable).", "reason")
)

// Describe implements prometheus.Collector: it sends the descriptions of the copy's metrics.
func (k *Copier) Describe(all chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{sequence, lagRecords, lagSeconds, objects, bytes, failures} {
		all <- d
	}
}

// Collect implements prometheus.Collector: it sends the current values of the copy's metrics.
func (k *Copier) Collect(all chan<- prometheus.Metric) {
	st := k.Status()
	one := func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		all <- prometheus.MustNewConstMetric(d, kind, value, labels...)
	}
	one(sequence, prometheus.GaugeValue, float64(st.Copied))
	one(lagRecords, prometheus.GaugeValue, float64(st.Lag))
	one(lagSeconds, prometheus.GaugeValue, st.Behind.Seconds())
	one(objects, prometheus.CounterValue, float64(st.Objects))
	one(bytes, prometheus.CounterValue, float64(st.Bytes))
	for reason, n := range st.Failures {
		one(failures, prometheus.CounterValue, float64(n), reason)
	}
}
