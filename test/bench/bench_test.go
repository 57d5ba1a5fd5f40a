package bench

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/test/controlplane"
)

// outcome returns the Job and the pods that a shape should leave.
func outcome(s shape) (*batchv1.Job, []corev1.Pod) {
	job := s.job()
	job.Status = batchv1.JobStatus{
		Succeeded: s.pods, Failed: int32(s.fail), CompletionTime: &metav1.Time{},
		Conditions: []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}},
	}
	if s.indexed {
		job.Status.CompletedIndexes = "0-2"
	}
	yes := true
	var pods []corev1.Pod
	for i := range int(s.pods) + s.fail {
		pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{Name: s.name, Controller: &yes}}}}
		pod.Status.Phase = corev1.PodSucceeded
		if i >= int(s.pods) {
			pod.Status.Phase = corev1.PodFailed
		}
		if s.indexed {
			pod.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: string(rune('0' + i))}
		}
		pods = append(pods, pod)
	}
	return job, pods
}

func TestWhatIsWrongIsFound(t *testing.T) {
	for _, row := range []struct {
		name  string
		shape shape
		spoil func(*batchv1.Job, *[]corev1.Pod)
		want  string // a part of the message; empty: there is none
		found found  // its numbers
	}{
		{name: "nothing is wrong with a good outcome", shape: shape{name: "a", pods: 3, fail: 1}},
		{name: "nothing is wrong with a good outcome of an Indexed Job", shape: shape{name: "a", pods: 3, indexed: true}},
		{
			name: "a pod too many is a duplicate", shape: shape{name: "a", pods: 3},
			spoil: func(_ *batchv1.Job, pods *[]corev1.Pod) { *pods = append(*pods, (*pods)[0]) },
			want:  "4 pods Succeeded, 1 too many", found: found{Duplicates: 1},
		},
		{
			name: "a pod too few is a loss", shape: shape{name: "a", pods: 3},
			spoil: func(_ *batchv1.Job, pods *[]corev1.Pod) { *pods = (*pods)[1:] },
			want:  "2 pods Succeeded, 1 lost", found: found{Losses: 1},
		},
		{
			name: "an index twice and another not at all", shape: shape{name: "a", pods: 3, indexed: true},
			spoil: func(_ *batchv1.Job, pods *[]corev1.Pod) { (*pods)[0].Annotations = (*pods)[1].Annotations },
			want:  "pods of 2 indexes, not 3",
		},
		{
			name: "a Job that did not finish", shape: shape{name: "a", pods: 3},
			spoil: func(j *batchv1.Job, _ *[]corev1.Pod) { j.Status.Conditions = nil },
			want:  "Job a is not complete",
		},
		{
			name: "a pod that is counted twice", shape: shape{name: "a", pods: 3},
			spoil: func(j *batchv1.Job, _ *[]corev1.Pod) { j.Status.Succeeded++ },
			want:  "says 4 succeeded, not 3",
		},
		{
			name: "a pod that was not let go", shape: shape{name: "a", pods: 3},
			spoil: func(_ *batchv1.Job, pods *[]corev1.Pod) { (*pods)[2].Finalizers = []string{"x"} },
			want:  "1 pods with a finalizer",
		},
		{
			name: "a pod that still runs", shape: shape{name: "a", pods: 3},
			spoil: func(_ *batchv1.Job, pods *[]corev1.Pod) { (*pods)[2].Status.Phase = corev1.PodRunning },
			want:  "did not end", found: found{Losses: 1},
		},
		{
			name: "a pod of nobody", shape: shape{name: "a", pods: 3},
			spoil: func(_ *batchv1.Job, pods *[]corev1.Pod) { *pods = append(*pods, corev1.Pod{}) },
			want:  "is nobody's",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			job, pods := outcome(row.shape)
			if row.spoil != nil {
				row.spoil(job, &pods)
			}
			got := compare([]shape{row.shape}, []batchv1.Job{*job}, pods)
			if row.want == "" && got.Wrong != "" || !strings.Contains(got.Wrong, row.want) {
				t.Errorf("found %q, want %q", got.Wrong, row.want)
			}
			if got.Duplicates != row.found.Duplicates || got.Losses != row.found.Losses {
				t.Errorf("found %d duplicates and %d losses, want %d and %d", got.Duplicates, got.Losses, row.found.Duplicates, row.found.Losses)
			}
		})
	}
}

func TestAJobThatIsGoneIsFound(t *testing.T) {
	if got := compare([]shape{{name: "a", pods: 1}}, nil, nil); !strings.Contains(got.Wrong, "Job a is gone") {
		t.Errorf("found %q", got.Wrong)
	}
}

func TestQuantileIsTheSmallestValueThatSoManyAreNotAbove(t *testing.T) {
	for _, row := range []struct {
		all  []time.Duration
		p    int
		want time.Duration
	}{
		{[]time.Duration{3, 1, 2}, 50, 2},
		{[]time.Duration{4, 3, 1, 2}, 50, 2},
		{[]time.Duration{7}, 99, 7},
		{nil, 99, 0},
		{make([]time.Duration, 100), 99, 0},
	} {
		if got := quantile(row.all, row.p); got != row.want {
			t.Errorf("p%d of %v = %d, want %d", row.p, row.all, got, row.want)
		}
	}
}

func TestRequestsAreOneUsersAndEventsAreApart(t *testing.T) {
	all, events := perPod([]controlplane.Write{
		{User: Ours, Verb: "create", Resource: "pods", Code: 201},
		{User: Ours, Verb: "update", Resource: "jobs/status", Code: 409},
		{User: Ours, Verb: "create", Resource: "events", Code: 201},
		{User: Ours, Verb: "update", Resource: "leases", Code: 200},
		{User: Builtin, Verb: "create", Resource: "pods", Code: 201},
	}, Ours, 2)
	want := map[string]float64{"create pods": 0.5, "update jobs/status (409)": 0.5}
	if !maps.Equal(all, want) || events != 0.5 {
		t.Errorf("perPod = %v and %v Events, want %v and 0.5", all, events, want)
	}
}

// TestRatiosAreFormedWithinARound: a machine that is slow in one round is slow for both contenders.
func TestRatiosAreFormedWithinARound(t *testing.T) {
	lap := func(wall float64) Lap { return Lap{Figures: map[string]float64{keyWall: wall}} }
	o := &Outcome{Workload: "w", Laps: map[string][]Lap{
		Ours:    {lap(1), lap(10), lap(2)},
		Builtin: {lap(2), lap(20), lap(3)},
	}}
	o.summarise()
	if got := o.Ratios[keyWall]; got != 0.5 {
		t.Errorf("the ratio is %v, want 0.5", got)
	}
	o.Laps[Ours][0].Wrong = "something"
	o.summarise()
	if got, want := o.Medians[Ours][keyWall], 6.; got != want {
		t.Errorf("the median without a wrong lap is %v, want %v", got, want)
	}
}

func TestABaselineIsComparedInRatios(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baseline.json")
	report := &Report{Quick: true, Outcomes: []*Outcome{{
		Workload: "w1", Laps: map[string][]Lap{
			Ours:    {{Figures: map[string]float64{keyRequests: 3, keyWall: 1}}},
			Builtin: {{Figures: map[string]float64{keyRequests: 5, keyWall: 8}}},
		},
	}}}
	report.Outcomes[0].summarise()
	empty, err := ReadBaseline(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := empty.Update(report, path); err != nil {
		t.Fatal(err)
	}
	base, err := ReadBaseline(path)
	if err != nil {
		t.Fatal(err)
	}
	report.Outcomes[0].Laps[Ours][0].Figures[keyRequests] = 4
	report.Outcomes[0].summarise()
	var text bytes.Buffer
	if err := report.Write(&text, base); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text.String()) {
		worse := strings.Contains(line, "worse than the baseline")
		if is := strings.Contains(line, "requests per pod"); is != worse {
			t.Errorf("the table says: %s", line)
		}
	}
	report.Quick = false
	text.Reset()
	if err := report.Write(&text, base); err != nil || strings.Contains(text.String(), "worse") {
		t.Errorf("a full run is compared with a quick one (%v):\n%s", err, &text)
	}
}

func TestUsageOfThisProcess(t *testing.T) {
	before, err := usageOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	m, err := machineNow()
	if err != nil {
		t.Fatal(err)
	}
	after := before
	for start := time.Now(); after.cpu-before.cpu < 5*tick && time.Since(start) < time.Minute; {
		slices.Sort(make([]int, 1<<16)) // use CPU, as far as other processes leave some
		if after, err = usageOf(os.Getpid()); err != nil {
			t.Fatal(err)
		}
	}
	n, err := machineNow()
	if err != nil {
		t.Fatal(err)
	}
	if after.cpu <= before.cpu || after.rss == 0 || after.peak < after.rss {
		t.Errorf("used before %+v, after %+v", before, after)
	}
	if n.busy <= m.busy || n.all-m.all < (n.busy-m.busy)/2 { // the kernel takes back some of its idle time
		t.Errorf("the machine before %+v, after %+v", m, n)
	}
}
