package observation

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// fill gives every string in v its path as value, every slice one element and every map one entry. A string that gets
// through redaction then shows where it came from.
func fill(v reflect.Value, path string, depth int) {
	if depth > 12 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("secret:" + path)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), path, depth+1)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte("secret:" + path))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), path, depth+1)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		key.SetString("key")
		fill(value, path, depth+1)
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if field.IsExported() {
				fill(v.Field(i), path+"."+field.Name, depth+1)
			}
		}
	}
}

var update = flag.Bool("update", false, "rewrite testdata")

// TestRedactionKeepsWhatWasJudged: testdata/kept.txt lists every field of a pod template with a text that is stored.
// All are names, references, places and choices. A field of a new API version fails here until a person has judged it,
// and has hidden it or run the test with -update.
func TestRedactionKeepsWhatWasJudged(t *testing.T) {
	job := testJob("a")
	fill(reflect.ValueOf(&job.Spec.Template).Elem(), "", 0)
	data, err := json.Marshal(redacted(normalised(job)))
	if err != nil {
		t.Fatal(err)
	}
	var left any
	if err := json.Unmarshal(data, &left); err != nil {
		t.Fatal(err)
	}
	var kept []string
	walk(left, func(s string) {
		if path, ok := strings.CutPrefix(s, "secret:"); ok {
			kept = append(kept, path)
		}
	})
	slices.Sort(kept)
	got := strings.Join(slices.Compact(kept), "\n") + "\n"
	const file = "testdata/kept.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("kept (-judged +now):\n%s", diff)
	}
	for _, never := range []string{"Env.Value\n", "Headers.Value", "HTTPGet.Path", "Annotations", "Command", "Args", "VolumeAttributes\n"} {
		if strings.Contains(got, never) {
			t.Errorf("%s is kept", strings.TrimSpace(never))
		}
	}
}

func walk(v any, see func(string)) {
	switch v := v.(type) {
	case string:
		see(v)
	case []any:
		for _, e := range v {
			walk(e, see)
		}
	case map[string]any:
		for _, e := range v {
			walk(e, see)
		}
	}
}

// TestSecretsReachNoObservation plants secrets where users put them, and searches all observations for them.
func TestSecretsReachNoObservation(t *testing.T) {
	const secret = "hunter2-"
	planted := 0
	plant := func() string { planted++; return fmt.Sprintf("%s%d", secret, planted) }
	job := testJob("a", func(job *batchv1.Job) {
		job.Annotations = map[string]string{"note": plant(), corev1.LastAppliedConfigAnnotation: plant()}
		job.Spec.Template.Annotations = map[string]string{"note": plant()}
		exec := &corev1.ExecAction{Command: []string{"sh", plant()}}
		http := &corev1.HTTPGetAction{
			Path: "/?token=" + plant(), HTTPHeaders: []corev1.HTTPHeader{{Name: "Authorization", Value: plant()}},
		}
		c := corev1.Container{
			Name: "main", Image: "demo:1",
			Command: []string{"run", plant()}, Args: []string{plant(), plant()},
			Env:            []corev1.EnvVar{{Name: "PASSWORD", Value: plant()}},
			LivenessProbe:  &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: exec}},
			ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: http}},
			StartupProbe:   &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: http}},
			Lifecycle: &corev1.Lifecycle{
				PostStart: &corev1.LifecycleHandler{Exec: exec}, PreStop: &corev1.LifecycleHandler{HTTPGet: http},
			},
		}
		job.Spec.Template.Spec.Containers = []corev1.Container{c}
		job.Spec.Template.Spec.InitContainers = []corev1.Container{c}
		job.Spec.Template.Spec.Volumes = []corev1.Volume{
			{Name: "csi", VolumeSource: corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{VolumeAttributes: map[string]string{"k": plant()}}}},
			{Name: "flex", VolumeSource: corev1.VolumeSource{FlexVolume: &corev1.FlexVolumeSource{Options: map[string]string{"k": plant()}}}},
		}
	})
	pod := testPod("a-1", of(job), func(p *corev1.Pod) {
		p.Annotations = job.Spec.Template.Annotations
		p.Spec = job.Spec.Template.Spec
	})
	script(t, func(t *testing.T, c *cluster, start starter) {
		c.set(job)
		c.set(pod)
		_, r := start()
		c.set(job)
		c.set(pod)
		c.remove(pod)
		c.remove(job)
		for _, o := range r.told {
			data, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			if text := string(data) + string(o.Template); strings.Contains(text, secret) {
				t.Errorf("%s holds a secret: %s", line(o), text)
			}
			if seen, ok := o.Facts.(*events.JobSeen); ok && seen != nil {
				for _, want := range []string{"demo:1", "PASSWORD", Redacted, `"note"`} {
					if !strings.Contains(string(o.Template), want) {
						t.Errorf("template without %q: %s", want, o.Template)
					}
				}
			}
		}
		if len(r.told) < 4 {
			t.Errorf("only %d observations looked at", len(r.told))
		}
	})
	if job.Spec.Template.Spec.Containers[0].Env[0].Value == Redacted {
		t.Error("the Job's own template was changed")
	}
}

func TestKeeperHasTheTemplateUnredacted(t *testing.T) {
	script(t, func(t *testing.T, c *cluster, start starter) {
		job := testJob("a", func(job *batchv1.Job) {
			job.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: "b"}}
		})
		c.set(job)
		var kept keeping
		start(func(config *Config) { kept.Keeper, config.Keeper = config.Keeper, &kept })
		if kept.job == nil {
			t.Fatal("nothing is kept")
		}
		spec, err := kept.job.WholeSpec()
		if err != nil || spec.Template.Spec.Containers[0].Env[0].Value != "b" {
			t.Errorf("kept %v, %v", spec, err)
		}
	})
}

type keeping struct {
	Keeper
	job *kubewire.Job
}

func (k *keeping) KeepJob(job *kubewire.Job) {
	k.job = job
	k.Keeper.KeepJob(job)
}

func TestLongTextsAreCut(t *testing.T) {
	for _, tt := range []struct {
		in, want string
		limit    int
	}{
		{"short", "short", 8},
		{"exactly8", "exactly8", 8},
		{"longer than 8", "longe…", 8},
		{"abcdéééé", "abcd…", 8}, // a character is kept whole or not at all
		{"bad\xffbyte", "bad\uFFFDbyte", 20},
	} {
		if got := bounded(tt.in, tt.limit); got != tt.want || len(got) > max(tt.limit, len(tt.in)) {
			t.Errorf("bounded(%q, %d) = %q, want %q", tt.in, tt.limit, got, tt.want)
		}
	}
	long := strings.Repeat("x", 100_000)
	pod := testPod("p", phase(corev1.PodFailed), containers(ended("a", 10), ended("b", 10)), func(p *corev1.Pod) {
		p.Status.Message = long
		p.Status.ContainerStatuses[0].State.Terminated.Message = long
	})
	e := readPod(wire(pod), 1, testIdentity).evidence
	if len(e.Message) != maxMessage || len(e.Containers[0].Message) != maxTermination {
		t.Errorf("message of %d bytes, termination message of %d", len(e.Message), len(e.Containers[0].Message))
	}
}
