package observation

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
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

// TestSpecFields: each field that decisions read arrives under its own name.
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
	job.Spec.Scheduling = gang(new(int32(9)))
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
		{"scheduling", len(spec.Scheduling) == 32},
		{"the policy of scheduling", spec.SchedulingPolicy == events.PolicyGang},
		{"minCount", *spec.MinCount == 9},
		{"podFailurePolicy", spec.PodFailurePolicy == `{"rules":[{"action":"Ignore"}]}`},
		{"successPolicy", spec.SuccessPolicy == `{"rules":[{"succeededCount":1}]}`},
	} {
		if !c.ok {
			t.Errorf("%s is lost: %+v", c.name, spec)
		}
	}
}

func gang(minCount *int32) *batchv1.JobSchedulingConfiguration {
	return &batchv1.JobSchedulingConfiguration{SchedulingPolicy: &schedulingv1alpha3.WorkloadPodGroupSchedulingPolicy{
		Gang: &schedulingv1alpha3.WorkloadPodGroupGangSchedulingPolicy{MinCount: minCount},
	}}
}

// TestSchedulingIsInTheSpec: specs that differ in spec.scheduling are different. Its minCount has its own field, and
// the rest is a hash, which covers fields that this program does not know, too. A Job without it keeps its earlier
// hash.
func TestSchedulingIsInTheSpec(t *testing.T) {
	seen := func(scheduling *batchv1.JobSchedulingConfiguration, unknown string) *events.JobSpec {
		job := wireJob(testJob("a", func(j *batchv1.Job) { j.Spec.Scheduling = scheduling }))
		if unknown != "" {
			sent := protowire.AppendString(protowire.AppendTag(nil, 100, protowire.BytesType), unknown)
			job.Spec = protowire.AppendBytes(protowire.AppendTag(job.Spec, 17, protowire.BytesType), sent)
		}
		got, err := NewFeed(Config{Key: testKey}).specOf(job)
		if err != nil {
			t.Fatal(err)
		}
		return got.recorded
	}
	none, empty := seen(nil, ""), seen(&batchv1.JobSchedulingConfiguration{}, "")
	basic := seen(&batchv1.JobSchedulingConfiguration{SchedulingPolicy: &schedulingv1alpha3.WorkloadPodGroupSchedulingPolicy{
		Basic: &schedulingv1alpha3.WorkloadPodGroupBasicSchedulingPolicy{},
	}}, "")
	unset, two := seen(gang(nil), ""), seen(gang(new(int32(2))), "")
	all := gang(nil)
	all.DisruptionMode = &schedulingv1alpha3.WorkloadPodGroupDisruptionMode{All: &schedulingv1alpha3.WorkloadPodGroupAllDisruptionMode{}}
	specs := []*events.JobSpec{none, empty, basic, unset, two, seen(all, ""), seen(nil, "one"), seen(nil, "other")}
	for i, a := range specs {
		for _, b := range specs[:i] {
			if a.Hash == b.Hash || !slices.Equal(a.Differs(b), []string{"scheduling"}) {
				t.Errorf("%+v and %+v differ in %v", a, b, a.Differs(b))
			}
		}
	}
	if none.Scheduling != "" || empty.Scheduling == "" || empty.SchedulingPolicy != "" || basic.SchedulingPolicy != events.PolicyBasic {
		t.Errorf("none %+v, empty %+v, basic %+v", none, empty, basic)
	}
	if unset.MinCount != nil || *two.MinCount != 2 || unset.Scheduling != two.Scheduling {
		t.Errorf("a gang %+v, and with a minCount %+v: want the same but for that", unset, two)
	}
	if content, err := json.Marshal(none.Apart()); err != nil || bytes.Contains(content, []byte("cheduling")) {
		t.Errorf("the hash of a Job without it is of %s, %v", content, err)
	}
}

// TestTheHashOfATemplateIsOfWhatTheServerSent: the hash covers the template's spec as it was sent, with fields that
// this program does not know. So a later program that knows such a field computes the same hash.
func TestTheHashOfATemplateIsOfWhatTheServerSent(t *testing.T) {
	job := testJob("a")
	hash := func(value string) string {
		read := wireJob(job)
		read.Spec = protowire.AppendBytes(protowire.AppendTag(nil, 6, protowire.BytesType), later(t, &job.Spec.Template, value))
		h, err := TemplateHash(testKey)(read)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	// asSent returns the hash of a program that knows the field with that value.
	asSent := func(value string) string {
		labels, err := json.Marshal(map[string]any{"labels": normalised(job).Labels})
		if err != nil {
			t.Fatal(err)
		}
		return testKey.Hash("template", job.Namespace, append(append(labels, 0), laterSpec(t, &job.Spec.Template, value)...))
	}
	for _, value := range []string{"", "one", "other"} {
		if got, want := hash(value), asSent(value); got != want {
			t.Errorf("with %q the hash is %s, and of what was sent %s", value, got, want)
		}
	}
	if hash("") == hash("one") || hash("one") == hash("other") {
		t.Errorf("without the field %s, with it %s, with another value %s", hash(""), hash("one"), hash("other"))
	}
	whole, err := TemplateHash(testKey)(wireJob(job))
	if err != nil || whole != hash("") {
		t.Errorf("the same template has the hash %s and %s, %v", whole, hash(""), err)
	}
}

// TestTheHashOfAJobTemplateIsOfWhatTheServerSent: the same for a CronJob, over the whole spec of its Jobs.
func TestTheHashOfAJobTemplateIsOfWhatTheServerSent(t *testing.T) {
	hash := func(change func(*batchv1.JobTemplateSpec), value string) string {
		c := testCronJob("nightly", "@daily")
		if change != nil {
			change(&c.Spec.JobTemplate)
		}
		read := wireCronJob(c)
		template, err := read.JobTemplate()
		if err != nil {
			t.Fatal(err)
		}
		if value != "" {
			spec := protowire.AppendString(protowire.AppendTag(template.Spec, 999, protowire.BytesType), value)
			metadata, err := c.Spec.JobTemplate.ObjectMeta.Marshal()
			if err != nil {
				t.Fatal(err)
			}
			sent := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), metadata)
			sent = protowire.AppendBytes(protowire.AppendTag(sent, 2, protowire.BytesType), spec)
			read.Sent.Spec = protowire.AppendBytes(protowire.AppendTag(nil, 5, protowire.BytesType), sent)
		}
		h, err := CronTemplateHash(testKey)(read)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	none := hash(nil, "")
	for name, other := range map[string]string{
		"a field that nobody knows": hash(nil, "one"), "another value of it": hash(nil, "other"),
		"another label":   hash(func(t *batchv1.JobTemplateSpec) { t.Labels = map[string]string{"app": "x"} }, ""),
		"another backoff": hash(func(t *batchv1.JobTemplateSpec) { t.Spec.BackoffLimit = new(int32(77)) }, ""),
	} {
		if other == none {
			t.Errorf("%s: the same hash", name)
		}
	}
	if hash(nil, "one") == hash(nil, "other") {
		t.Error("two values of a field that nobody knows have the same hash")
	}
	if other := hash(func(t *batchv1.JobTemplateSpec) { t.Finalizers = []string{"x/y"} }, ""); other != none {
		t.Error("metadata that no Job takes over is hashed")
	}
}

// later returns a template with an unknown field in its spec; without the field if the value is empty.
func later(t *testing.T, template *corev1.PodTemplateSpec, value string) []byte {
	t.Helper()
	metadata, err := template.ObjectMeta.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	sent := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), metadata)
	return protowire.AppendBytes(protowire.AppendTag(sent, 2, protowire.BytesType), laterSpec(t, template, value))
}

func laterSpec(t *testing.T, template *corev1.PodTemplateSpec, value string) []byte {
	t.Helper()
	spec, err := template.Spec.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if value == "" {
		return spec
	}
	return protowire.AppendString(protowire.AppendTag(spec, 999, protowire.BytesType), value)
}
