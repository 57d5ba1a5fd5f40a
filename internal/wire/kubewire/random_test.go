package kubewire

import (
	"math/rand/v2"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/randfill"
)

// filler fills objects at random. Some strings are those that mean something.
func filler(seed int64) *randfill.Filler {
	words := []string{
		batchv1.JobCompletionIndexAnnotation, TraceAnnotation, "Always", "True", "Ready", "kube-controller-manager", "status", "", metav1.InitialEventsAnnotationKey, "Job",
	}
	return randfill.NewWithSeed(seed).NilChance(0.3).NumElements(0, 3).Funcs(
		func(s *string, c randfill.Continue) {
			if *s = c.String(12); c.Intn(3) == 0 {
				*s = words[c.Intn(len(words))]
			}
		},
		func(t *metav1.Time, c randfill.Continue) {
			if *t = (metav1.Time{}); c.Intn(4) > 0 {
				t.Time = time.Unix(c.Int63n(4e9), 0).Local()
			}
		},
		func(f *metav1.FieldsV1, c randfill.Continue) {
			if *f = *metav1.NewFieldsV1(`{"f:status":{}}`); c.Intn(2) == 0 {
				*f = *metav1.NewFieldsV1(`{"f:spec":{"f:suspend":{}}}`)
			}
		},
	)
}

func randomPod(seed int64) *corev1.Pod {
	pod := &corev1.Pod{}
	filler(seed).Fill(pod)
	return pod
}

func randomJob(seed int64) *batchv1.Job {
	job := &batchv1.Job{}
	filler(seed).Fill(job)
	return job
}

func encoded(t testing.TB, m message) []byte {
	t.Helper()
	b, err := m.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// newer is a message as a server of a later version may send it: with fields that nobody knows here, in it and in the
// messages at those paths of field numbers.
func newer(b []byte, paths ...[]protowire.Number) []byte {
	var err error
	var out []byte
	for f := (fields{rest: b}); ; {
		whole := f.rest
		if !f.next(&err) {
			break
		}
		field := whole[:len(whole)-len(f.rest)]
		var below [][]protowire.Number
		for _, path := range paths {
			if len(path) > 0 && path[0] == f.number {
				below = append(below, path[1:])
			}
		}
		if len(below) == 0 || len(f.bytes) == 0 { // an empty time is none
			out = append(out, field...)
			continue
		}
		out = protowire.AppendTag(out, f.number, protowire.BytesType)
		out = protowire.AppendBytes(out, newer(f.bytes, below...))
	}
	if err != nil {
		panic(err)
	}
	return unknownField(out)
}

// unknownField appends fields of each type that nobody knows.
func unknownField(b []byte) []byte {
	b = protowire.AppendTag(b, 1000, protowire.BytesType)
	b = protowire.AppendString(b, "of a later version")
	b = protowire.AppendTag(b, 1001, protowire.VarintType)
	b = protowire.AppendVarint(b, rand.Uint64())
	b = protowire.AppendTag(b, 1002, protowire.Fixed32Type)
	b = protowire.AppendFixed32(b, rand.Uint32())
	b = protowire.AppendTag(b, 1003, protowire.Fixed64Type)
	return protowire.AppendFixed64(b, rand.Uint64())
}
