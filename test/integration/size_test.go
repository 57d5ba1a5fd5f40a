package integration

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/store/boltlog"
)

// TestTheLogOfManyPods: its records take at most 2 kB per pod.
func TestTheLogOfManyPods(t *testing.T) {
	effort.Whole(t)
	t.Parallel()
	const most = 2000
	pods := int32(120)
	if long {
		pods = 1000
	}
	for _, row := range []struct {
		name string
		job  []option
		want result
	}{
		{
			name: "of an Indexed Job",
			job:  []option{indexed},
			want: result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: pods, completed: fmt.Sprintf("0-%d", pods-1)},
		},
		{
			name: "of a Job that is not Indexed",
			want: result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: pods},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c := w.run("")
			empty := boltOf(t, c.Log()).bytes
			w.create(newJob("large", append(row.job, completions(pods), parallelism(100))...))
			w.ends("large", row.want)
			w.stop(c)

			stored, n := storedBytes(t, c.Log()), int(pods)
			inUse := boltOf(t, c.Log()).bytes - empty
			t.Logf("for each pod: %d.%d records, %d bytes in stored form, %d bytes of pages that are not free ahead",
				stored.records/n, stored.records*10/n%10, stored.bytes/n, inUse/uint64(n))
			if stored.bytes > most*n {
				t.Errorf("the records take %d bytes for each of %d pods, more than %d", stored.bytes/n, n, most)
			}
		})
	}
}

// TestTheLogHoldsNoSecret: no environment value, argument or annotation value of a Job reaches a file of the log or the
// output of a reader.
func TestTheLogHoldsNoSecret(t *testing.T) {
	t.Parallel()
	secret := "secret-" + rand.Text()
	w := newWorld(t)
	c := w.run("")
	w.create(newJob("demo", carrying(secret)))
	w.ends("demo", result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 1})
	if pod := w.pods("demo")[0]; pod.Spec.Containers[0].Env[0].Value != secret {
		t.Errorf("the pod was made with the environment %v: it must have what the Job says", pod.Spec.Containers[0].Env)
	}
	w.stop(c)
	nowhereIn(t, c.Log(), secret)
	for _, args := range [][]string{{"events", "-o", "json"}, {"get", "job/demo", "-n", w.namespace, "-o", "json"}} {
		if text, err := c.CLI(t.Context(), args...); err != nil {
			t.Error(err)
		} else if strings.Contains(text, secret) {
			t.Errorf("jobledger %s shows the secret", strings.Join(args, " "))
		}
	}
	if text, err := c.Output(); err != nil || strings.Contains(text, secret) {
		t.Errorf("the controller wrote the secret to its output: %v", err)
	}
}

// carrying puts a secret in all the places of a Job where people put them.
func carrying(secret string) option {
	return func(j *batchv1.Job) {
		j.Annotations = map[string]string{"example.com/token": secret}
		j.Spec.Template.Annotations["example.com/token"] = secret
		env := []corev1.EnvVar{{Name: "TOKEN", Value: secret}}
		probe := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
			Path: "/", Port: intstr.FromInt32(80), HTTPHeaders: []corev1.HTTPHeader{{Name: "Authorization", Value: secret}},
		}}}
		spec := &j.Spec.Template.Spec
		spec.InitContainers = []corev1.Container{{Name: "init", Image: "any", Env: env, Args: []string{"--token=" + secret}}}
		main := &spec.Containers[0]
		main.Env, main.Command, main.Args = env, []string{"run", secret}, []string{"--token=" + secret}
		main.LivenessProbe = probe
	}
}

// stored is the size of a log.
type stored struct{ records, bytes int }

// storedBytes sums up the records in their stored form.
func storedBytes(t *testing.T, dir string) stored {
	t.Helper()
	log, err := boltlog.OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	var all stored
	for r, err := range log.Read(context.Background(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		form, err := events.AppendRecord(nil, &r)
		if err != nil {
			t.Fatal(err)
		}
		all.records, all.bytes = all.records+1, all.bytes+len(form)
	}
	return all
}

// nowhereIn checks that no file in dir contains the text.
func nowhereIn(t *testing.T, dir, text string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 3 {
		t.Fatalf("%s has only the files %v: no log to look into", dir, files)
	}
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), text) {
			t.Errorf("%s holds the secret", file.Name())
		}
	}
}
