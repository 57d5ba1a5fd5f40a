package replicametrics

import (
	"math"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Desc returns the description of a metric about replication; its name gets the prefix jobledger_replication_.
func Desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("jobledger_replication_"+name, help, labels, nil)
}

// The metrics of one process about the other processes that have a copy of the log (replicas). lag_records is the
// difference to this process's log.
var (
	heard = Desc("replicas_heard", "Other replicas of the log that were heard within the last 3 s.")
	lag   = Desc("lag_records",
		"Records of this replica that another one, heard at any time since the start, had not on its disk when it was heard last.",
		"replica", "id")
	silent = Desc("silent_seconds", "How long ago such a replica was heard last.", "replica", "id")
	leads  = Desc("leads", "1 for the replica that says that it leads, 0 for the others; this one has no id.", "replica", "id")
	behind = Desc("behind_seconds",
		"How long ago this replica had read all that there was of the log; 0 while it leads, NaN before it was so for the first time.")
)

// awayAfter is how long another replica may be silent before it counts as gone.
const awayAfter = 3 * time.Second

// Other is what this process knows about another replica (a process with a copy of the log).
type Other struct {
	Host, ID string // the same after a restart, and no other replica has both
	Lacks    uint64 // number of this process's records that the other replica did not have yet
	Silent   time.Duration
	Leads    bool // the replica said in its last answer that it leads
}

// View is what one process knows about its copy of the log (replica) and about the other copies.
type View struct {
	Host   string // host of this process
	Leads  bool   // this process leads
	Others []Other
	AsOf   time.Time // when this process last had all records of the log; zero for never
	Now    time.Time
}

// Host returns the host in a process's identity (HOST_SUFFIX). It does not change when the process restarts.
func Host(identity string) string {
	host, _, _ := strings.Cut(identity, "_")
	return host
}

// Describe sends the descriptions of all metrics that View.Collect sends to all.
func Describe(all chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{heard, lag, silent, leads, behind} {
		all <- d
	}
}

// Collect sends the values of the metrics to all.
func (v *View) Collect(all chan<- prometheus.Metric) {
	near := 0
	for _, o := range v.Others {
		is := o.Silent <= awayAfter
		if is {
			near++
		}
		Gauge(all, lag, float64(o.Lacks), o.Host, o.ID)
		Gauge(all, silent, o.Silent.Seconds(), o.Host, o.ID)
		Gauge(all, leads, number(o.Leads && is), o.Host, o.ID)
	}
	Gauge(all, leads, number(v.Leads), v.Host, "")
	Gauge(all, heard, float64(near))
	Gauge(all, behind, v.behind())
}

// behind returns how many seconds ago this process had all records of the log; 0 if it leads, NaN if it never had.
func (v *View) behind() float64 {
	switch {
	case v.Leads:
		return 0
	case v.AsOf.IsZero():
		return math.NaN()
	}
	return v.Now.Sub(v.AsOf).Seconds()
}

// Gauge sends the value of one metric to all.
func Gauge(all chan<- prometheus.Metric, d *prometheus.Desc, value float64, labels ...string) {
	all <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
}

func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
