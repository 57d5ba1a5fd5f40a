package executor

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/google/go-cmp/cmp"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

var update = flag.Bool("update", false, "rewrite testdata; say in the commit why it is right")

// J-061: labels, annotations, spec and finalizers come from the template; our finalizer is added once; owners are not
// taken over.
// J-062: the Job is the one owner, as blocking controller.
// J-064: generateName and name are as the contract says, and a fixed name is not taken over.
// J-065: a pod of an Indexed Job has its index as annotation, label and hostname; another pod has no hostname of ours.
// J-066: the index is also in the environment of every container, unless the container has a variable of that name.
// J-067: with a limit per index, failure counts are there: the first always, the ignored one when it is not 0.
// J-068: the Job stays as it was.
// J-084: every pod that is made carries the finalizer.
//
// TestNewPod shows the pods that creates make. testdata/pods.txt is reviewed as text.
func TestNewPod(t *testing.T) {
	rows := []struct {
		sentence  string
		job       *batchv1.Job
		managedBy string
		create    events.CreatePod
	}{
		{
			"a plain pod has both names, one owner, the tracking finalizer of this controller and the two annotations",
			testJob("demo"), events.ManagedBy, events.CreatePod{Ordinal: 1, Index: events.NoIndex, Template: "hash"},
		},
		{
			"a Job without managedBy keeps its pods with the built-in finalizer",
			testJob("demo"), "", events.CreatePod{Ordinal: 2, Index: events.NoIndex, Template: "hash"},
		},
		{
			"labels, annotations and finalizers are the template's, its owner and name are not taken over, no finalizer is there twice",
			testJob("demo", func(job *batchv1.Job) {
				job.Spec.Template.ObjectMeta = metav1.ObjectMeta{
					Name: "fixed", GenerateName: "fixed-", Namespace: "elsewhere",
					Labels:          map[string]string{"app": "demo", "tier": "batch"},
					Annotations:     map[string]string{"note": "kept"},
					Finalizers:      []string{"example.com/hold", events.TrackingFinalizer},
					OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "other", UID: "x"}},
				}
			}),
			events.ManagedBy, events.CreatePod{Ordinal: 3, Index: events.NoIndex, Template: "hash"},
		},
		{
			"an Indexed pod has its index as label, annotation, hostname and variable, but where a container defines the variable itself",
			testJob("demo", func(job *batchv1.Job) {
				job.Spec.Template.Spec.Hostname = "template"
				job.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "prepare", Image: "demo:1"}}
				job.Spec.Template.Spec.Containers = append(job.Spec.Template.Spec.Containers, corev1.Container{
					Name: "own", Image: "demo:1", Env: []corev1.EnvVar{{Name: "JOB_COMPLETION_INDEX", Value: "mine"}},
				})
			}),
			events.ManagedBy, events.CreatePod{Ordinal: 4, Index: 7, Template: "hash"},
		},
		{
			"the first pod of an index with a limit of its own says that it never failed",
			testJob("demo", func(job *batchv1.Job) { job.Spec.BackoffLimitPerIndex = new(int32(2)) }),
			events.ManagedBy, events.CreatePod{Ordinal: 5, Index: 0, Template: "hash"},
		},
		{
			"a later pod of such an index carries both counts of failures",
			testJob("demo", func(job *batchv1.Job) { job.Spec.BackoffLimitPerIndex = new(int32(2)) }),
			events.ManagedBy,
			events.CreatePod{Ordinal: 6, Index: 0, Template: "hash", IndexFailures: 1, IndexIgnoredFailures: 3},
		},
		{
			"a Job without that limit has no counts on its pods",
			testJob("demo"), events.ManagedBy,
			events.CreatePod{Ordinal: 7, Index: 1, Template: "hash", IndexFailures: 1, IndexIgnoredFailures: 3},
		},
	}
	var got bytes.Buffer
	for _, row := range rows {
		before := row.job.DeepCopy()
		pod := made(t, wire(row.job), row.managedBy, "", &row.create)
		if diff := cmp.Diff(before, row.job); diff != "" {
			t.Errorf("%s: the Job was changed (J-068):\n%s", row.sentence, diff)
		}
		text, err := yaml.Marshal(map[string]any{"metadata": pod.ObjectMeta, "spec": pod.Spec})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "# %s\n%s\n", row.sentence, text)
	}
	const path = "testdata/pods.txt"
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("pods differ from %s (-want +got); -update rewrites it:\n%s", path, diff)
	}
}

// made returns the pod that a create makes, as an API server decodes it.
func made(t *testing.T, job *kubewire.Job, managedBy, group string, c *events.CreatePod) *corev1.Pod {
	t.Helper()
	draft, err := newPod(job, podNameOf(identity, events.JobRef{Name: job.Name, UID: job.UID}, c.Ordinal, c.Index), identity, managedBy, group, c)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := draft.Encode()
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{}
	if err := pod.Unmarshal(encoded); err != nil {
		t.Fatal(err)
	}
	return pod
}

// TestPodsShareNothingWithTheTemplate: several goroutines make pods from the same bytes, so making a pod must not
// change them.
func TestPodsShareNothingWithTheTemplate(t *testing.T) {
	job := wire(testJob("demo", func(job *batchv1.Job) {
		job.Spec.Template.Annotations = map[string]string{"note": "kept"}
		job.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "first"}}
	}))
	spec := append(bytes.Clone(job.Spec), 1, 2, 3)
	job.Spec = spec[:len(job.Spec)] // there is room to append in place
	before := bytes.Clone(spec)
	for _, index := range []int32{events.NoIndex, 0, 1} {
		made(t, job, "", "", &events.CreatePod{Ordinal: 1, Index: index, InGroup: true})
	}
	if !bytes.Equal(before, spec) {
		t.Error("making pods changed the Job")
	}
}

// TestAPlainNameIsOneThatADashMayFollow: a plain name with a dash after it passes the API's own check of a prefix.
func TestAPlainNameIsOneThatADashMayFollow(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	plainly := 0
	for n := range 20_000 {
		name := make([]byte, r.IntN(8))
		for i := range name {
			name[i] = "ab-z09.A_"[r.IntN(9)]
		}
		if n%100 == 0 {
			name = bytes.Repeat([]byte("a"), 240+r.IntN(20))
		}
		if !plain(string(name)) {
			continue
		}
		plainly++
		if said := validation.NameIsDNSSubdomain(string(name)+"-", true); len(said) > 0 {
			t.Fatalf("%q- is no prefix: %q", name, said)
		}
	}
	if plainly < 1000 {
		t.Errorf("only %d names were plain", plainly)
	}
}

func TestPodNamePrefix(t *testing.T) {
	long := strings.Repeat("a", 63)
	rows := []struct {
		sentence string
		job      string
		index    int32
		want     string
	}{
		{"the prefix of a plain Job is its name and a dash", "demo", events.NoIndex, "demo-"},
		{"a dash after a dot is still a prefix", "v1.2", events.NoIndex, "v1.2-"},
		{"a name that no dash may follow stands alone", strings.Repeat("a", 254), events.NoIndex, strings.Repeat("a", 254)},
		{"the prefix of an index has the index between dashes", "demo", 12, "demo-12-"},
		{"a long prefix of an index loses the end of the Job's name, not of the index", long, 12345, strings.Repeat("a", 51) + "-12345-"},
		{"a prefix of exactly 58 characters stays whole", strings.Repeat("a", 55), 1, strings.Repeat("a", 55) + "-1-"},
		{"one of 59 is cut to 58", strings.Repeat("a", 56), 1, strings.Repeat("a", 55) + "-1-"},
	}
	for _, row := range rows {
		t.Run(row.sentence, func(t *testing.T) {
			if got := podNamePrefix(row.job, row.index); got != row.want {
				t.Errorf("prefix of %s, index %d = %q, want %q", row.job, row.index, got, row.want)
			}
			name := podNameOf(identity, events.JobRef{Name: row.job, UID: "u"}, 1, row.index)
			if prefix := row.want[:min(len(row.want), 58)]; len(name) != len(prefix)+5 || !strings.HasPrefix(name, prefix) {
				t.Errorf("name %q is not %q and five characters", name, prefix)
			}
		})
	}
}
