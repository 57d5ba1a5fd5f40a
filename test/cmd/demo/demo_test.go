package main

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/jobledger/jobledger/test/binaries"
)

// TestDemo runs the demo as 'make demo' does. Then it runs the commands of README.md and of the life of a Job on the
// log of the demo.
func TestDemo(t *testing.T) {
	root, err := binaries.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "jobledger")
	build := exec.Command("make", "-C", root, "build", "OUT="+filepath.Dir(binary))
	// The pages show the lines of a program without a version, which are cut elsewhere than those of one that git names.
	build.Env = append(os.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -buildvcs=false"))
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("make build: %v\n%s", err, text)
	}
	checkStatic(t, binary)
	t.Setenv("TMPDIR", t.TempDir())
	var out bytes.Buffer
	d := &demo{root: root, binary: binary, out: &out}
	if err := d.run(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}

	text := out.String()
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\n"); utf8.RuneCountInString(line) > width && !strings.Contains(line, d.dir) {
			t.Errorf("this line is wider than %d columns:\n%s", width, line)
		}
		if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			t.Errorf("this line has a control character: %q", line)
		}
	}
	for _, want := range []string{
		"Failed (BackoffLimitExceeded): 4 succeeded, 2 failed, completed indexes 0,1,3,4",
		"$ bin/jobledger get job/backoff --log $DEMO/log",
		", 0 divergences\n",
		"\nAll records are on NATS too: ",
		"\nverify: ",
		"\n│ SEQ ",
		"\nWhat this was: 3 Jobs ended as they should, 1 Complete and 2 Failed.",
		"\nWHY        2 failures > backoffLimit 1 (the last: backoff-",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the demo did not say %q:\n%s", want, text)
		}
	}
	gotBySubscriber(t, text)
	if left, err := os.ReadDir(d.dir); err != nil || len(left) != 1 || left[0].Name() != "log" {
		t.Errorf("of what the demo wrote, only the log should stay: %v, %v", left, err)
	}
	for _, page := range []string{"README.md", "docs/life-of-a-job.md"} {
		t.Run(page, func(t *testing.T) { checkPage(t, d, page, text) })
	}
}

// checkStatic checks that the program needs nothing from its machine: no library, no dynamic linker.
func checkStatic(t *testing.T, binary string) {
	t.Helper()
	program, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	if libraries, err := program.ImportedLibraries(); err != nil || len(libraries) > 0 {
		t.Errorf("the program that make build makes wants libraries: %v, %v", libraries, err)
	}
	for _, p := range program.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the program that make build makes wants a dynamic linker")
		}
	}
}

// gotBySubscriber checks that the subscriber got the decisions about its Job. Each record must stand directly after the
// same record of the log, in the same columns, with pods by name.
func gotBySubscriber(t *testing.T, said string) {
	t.Helper()
	story := []string{"create pod #1 ", "create pod #2 ", "write status Failed", "remove finalizer of pod " + failed + "-", "FAILED after "}
	next, detail := 0, 0
	above := "" // the last line of the log
	for line := range strings.Lines(said) {
		got, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), beside)
		if !ok {
			above = line
			continue
		}
		if next < len(story) && strings.Contains(got, story[next]) {
			next++
		}
		if at := strings.Index(got, "DETAIL"); at >= 0 {
			detail = at
		}
		sequence, kind, object := fields(got)
		if sequence == 0 {
			continue
		}
		if at := place(above); at != sequence {
			t.Errorf("the subscriber shows record %d behind %d:\n%s", sequence, at, line)
		}
		if start := strings.Index(got, " "+object+" "); len(got) <= detail || got[detail-1] != ' ' || got[detail] == ' ' || start >= detail {
			t.Errorf("%s %s does not stand under its columns:\n%s", kind, object, line)
		}
	}
	if next < len(story) {
		t.Errorf("the subscriber does not show %q:\n%s", story[next], said)
	}
}

func TestEnds(t *testing.T) {
	expected := end{job: "demo", condition: batchv1.JobFailed, reason: "BackoffLimitExceeded", succeeded: 4, failed: 2, indexes: "0,1,3,4"}
	job := func(change func(*batchv1.Job)) *batchv1.Job {
		j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "demo"}}
		j.Status = batchv1.JobStatus{Succeeded: 4, Failed: 2, CompletedIndexes: "0,1,3,4", Conditions: []batchv1.JobCondition{
			{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: "BackoffLimitExceeded"},
		}}
		change(j)
		return j
	}
	pod := func(finalizers ...string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: "demo-0", Finalizers: finalizers, Labels: map[string]string{batchv1.JobNameLabel: "demo"},
		}}
	}
	for _, c := range []struct {
		name        string
		job         *batchv1.Job
		pod         *corev1.Pod
		open, wrong string
	}{
		{"a Job that ended as expected is done", job(func(*batchv1.Job) {}), pod(), "", ""},
		{"a Job without a terminal condition is waited for",
			job(func(j *batchv1.Job) { j.Status.Conditions[0].Type = batchv1.JobFailureTarget }), pod(), "has not ended", ""},
		{"a Job is waited for until its pods are let go", job(func(*batchv1.Job) {}), pod(finalizer), "still has the finalizer", ""},
		{"a Job that completed instead is wrong",
			job(func(j *batchv1.Job) { j.Status.Conditions[0].Type = batchv1.JobComplete }), pod(), "", "should have ended as"},
		{"a Job that failed for another reason is wrong",
			job(func(j *batchv1.Job) { j.Status.Conditions[0].Reason = "DeadlineExceeded" }), pod(), "", "should have ended as"},
		{"a Job with a pod counted twice is wrong", job(func(j *batchv1.Job) { j.Status.Failed = 3 }), pod(), "", "should have ended as"},
		{"a Job with other completed indexes is wrong",
			job(func(j *batchv1.Job) { j.Status.CompletedIndexes = "0-4" }), pod(), "", "should have ended as"},
		{"a Job that ended with a pod uncounted is wrong", job(func(j *batchv1.Job) {
			j.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Failed: []types.UID{"x"}}
		}), pod(), "", "not counted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &demo{client: fake.NewClientset(c.job, c.pod)}
			_, open, wrong := d.ended(t.Context(), expected)
			for _, e := range []struct {
				what string
				got  error
				want string
			}{{"open", open, c.open}, {"wrong", wrong, c.wrong}} {
				if (e.got != nil) != (e.want != "") || e.got != nil && !strings.Contains(e.got.Error(), e.want) {
					t.Errorf("%s: %v, want %q", e.what, e.got, e.want)
				}
			}
		})
	}
}
