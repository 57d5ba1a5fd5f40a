package bench

import (
	"math"
	"slices"
	"strconv"
)

// Figure describes one kind of number that the bench measures, such as the CPU time for each pod.
type Figure struct {
	Key   string // key of the figure in the JSON report
	Title string
	// Brief: the figure is also printed while the bench runs.
	Brief bool
	// More: a larger value is better. Without it a smaller one is.
	More bool
	// Aside: the figure is printed, but not compared.
	Aside bool
	// Count: the figure depends little or not at all on the speed of the machine.
	Count bool
}

// Keys of the figures in the JSON report.
const (
	keyCreated50   = "created_p50_ms"
	keyCreated99   = "created_p99_ms"
	keyComplete50  = "complete_p50_ms"
	keyComplete99  = "complete_p99_ms"
	keyDelivered50 = "delivered_p50_ms"
	keyDelivered99 = "delivered_p99_ms"
	keyRetry50     = "retry_late_p50_ms"
	keyRetry99     = "retry_late_p99_ms"
	keyGone50      = "finalizer_gone_p50_ms"
	keyGone99      = "finalizer_gone_p99_ms"
	keySuccessor50 = "successor_p50_ms"
	keySuccessor99 = "successor_p99_ms"
	keyLastGone99  = "last_finalizer_p99_ms"
	keyLate50      = "kubelet_late_p50_ms"
	keyLate99      = "kubelet_late_p99_ms"
	keyWrite50     = "kubelet_write_p50_ms"
	keyWrite99     = "kubelet_write_p99_ms"
	keyStatus      = "status_writes_per_job"
	keyClusterCPU  = "cluster_cpu_ms_per_pod"
	keyAroundCPU   = "scheduler_kwok_cpu_ms_per_pod"
	keyLinkCPU     = "network_cpu_ms_per_pod"
	keyWall        = "wall_s"
	keyRate        = "pods_per_s"
	keyRequests    = "requests_per_pod"
	keyEvents      = "events_per_pod"
	keyCPU         = "cpu_ms_per_pod"
	keyServerCPU   = "apiserver_cpu_ms_per_pod"
	keyEtcdCPU     = "etcd_cpu_ms_per_pod"
	keyBenchCPU    = "bench_cpu_ms_per_pod"
	keyPeak        = "rss_peak_mib"
	keyWritten     = "written_kib_per_pod"
	keyGrown       = "log_kib_per_pod"
	keyCommits     = "commits_per_pod"

	keyFirstJob   = "due_first_job_ms"
	keyMedianJob  = "due_p50_job_ms"
	keyLastJob    = "due_last_job_ms"
	keyLastPod    = "due_last_pod_ms"
	keyLastFinish = "due_last_complete_ms"

	keySuspendedCPU0 = "idle_cpu_ms_per_s_none"
	keySuspendedCPU1 = "idle_cpu_ms_per_s_some"
	keySuspendedCPU2 = "idle_cpu_ms_per_s_many"
	keySuspendedRSS0 = "idle_rss_mib_none"
	keySuspendedRSS1 = "idle_rss_mib_some"
	keySuspendedRSS2 = "idle_rss_mib_many"

	keyObserverCPU      = "observer_cpu_ms_per_pod"
	keyObserverShare    = "observer_cpu_share"
	keyObserverPeak     = "observer_rss_peak_mib"
	keyObserverRequests = "observer_requests"

	keyAgain        = "again_ms"
	keyStart        = "start_ms"
	keyStartCold    = "start_without_log_ms"
	keyIdleRSS      = "idle_rss_mib"
	keyIdleRSSCold  = "idle_rss_without_log_mib"
	keyIdleCPU      = "idle_cpu_ms_per_s"
	keyIdleRequests = "idle_requests_per_minute"
)

// Figures lists all kinds of figures, in the order of the table.
var Figures = []Figure{
	{Key: keyCreated50, Title: "Job created → pod created, p50 ms"},
	{Key: keyCreated99, Title: "Job created → pod created, p99 ms"},
	{Key: keyComplete50, Title: "pod finished → Job Complete, p50 ms", Brief: true},
	{Key: keyComplete99, Title: "pod finished → Job Complete, p99 ms"},
	{Key: keyDelivered50, Title: "pod finished → its record at a NATS subscriber, p50 ms", Brief: true},
	{Key: keyDelivered99, Title: "pod finished → its record at a NATS subscriber, p99 ms", Brief: true},
	{Key: keyRetry50, Title: "pod due again after a failure → it is created, p50 ms", Brief: true},
	{Key: keyRetry99, Title: "pod due again after a failure → it is created, p99 ms"},
	{Key: keyGone50, Title: "pod finished → its finalizer gone, p50 ms", Brief: true},
	{Key: keyGone99, Title: "pod finished → its finalizer gone, p99 ms"},
	{Key: keySuccessor50, Title: "pod finished → its successor created, p50 ms", Brief: true},
	{Key: keySuccessor99, Title: "pod finished → its successor created, p99 ms"},
	{Key: keyLastGone99, Title: "Job Complete → the last finalizer of its pods gone, p99 ms", Brief: true, Aside: true},
	{Key: keyLate50, Title: "kubelet's lag: status due → its write begins, p50 ms", Aside: true},
	{Key: keyLate99, Title: "kubelet's lag: status due → its write begins, p99 ms", Brief: true},
	{Key: keyWrite50, Title: "kubelet's write of a status → answered, p50 ms", Brief: true},
	{Key: keyWrite99, Title: "kubelet's write of a status → answered, p99 ms"},
	{Key: keyFirstJob, Title: "due → first Job created, ms"},
	{Key: keyMedianJob, Title: "due → half of the Jobs created, ms"},
	{Key: keyLastJob, Title: "due → last Job created, ms", Brief: true},
	{Key: keyLastPod, Title: "due → last pod of theirs created, ms", Brief: true},
	{Key: keyLastFinish, Title: "due → last of them Complete, ms", Brief: true},
	{Key: keySuspendedCPU0, Title: "idle CPU without CronJobs, ms each second", Brief: true},
	{Key: keySuspendedCPU1, Title: "idle CPU with some, ms each second", Brief: true},
	{Key: keySuspendedCPU2, Title: "idle CPU with many, ms each second", Brief: true},
	{Key: keySuspendedRSS0, Title: "idle RSS without CronJobs, MiB"},
	{Key: keySuspendedRSS1, Title: "idle RSS with some, MiB"},
	{Key: keySuspendedRSS2, Title: "idle RSS with many, MiB", Brief: true},
	{Key: keyAgain, Title: "started again → next pod created, ms", Brief: true},
	{Key: keyStart, Title: "start with its log → pod created, ms", Brief: true},
	{Key: keyStartCold, Title: "start without a log → pod created, ms", Brief: true},
	{Key: keyIdleRSS, Title: "idle RSS, MiB", Brief: true},
	{Key: keyIdleRSSCold, Title: "idle RSS, started without a log, MiB", Brief: true},
	{Key: keyIdleCPU, Title: "idle CPU, ms each second", Brief: true},
	{Key: keyIdleRequests, Title: "idle requests each minute", Brief: true},
	{Key: keyWall, Title: "wall s", Brief: true},
	{Key: keyRate, Title: "pods/s", Brief: true, More: true},
	{Key: keyRequests, Title: "requests per pod", Brief: true, Count: true},
	{Key: keyStatus, Title: "status writes a Job", Brief: true, Count: true},
	{Key: keyEvents, Title: "Events per pod", Count: true},
	{Key: keyCPU, Title: "CPU per pod, ms", Brief: true},
	{Key: keyObserverCPU, Title: "CPU of the observer per pod, ms", Brief: true, Aside: true},
	{Key: keyObserverShare, Title: "CPU of the observer ÷ that of whom it observes", Brief: true, Aside: true},
	{Key: keyObserverPeak, Title: "peak RSS of the observer, MiB", Brief: true, Aside: true},
	{Key: keyObserverRequests, Title: "requests of the observer, lists and watches", Aside: true},
	{Key: keyServerCPU, Title: "CPU of kube-apiserver per pod, ms"},
	{Key: keyEtcdCPU, Title: "CPU of etcd per pod, ms"},
	{Key: keyAroundCPU, Title: "CPU of scheduler, kwok and other controllers per pod, ms"},
	{Key: keyClusterCPU, Title: "CPU of the whole cluster per pod, ms", Brief: true},
	{Key: keyLinkCPU, Title: "CPU of the network per pod, ms", Aside: true},
	{Key: keyBenchCPU, Title: "CPU of the bench (kubelet, stopwatch) per pod, ms", Aside: true},
	{Key: keyPeak, Title: "peak RSS, MiB", Brief: true},
	{Key: keyWritten, Title: "written per pod as the kernel accounts it, KiB", Aside: true},
	{Key: keyGrown, Title: "log grown per pod, KiB", Count: true},
	{Key: keyCommits, Title: "commits per pod", Brief: true, Count: true},
}

// format returns a number as text with three significant digits; a number with more than three digits becomes a whole
// number.
func (f Figure) format(v float64) string { return format(v) }

func format(v float64) string {
	if v == 0 {
		return "0"
	}
	digits := max(0, 2-int(math.Floor(math.Log10(math.Abs(v)))))
	return strconv.FormatFloat(v, 'f', min(digits, 4), 64)
}

// round rounds v to the three digits that format prints.
func round(v float64) float64 {
	r, _ := strconv.ParseFloat(format(v), 64) // format always returns a number
	return r
}

// median returns the median of at least one number.
func median(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
