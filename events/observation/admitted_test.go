package observation

import (
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"

	"github.com/jobledger/jobledger/events"
)

// like returns a new pod of the Job as the API server makes it from the template: with the fields that its own
// admission fills in, and then changed.
func like(job *batchv1.Job, name string, change ...func(*corev1.PodSpec)) *corev1.Pod {
	pod := testPod(name, of(job), finalizer(events.TrackingFinalizer))
	pod.Spec = *job.Spec.Template.Spec.DeepCopy()
	s := &pod.Spec
	s.EnableServiceLinks, s.ServiceAccountName, s.DeprecatedServiceAccount = new(true), "default", "default"
	s.Priority, s.PreemptionPolicy = new(int32(0)), new(corev1.PreemptLowerPriority)
	s.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry"}}
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		s.Tolerations = append(s.Tolerations, corev1.Toleration{
			Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(300)),
		})
	}
	s.Volumes = append(s.Volumes, corev1.Volume{Name: tokenVolume + "x7v2q"})
	for i := range s.Containers {
		c := &s.Containers[i]
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: tokenVolume + "x7v2q", MountPath: tokenMount})
		c.Env = append(c.Env, corev1.EnvVar{Name: indexVariable})
		if len(c.Resources.Limits) > 0 && c.Resources.Requests == nil {
			c.Resources.Requests = c.Resources.Limits.DeepCopy()
		}
	}
	s.Hostname = job.Name + "-0"
	for _, c := range change {
		c(s)
	}
	return pod
}

func withLimits(job *batchv1.Job) {
	job.Spec.Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: apiresource.MustParse("1Gi")}
	job.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "TOKEN", Value: "hunter2"}}
}

// TestWhatAdmissionChangedIsNamed: the fields that admission changed are named, without values. Fields that every API
// server fills in are left out.
func TestWhatAdmissionChangedIsNamed(t *testing.T) {
	job := testJob("a", withLimits)
	for name, c := range map[string]struct {
		change func(*corev1.PodSpec)
		want   []string
	}{
		"nothing": {func(*corev1.PodSpec) {}, nil},
		"a sidecar": {func(s *corev1.PodSpec) {
			s.Containers = append([]corev1.Container{{Name: "proxy", Image: "mesh:1"}}, s.Containers...)
			s.Volumes = append(s.Volumes, corev1.Volume{Name: "certs"})
		}, []string{"+containers[proxy]", "+volumes[certs]"}},
		"an image and a variable": {func(s *corev1.PodSpec) {
			s.Containers[0].Image, s.Containers[0].Env[0].Value = "mirror/demo:1", "hunter3"
			s.Containers[0].Env = append(s.Containers[0].Env, corev1.EnvVar{Name: "PROXY", Value: "hunter4"})
		}, []string{"+containers[main].env[PROXY]", "containers[main].env[TOKEN].value", "containers[main].image demo:1 → mirror/demo:1"}},
		"where it may run": {func(s *corev1.PodSpec) {
			s.NodeSelector = map[string]string{"pool": "hunter5"}
			s.Tolerations = append(s.Tolerations, corev1.Toleration{Key: "spot"})
			s.PriorityClassName, s.Priority = "low", new(int32(-5))
		}, []string{"+nodeSelector", "+priorityClassName", "+tolerations"}},
		"resources": {func(s *corev1.PodSpec) {
			s.Containers[0].Resources.Requests[corev1.ResourceCPU] = apiresource.MustParse("2")
		}, []string{"containers[main].resources.requests"}},
		"a variable less": {func(s *corev1.PodSpec) { s.Containers[0].Env = nil }, []string{"-containers[main].env[TOKEN]"}},
	} {
		t.Run(name, func(t *testing.T) {
			pod := like(job, "p", c.change)
			got := admitted(&job.Spec.Template.Spec, &pod.Spec)
			if !slices.Equal(got, c.want) {
				t.Errorf("admission changed %q, want %q", got, c.want)
			}
			if strings.Contains(strings.Join(got, " "), "hunter") {
				t.Errorf("a value is told: %q", got)
			}
		})
	}
}

// TestNamesOfWhatAdmissionChangedAreBounded in number and in length.
func TestNamesOfWhatAdmissionChangedAreBounded(t *testing.T) {
	job := testJob("a")
	pod := like(job, "p", func(s *corev1.PodSpec) {
		for i := range 100 {
			s.Containers = append(s.Containers, corev1.Container{Name: strings.Repeat("x", 200) + string(rune('a'+i%26)) + strings.Repeat("y", i)})
		}
	})
	got := admitted(&job.Spec.Template.Spec, &pod.Spec)
	if len(got) > mostAdmitted {
		t.Errorf("%d names are told, more than %d", len(got), mostAdmitted)
	}
	for _, name := range got {
		if len(name) > maxAdmitted {
			t.Errorf("a name has %d bytes, more than %d", len(name), maxAdmitted)
		}
	}
}

// TestWhatAdmissionChangedIsToldOnChange: once for a Job, and again only when a later pod differs in other fields.
func TestWhatAdmissionChangedIsToldOnChange(t *testing.T) {
	f := NewFeed(Config{Mode: events.ModeDelegated, Identity: testIdentity})
	job := testJob("a")
	job.ResourceVersion = "1"
	if err := f.JobChanged(job); err != nil {
		t.Fatal(err)
	}
	version := uint64(1)
	tell := func(pod *corev1.Pod) (told []string) {
		t.Helper()
		version++
		pod.ResourceVersion = at(version)
		if err := f.PodChanged(pod); err != nil {
			t.Fatal(err)
		}
		for o, ok := f.Take(); ok; o, ok = f.Take() {
			if _, is := o.Facts.(*events.PodSeen); is {
				told = o.Evidence.Admitted
			}
		}
		return told
	}
	mesh := func(s *corev1.PodSpec) {
		s.Containers = append(s.Containers, corev1.Container{Name: "proxy", Image: "mesh:1"})
	}
	first := like(job, "c", mesh)
	for _, step := range []struct {
		name string
		pod  *corev1.Pod
		want []string
	}{
		{"a pod like the template", like(job, "a"), nil},
		{"another", like(job, "b"), nil},
		{"one with a sidecar", first, []string{"+containers[proxy]"}},
		{"the same pod again", first, nil},
		{"another with a sidecar", like(job, "d", mesh), nil},
		{"one like the template", like(job, "e"), []string{""}},
		{"another", like(job, "f"), nil},
	} {
		if got := tell(step.pod); !slices.Equal(got, step.want) {
			t.Errorf("%s: told %q, want %q", step.name, got, step.want)
		}
	}
	late := like(job, "g", mesh)
	late.ResourceVersion = at(version + 1)
	if err := f.PodChanged(late.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	late.Spec.NodeName = "node-1"
	if got := tell(func() *corev1.Pod { version++; return late }()); !slices.Equal(got, []string{"+containers[proxy]"}) {
		t.Errorf("a first sighting that gave way to the next: told %q", got)
	}
}
