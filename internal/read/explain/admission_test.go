package explain_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestExplainSaysWhatAdmissionChanged: a recorded Job whose first pod had a sidecar of a webhook and whose last had
// none. The answer names it with the record that says so, and an answer about a pod says it of that pod. Without such
// records nothing is said.
func TestExplainSaysWhatAdmissionChanged(t *testing.T) {
	for _, dir := range logs(t) {
		if filepath.Base(dir) != "delegated" {
			continue
		}
		src := openRecorded(t, dir)
		var stream events.Stream
		var pods []*events.Record // the first of each pod
		for _, s := range src.jobs() {
			c, err := job.Read(t.Context(), src, s, history.Point{})
			if err != nil || c.Job.Namespace != "backoff-limit" {
				continue
			}
			stream = s
		}
		for i := range src.records {
			if r := &src.records[i]; r.Stream == stream && r.Kind == events.KindPodAdded {
				pods = append(pods, r)
			}
		}
		if len(pods) != 3 {
			t.Fatalf("the Job has %d pods, not 3", len(pods))
		}
		if got := admissionOf(t, src, stream); len(got) != 0 {
			t.Errorf("of a log without such records it says %v", got)
		}
		pods[0].Evidence.Admitted = []string{"+containers[proxy]", "containers[main].image"}
		pods[2].Evidence.Admitted = []string{""}
		got := admissionOf(t, src, stream)
		const want = "from the Job's pod template: containers[proxy] added, containers[main].image changed"
		if len(got) != 1 || !strings.HasSuffix(got[0].Text, want) || !slices.Equal(got[0].Records, []uint64{uint64(pods[0].Sequence)}) {
			t.Errorf("it says %+v, want %q by record %d", got, want, pods[0].Sequence)
		}
		c, err := job.Read(t.Context(), src, stream, history.Point{})
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range pods {
			a, err := c.PodAnswer(r.Evidence.Name)
			if err != nil {
				t.Fatal(err)
			}
			says := slices.ContainsFunc(all(&a), func(x explain.Sentence) bool { return strings.Contains(x.Text, "containers[proxy] added") })
			if want := i == 0 || i == 1 && !r.Facts.(*events.PodSeen).Scheduled; says != want {
				t.Errorf("pod %d: it is said: %t, want %t", i+1, says, want)
			}
		}
	}
}

func admissionOf(t *testing.T, src *recorded, s events.Stream) []explain.Sentence {
	t.Helper()
	c, err := job.Read(t.Context(), src, s, history.Point{})
	if err != nil {
		t.Fatal(err)
	}
	a := c.Answer()
	for _, section := range a.Sections {
		if section.Head == "ADMISSION" {
			return section.Sentences
		}
	}
	return nil
}
