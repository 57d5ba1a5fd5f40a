package executor

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/randfill"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// TestPodsAreMadeAsOfTheWholeTemplate: a pod made from the bytes of a random Job equals the pod made from the decoded
// Job.
func TestPodsAreMadeAsOfTheWholeTemplate(t *testing.T) {
	for seed := range int64(300) {
		job := &batchv1.Job{}
		fill := randfill.NewWithSeed(seed).NilChance(0.3).NumElements(0, 3)
		fill.Fill(job)
		job.Name, job.Namespace, job.UID = "demo", "default", "uid-demo"
		if seed%3 == 0 {
			job.Spec.Template.Labels = map[string]string{"app": "demo", indexKey: "the user's"}
			job.Spec.Template.Annotations = map[string]string{events.CommandAnnotation: "the user's", "note": "kept"}
			job.Spec.Template.Spec.Containers = append(job.Spec.Template.Spec.Containers, corev1.Container{
				Name: "own", Env: []corev1.EnvVar{{Name: kubewire.IndexVariable, Value: "mine"}},
			})
		}
		if len(job.Spec.Template.Labels) == 0 {
			continue
		}
		create := &events.CreatePod{
			Ordinal: uint64(seed), Index: int32(seed%4) - 1, Template: "hash", IndexFailures: 2, IndexIgnoredFailures: uint32(seed % 2), InGroup: seed%5 == 0,
		}
		managedBy := []string{"", events.ManagedBy}[seed%2]
		want := decoded(t, wholePod(decodedJob(t, job), managedBy, "group", create))
		if d := cmp.Diff(want, made(t, wire(job), managedBy, "group", create)); d != "" {
			t.Fatalf("seed %d: made of the bytes (+) and of the whole Job (-):\n%s", seed, d)
		}
	}
}

// wholePod makes the same pod as newPod, from a Job that was decoded whole.
func wholePod(job *batchv1.Job, managedBy, podGroup string, c *events.CreatePod) *corev1.Pod {
	template := &job.Spec.Template
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: job.Namespace, Name: podNameOf(identity, events.JobRef{Name: job.Name, UID: job.UID}, c.Ordinal, c.Index),
			GenerateName: podNamePrefix(job.Name, c.Index), Labels: maps.Clone(template.Labels), Annotations: map[string]string{},
			Finalizers: template.Finalizers, OwnerReferences: []metav1.OwnerReference{ownerRef(events.JobRef{Name: job.Name, UID: job.UID})},
		},
		Spec: template.Spec,
	}
	maps.Copy(pod.Annotations, template.Annotations)
	pod.Annotations[events.CommandAnnotation], pod.Annotations[events.TemplateAnnotation] = identity.CommandOf(job.UID, c.Ordinal), c.Template
	if job.Spec.BackoffLimitPerIndex != nil {
		pod.Annotations[batchv1.JobIndexFailureCountAnnotation] = strconv.Itoa(int(c.IndexFailures))
		if c.IndexIgnoredFailures > 0 {
			pod.Annotations[batchv1.JobIndexIgnoredFailureCountAnnotation] = strconv.Itoa(int(c.IndexIgnoredFailures))
		}
	}
	if finalizer := events.FinalizerFor(managedBy); !slices.Contains(pod.Finalizers, finalizer) {
		pod.Finalizers = append(pod.Finalizers, finalizer)
	}
	if c.Index != events.NoIndex {
		index := strconv.Itoa(int(c.Index))
		pod.Labels[indexKey], pod.Annotations[indexKey], pod.Spec.Hostname = index, index, job.Name+"-"+index
		for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
			for i := range list {
				if !slices.ContainsFunc(list[i].Env, func(v corev1.EnvVar) bool { return v.Name == "JOB_COMPLETION_INDEX" }) {
					list[i].Env = append(list[i].Env, corev1.EnvVar{Name: "JOB_COMPLETION_INDEX", ValueFrom: &corev1.EnvVarSource{
						FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['" + indexKey + "']"},
					}})
				}
			}
		}
	}
	if c.InGroup {
		pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &podGroup}
	}
	return pod
}

// decoded returns a pod as an API server has it after it received it in protobuf.
func decoded(t *testing.T, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	b, err := pod.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	got := &corev1.Pod{}
	if err := got.Unmarshal(b); err != nil {
		t.Fatal(err)
	}
	return got
}

func decodedJob(t *testing.T, job *batchv1.Job) *batchv1.Job {
	t.Helper()
	b, err := job.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	got := &batchv1.Job{}
	if err := got.Unmarshal(b); err != nil {
		t.Fatal(err)
	}
	return got
}

// TestFieldsOfALaterServerReachThePod: a later server's pod template has fields that this program does not know. The
// pods made of it have them, too. A status write keeps such fields in the Job's metadata.
func TestFieldsOfALaterServerReachThePod(t *testing.T) {
	const number, text = 999, "of a later version"
	add := func(b []byte) []byte {
		return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), text)
	}
	inside := func(number protowire.Number, b []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), b)
	}
	container := add(encodedOf(t, &corev1.Container{Name: "main", Image: "demo:1"}))
	spec := add(inside(2, container))
	template := append(inside(1, encodedOf(t, &metav1.ObjectMeta{Labels: map[string]string{"app": "demo"}})), inside(2, spec)...)
	metadata := add(encodedOf(t, &metav1.ObjectMeta{Name: "demo", Namespace: "default", UID: "uid-demo", ResourceVersion: "10"}))
	sent := append(inside(1, metadata), inside(2, inside(6, template))...)
	job, err := kubewire.Jobs.Read(kubewire.Wrap("batch/v1", "Job", sent))
	if err != nil {
		t.Fatal(err)
	}
	objects := NewObjects(hashOf)
	objects.KeepJob(job)
	kept, _, _ := objects.at(identity, "uid-demo", 10)
	for _, index := range []int32{events.NoIndex, 7} {
		pod, err := newPod(kept, "demo-7", identity, "", "", &events.CreatePod{Ordinal: 1, Index: index})
		if err != nil {
			t.Fatal(err)
		}
		body, err := pod.Encode()
		if err != nil {
			t.Fatal(err)
		}
		made := fieldOf(t, body, 2)
		if got := fieldOf(t, made, number); string(got) != text {
			t.Errorf("index %d: the spec has %q", index, got)
		}
		if got := fieldOf(t, fieldOf(t, made, 2), number); string(got) != text {
			t.Errorf("index %d: the container has %q", index, got)
		}
	}
	body, err := kept.WithStatus(&batchv1.JobStatus{Active: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got := fieldOf(t, fieldOf(t, body, 1), number); string(got) != text {
		t.Errorf("the metadata of a status write has %q", got)
	}
	if !bytes.Equal(fieldOf(t, body, 2), fieldOf(t, sent, 2)) {
		t.Error("a status write has another spec")
	}
}

func encodedOf(t *testing.T, m interface{ Marshal() ([]byte, error) }) []byte {
	t.Helper()
	b, err := m.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// fieldOf returns the last field with that number in a message.
func fieldOf(t *testing.T, b []byte, number protowire.Number) (found []byte) {
	t.Helper()
	for len(b) > 0 {
		n, kind, tag := protowire.ConsumeTag(b)
		if tag < 0 {
			t.Fatal(protowire.ParseError(tag))
		}
		size := protowire.ConsumeFieldValue(n, kind, b[tag:])
		if size < 0 {
			t.Fatal(protowire.ParseError(size))
		}
		if n == number {
			found, _ = protowire.ConsumeBytes(b[tag:])
		}
		b = b[tag+size:]
	}
	return found
}
