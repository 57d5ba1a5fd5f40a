package informer

import (
	"encoding/json"
	"regexp"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

func TestEqualJobsShareASpec(t *testing.T) {
	base := testJob("a")
	spec, template, err := specIn(base)
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(spec.Hash) {
		t.Errorf("hash %q", spec.Hash)
	}
	env := func(value string) func(*batchv1.Job) {
		return func(job *batchv1.Job) {
			job.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: value}}
		}
	}
	for _, tt := range []struct {
		name           string
		a, b           *batchv1.Job
		spec, template bool // the same
	}{
		{"equal Jobs of different names", base, testJob("b"), true, true},
		{
			"another status and other annotations", base,
			testJob("a", complete, func(j *batchv1.Job) { j.Annotations = map[string]string{"x": "y"} }), true, true,
		},
		{"another parallelism", base, testJob("a", func(j *batchv1.Job) { j.Spec.Parallelism = new(int32(2)) }), false, true},
		{"suspended", base, testJob("a", func(j *batchv1.Job) { j.Spec.Suspend = new(true) }), false, true},
		{"suspend unset and false", base, testJob("a", func(j *batchv1.Job) { j.Spec.Suspend = new(false) }), true, true},
		{
			"another image", base,
			testJob("a", func(j *batchv1.Job) { j.Spec.Template.Spec.Containers[0].Image = "demo:2" }), false, false,
		},
		{"another label", base, testJob("a", func(j *batchv1.Job) { j.Spec.Template.Labels["app"] = "x" }), false, false},
		{"another value that is redacted", testJob("a", env("one")), testJob("b", env("two")), false, false},
		{"the same value that is redacted", testJob("a", env("one")), testJob("b", env("one")), true, true},
		{
			"a label of generated name that is the user's", testJob("a", selecting(map[string]string{"job-name": "x"})),
			testJob("a", selecting(map[string]string{"job-name": "y"})), false, false,
		},
		{
			"a selector of servers before 1.27", base,
			testJob("a", func(j *batchv1.Job) {
				j.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{legacyControllerUIDLabel: "uid-a"}}
			}), false, true,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, _, err := specIn(tt.a)
			if err != nil {
				t.Fatal(err)
			}
			b, _, err := specIn(tt.b)
			if err != nil {
				t.Fatal(err)
			}
			if got := a.Hash == b.Hash; got != tt.spec {
				t.Errorf("same spec: %v, want %v", got, tt.spec)
			}
			if got := a.Template == b.Template; got != tt.template {
				t.Errorf("same template: %v, want %v", got, tt.template)
			}
		})
	}
	if again, t2, _ := specIn(testJob("b")); again.Hash != spec.Hash || string(t2) != string(template) {
		t.Errorf("templates of equal Jobs differ:\n%s\n%s", template, t2)
	}
	if base.Spec.Template.Labels[controllerUIDLabel] == "" {
		t.Error("the Job's own labels were changed")
	}
}

// TestSpecFields: what decisions read arrives under its own name.
func TestSpecFields(t *testing.T) {
	job := testJob("a", func(j *batchv1.Job) {
		s := &j.Spec
		s.Parallelism, s.Completions = new(int32(2)), new(int32(3))
		s.CompletionMode = new(batchv1.IndexedCompletion)
		s.BackoffLimit, s.BackoffLimitPerIndex, s.MaxFailedIndexes = new(int32(4)), new(int32(5)), new(int32(6))
		s.ActiveDeadlineSeconds, s.TTLSecondsAfterFinished = new(int64(7)), new(int32(8))
		s.PodReplacementPolicy = new(batchv1.Failed)
		s.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{Action: batchv1.PodFailurePolicyActionIgnore}}}
		s.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededCount: new(int32(1))}}}
	})
	selecting(map[string]string{"app": "x"})(job)
	spec, _, err := specIn(job)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		ok   bool
	}{
		{"parallelism", *spec.Parallelism == 2},
		{"completions", *spec.Completions == 3},
		{"completionMode", spec.CompletionMode == "Indexed"},
		{"backoffLimit", *spec.BackoffLimit == 4},
		{"backoffLimitPerIndex", *spec.BackoffLimitPerIndex == 5},
		{"maxFailedIndexes", *spec.MaxFailedIndexes == 6},
		{"activeDeadlineSeconds", *spec.ActiveDeadlineSeconds == 7},
		{"ttlSecondsAfterFinished", *spec.TTLSecondsAfterFinished == 8},
		{"podReplacementPolicy", spec.PodReplacementPolicy == "Failed"},
		{"restartPolicy", spec.RestartPolicy == "Never"},
		{"manualSelector", spec.ManualSelector},
		{"selector", spec.Selector == `{"matchLabels":{"app":"x"}}`},
		{"podFailurePolicy", spec.PodFailurePolicy == `{"rules":[{"action":"Ignore"}]}`},
		{"successPolicy", spec.SuccessPolicy == `{"rules":[{"succeededCount":1}]}`},
	} {
		if !c.ok {
			t.Errorf("%s is lost: %+v", c.name, spec)
		}
	}
}

// TestFieldsOfALaterServerMakeAnotherTemplate: the hash of a template is of its JSON, as far as this program knows its fields. When the
// server has others in it, it is of those, too, because pods have them.
func TestFieldsOfALaterServerMakeAnotherTemplate(t *testing.T) {
	hash := func(job *kubewire.Job) string {
		h, err := TemplateHash(testKey)(job)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	job := testJob("a")
	content, err := json.Marshal(normalised(job))
	if err != nil {
		t.Fatal(err)
	}
	known := hash(wireJob(job))
	if want := testKey.Hash("template", job.Namespace, content); known != want {
		t.Errorf("the hash is %s, and logs have %s", known, want)
	}
	// later is the Job with a field in the spec of its template that nobody knows here.
	later := func(value string) *kubewire.Job {
		read := wireJob(job)
		template := job.Spec.Template
		metadata, err := template.ObjectMeta.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		spec, err := template.Spec.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if value != "" {
			spec = protowire.AppendString(protowire.AppendTag(spec, 999, protowire.BytesType), value)
		}
		sent := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), metadata)
		sent = protowire.AppendBytes(protowire.AppendTag(sent, 2, protowire.BytesType), spec)
		read.Spec = protowire.AppendBytes(protowire.AppendTag(nil, 6, protowire.BytesType), sent)
		return read
	}
	one, other, again := hash(later("one")), hash(later("other")), hash(later("one"))
	if none := hash(later("")); none != known {
		t.Errorf("the same template has the hash %s and %s", known, none)
	}
	if one == known || one == other || one != again {
		t.Errorf("without the field %s, with it %s, with another value %s, with the first again %s", known, one, other, again)
	}
}
