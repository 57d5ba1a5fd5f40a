package kubewire

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var jobPaths = [][]protowire.Number{{1}, {1, 8}, {1, 11}, {1, 12}, {1, 13}, {1, 17}, {1, 17, 4}, {1, 17, 7}, {2}, {3}, {3, 1}, {3, 8}}

// TestAJobIsReadAsItIsWhole: what is read of random Jobs, also of a server that knows more fields, is what the whole
// Job has there. The bytes that are kept of it have all of its metadata, but for the managed fields, and all of its
// spec.
func TestAJobIsReadAsItIsWhole(t *testing.T) {
	for seed := range int64(seeds) {
		job := randomJob(seed)
		want, whole := strippedJob(t, job)
		got, err := Jobs.Of(job)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		checkJob(t, seed, want, whole, got)
		later := &Job{}
		if err := later.read(newer(encoded(t, job), jobPaths...), Jobs.annotations); err != nil {
			t.Fatalf("seed %d, with newer fields: %v", seed, err)
		}
		checkNewerSpec(t, later.Spec)
		checkNewerSpec(t, later.Metadata)
		checkJob(t, seed, want, whole, later)
	}
}

func checkJob(t *testing.T, seed int64, want *Job, whole *batchv1.Job, got *Job) {
	t.Helper()
	spec, err := got.WholeSpec()
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	if d := cmp.Diff(&whole.Spec, spec); d != "" {
		t.Fatalf("seed %d: the bytes kept of the spec differ:\n%s", seed, d)
	}
	metadata := &metav1.ObjectMeta{}
	if err := metadata.Unmarshal(got.Metadata); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	whole.ManagedFields = nil
	if d := cmp.Diff(&whole.ObjectMeta, metadata); d != "" {
		t.Fatalf("seed %d: the bytes kept of the metadata differ:\n%s", seed, d)
	}
	got.Metadata, got.Spec = nil, nil
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("seed %d: read (+) is not what the whole Job has (-):\n%s", seed, d)
	}
}

// strippedJob decodes a Job whole and takes what Jobledger reads.
func strippedJob(t *testing.T, job *batchv1.Job) (stripped *Job, whole *batchv1.Job) {
	t.Helper()
	decoded, whole := &batchv1.Job{}, &batchv1.Job{}
	for _, j := range []*batchv1.Job{decoded, whole} {
		if err := j.Unmarshal(encoded(t, job)); err != nil {
			t.Fatal(err)
		}
	}
	j := &Job{ObjectMeta: strippedMeta(decoded.ObjectMeta, Jobs.annotations), ManagedBy: decoded.Spec.ManagedBy, Status: decoded.Status}
	j.BackoffLimitPerIndex, j.TTLSecondsAfterFinished = decoded.Spec.BackoffLimitPerIndex, decoded.Spec.TTLSecondsAfterFinished
	for i := range j.ManagedFields {
		e := &j.ManagedFields[i]
		e.APIVersion, e.FieldsType = "", ""
		if e.FieldsV1 != nil && !strings.Contains(string(e.FieldsV1.GetRawBytes()), `"f:spec"`) {
			e.FieldsV1 = nil
		}
	}
	return j, whole
}

// FuzzJob: bytes that are no Job give an error or a Job, and nothing worse.
func FuzzJob(f *testing.F) {
	for seed := range int64(20) {
		f.Add(newer(encoded(f, randomJob(seed)), jobPaths...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, want := &Job{}, &batchv1.Job{}
		if err := got.read(b, Jobs.annotations); err != nil && want.Unmarshal(b) == nil {
			t.Errorf("a Job that can be decoded whole cannot be read: %v", err)
		}
	})
}
