package replicametrics

import (
	"math"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Desc describes a metric of a replica. Every such metric has the same beginning of its name.
func Desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("jobledger_replication_"+name, help, labels, nil)
}

// Each process has its own view: a standby compares the others with its own log.
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

// awayAfter is the time without a word after which another replica counts as away.
const awayAfter = 3 * time.Second

// Other is another replica, as heard last.
type Other struct {
	Host, ID string // together unique; the same after a restart
	Lacks    uint64 // records of this replica that it had not
	Silent   time.Duration
	Leads    bool // it said that it leads
}

// View is what a replica knows.
type View struct {
	Host   string // of this one
	Leads  bool   // this one leads
	Others []Other
	AsOf   time.Time // this one had read all that there was then; zero before
	Now    time.Time
}

// Host returns the host of a process with that identity, which stays the same when the process is started again.
func Host(identity string) string {
	host, _, _ := strings.Cut(identity, "_")
	return host
}

// Describe sends the metrics of a View.
func Describe(all chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{heard, lag, silent, leads, behind} {
		all <- d
	}
}

// Collect sends the values.
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

// behind returns for how many seconds this replica has lacked something.
func (v *View) behind() float64 {
	switch {
	case v.Leads:
		return 0
	case v.AsOf.IsZero():
		return math.NaN()
	}
	return v.Now.Sub(v.AsOf).Seconds()
}

// Gauge sends one value.
func Gauge(all chan<- prometheus.Metric, d *prometheus.Desc, value float64, labels ...string) {
	all <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
}

func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
