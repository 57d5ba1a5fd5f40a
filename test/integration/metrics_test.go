package integration

import (
	"cmp"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
)

// J-196 to J-205, O-070: the metrics match what happened.
// O-035: health, readiness and metrics are served.
//
// TestMetrics runs Jobs of many kinds.
func TestMetrics(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newController("", "--metrics-bind-address=127.0.0.1:0")
	w.start(c)
	address := w.metricsAddress(c.Output)

	w.create(newJob("foreign", managedBy(new("example.com/other"))))
	w.create(newJob("plain"))
	w.create(newJob("fixed", completions(3), parallelism(2)))
	w.create(newJob("fails", backoffLimit(0), outcome("fail")))
	w.create(newJob("indexed", indexed, completions(4), parallelism(4), failIndexes("2"), func(j *batchv1.Job) {
		j.Spec.BackoffLimitPerIndex = new(int32(0))
	}))
	w.create(newJob("policy", outcome("fail"), func(j *batchv1.Job) {
		j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action: batchv1.PodFailurePolicyActionFailJob,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
				Operator: batchv1.PodFailurePolicyOnExitCodesOpNotIn, Values: []int32{77},
			},
		}}}
	}))
	for _, name := range []string{"plain", "fixed", "fails", "indexed", "policy"} {
		w.eventually("Job "+name+" finishes", func() (bool, error) {
			j := w.job(name)
			return condition(j, batchv1.JobComplete) != nil || condition(j, batchv1.JobFailed) != nil, nil
		})
		w.letGo(name)
	}

	want := map[string]float64{
		`jobs_finished_total{completion_mode="Indexed",reason="FailedIndexes",result="failed"}`:            1,
		`jobs_finished_total{completion_mode="NonIndexed",reason="BackoffLimitExceeded",result="failed"}`:  1,
		`jobs_finished_total{completion_mode="NonIndexed",reason="CompletionsReached",result="succeeded"}`: 2,
		`jobs_finished_total{completion_mode="NonIndexed",reason="PodFailurePolicy",result="failed"}`:      1,
		`job_pods_finished_total{completion_mode="Indexed",result="failed"}`:                               1,
		`job_pods_finished_total{completion_mode="Indexed",result="succeeded"}`:                            3,
		`job_pods_finished_total{completion_mode="NonIndexed",result="failed"}`:                            2,
		`job_pods_finished_total{completion_mode="NonIndexed",result="succeeded"}`:                         4,
		`job_finished_indexes_total{backoffLimit="perIndex",status="failed"}`:                              1,
		`job_finished_indexes_total{backoffLimit="perIndex",status="succeeded"}`:                           3,
		`pod_failures_handled_by_failure_policy_total{action="FailJob"}`:                                   1,
		`terminated_pods_tracking_finalizer_total{event="add"}`:                                            10,
		`terminated_pods_tracking_finalizer_total{event="delete"}`:                                         10,
		`jobs_by_external_controller_total{controller_name="example.com/other"}`:                           1,
		`stale_sync_skips_total{group="",resource="pods"}`:                                                 0,
		`stale_sync_skips_total{group="batch",resource="jobs"}`:                                            0,
		"pods created, for whatever reason":                                                                10,
	}
	var differs string
	got := map[string]float64{}
	defer func() {
		if t.Failed() {
			t.Logf("%s; got %v", differs, got)
		}
	}()
	w.eventually("the metrics say what happened", func() (bool, error) {
		differs = ""
		got = w.scrape(address + "/metrics")
		for name, n := range got {
			if strings.HasPrefix(name, "job_pods_creation_total") && strings.Contains(name, `status="succeeded"`) {
				got["pods created, for whatever reason"] += n
			}
		}
		for name, n := range want {
			if value, ok := got[name]; !ok || value != n {
				differs = name
			}
		}
		for name := range got {
			if _, ok := want[name]; !ok && !strings.HasPrefix(name, "job_sync") && !strings.HasPrefix(name, "job_pods_creation") {
				differs = name + ", which is not expected"
			}
		}
		return differs == "", nil
	})
	syncs := 0.0
	for name, n := range got {
		labels, ok := strings.CutPrefix(name, "job_syncs_total")
		if !ok {
			continue
		}
		syncs += n
		if observed := got["job_sync_duration_seconds_count"+labels]; observed != n {
			t.Errorf("%s is %g, but %g durations were observed (J-196)", name, n, observed)
		}
		if strings.Contains(labels, `result="error"`) && !strings.Contains(labels, "reconciling") {
			t.Errorf("%s is %g, though nothing was refused", name, n) // a status write may meet a newer version
		}
	}
	if syncs < 5*3 {
		t.Errorf("%g syncs of five Jobs", syncs)
	}
	for path, want := range map[string]int{"/healthz": 200, "/livez": 200, "/readyz": 200, "/v1/log": 404} {
		if got := w.status(address + path); got != want {
			t.Errorf("%s: %d, want %d (O-035)", path, got, want)
		}
	}
}

// metricsSaid matches the line in which a controller says where it serves metrics.
var metricsSaid = regexp.MustCompile(`msg="serving health and metrics" metrics=(\S+)`)

// metricsAddress returns the address at which a controller says that it serves metrics.
func (w *world) metricsAddress(output func() (string, error)) (url string) {
	w.t.Helper()
	w.eventually("the controller says where its metrics are", func() (bool, error) {
		text, err := output()
		if m := metricsSaid.FindStringSubmatch(text); m != nil {
			url = m[1]
		}
		return url != "", err
	})
	return url
}

// get gets a URL.
func (w *world) get(url string) (status int, body []byte) {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, url, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	response, err := cmp.Or(w.web, http.DefaultClient).Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err = io.ReadAll(io.LimitReader(response.Body, 4<<20)); err != nil {
		w.t.Fatal(err)
	}
	return response.StatusCode, body
}

func (w *world) status(url string) int {
	w.t.Helper()
	status, _ := w.get(url)
	return status
}

// scrape reads the metrics of Jobs, without their common prefix and without buckets.
func (w *world) scrape(url string) map[string]float64 {
	w.t.Helper()
	_, text := w.get(url)
	out := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		line, ok := strings.CutPrefix(strings.TrimSpace(line), "job_controller_")
		at := strings.LastIndexByte(line, ' ')
		if !ok || at < 0 || strings.Contains(line, "_bucket{") {
			continue
		}
		value, err := strconv.ParseFloat(line[at+1:], 64)
		if err != nil {
			w.t.Fatalf("read %q: %v", line, err)
		}
		out[line[:at]] = value
	}
	return out
}
