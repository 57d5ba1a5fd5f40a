package executor

import (
	"bytes"
	"errors"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// version returns the Job at that version.
func version(v string, change ...func(*batchv1.Job)) *kubewire.Job {
	return wire(testJob("demo", append(change, func(job *batchv1.Job) { job.ResourceVersion = v })...))
}

func TestObjectsKeepTheNewestVersion(t *testing.T) {
	o := NewObjects(hashOf)
	if _, v, ok := o.at(identity, "uid-demo", 0); ok || v != 0 {
		t.Errorf("a Job that is not kept is there at version %d", v)
	}
	o.KeepJob(version("9"))
	o.KeepJob(version("10"))
	o.KeepJob(version("9"))
	if _, v, ok := o.at(identity, "uid-demo", 10); !ok {
		t.Errorf("kept at version %d, want 10: the greater number, not the later call or text", v)
	}
	if _, _, ok := o.at(identity, "uid-demo", 9); ok {
		t.Error("an older version is still there")
	}
	next := identity
	next.Epoch++
	o.Reset(next)
	o.KeepJob(version("3"))
	if _, v, ok := o.at(next, "uid-demo", 3); !ok {
		t.Errorf("after a reset kept at %d, want 3", v)
	}
	if _, _, ok := o.at(identity, "uid-demo", 3); ok {
		t.Error("a status that was computed before the reset finds its version, which is another one by now")
	}
}

func TestObjectsDoNotBringAJobBack(t *testing.T) {
	o := NewObjects(hashOf)
	o.KeepJob(version("9"))
	o.DropJob("uid-demo")
	o.refresh(version("10")) // a status write that was in flight
	if _, _, ok := o.at(identity, "uid-demo", 10); ok {
		t.Error("a Job that was dropped is kept again, for ever")
	}
}

func TestObjectsKeepLittle(t *testing.T) {
	o := NewObjects(hashOf)
	job := version("9", func(job *batchv1.Job) {
		job.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
		job.Status.CompletedIndexes = "0-9"
		job.Status.Conditions = []batchv1.JobCondition{{Type: "Other"}}
		job.Annotations = map[string]string{"note": "kept"}
	})
	o.KeepJob(job)
	got, _, _ := o.at(identity, "uid-demo", 9)
	if got.ManagedFields != nil || got.Status.CompletedIndexes != "" {
		t.Errorf("kept managed fields %v and indexes %q", got.ManagedFields, got.Status.CompletedIndexes)
	}
	metadata := &metav1.ObjectMeta{}
	if err := metadata.Unmarshal(got.Metadata); err != nil {
		t.Fatal(err)
	}
	if metadata.Annotations["note"] == "" || len(got.Status.Conditions) != 1 {
		t.Error("metadata or conditions were lost: a status write would remove them")
	}
	if metadata.ManagedFields != nil || job.ManagedFields == nil {
		t.Error("managed fields are kept, or the caller's object was changed")
	}
}

func TestTemplateIsHashedOncePerGeneration(t *testing.T) {
	hashed := 0
	o := NewObjects(func(job *kubewire.Job) (string, error) {
		hashed++
		return hashOf(job)
	})
	o.KeepJob(version("9"))
	first, _ := hashOf(version("9"))
	for _, v := range []string{"10", "11", "12"} {
		o.KeepJob(version(v))
		if job, ok := o.withTemplate("uid-demo", first); !ok || job.ResourceVersion != v {
			t.Errorf("at version %s the template is another's: %t", v, ok)
		}
	}
	if hashed != 1 {
		t.Errorf("hashed %d times, want once: the generation did not change", hashed)
	}
	changed := version("13", func(job *batchv1.Job) {
		job.Generation = 2
		job.Spec.Template.Spec.Containers[0].Image = "demo:2"
	})
	o.KeepJob(changed)
	if _, ok := o.withTemplate("uid-demo", first); ok {
		t.Error("a changed template still passes for the old one")
	}
	second, _ := hashOf(changed)
	if job, ok := o.withTemplate("uid-demo", second); !ok || !bytes.Equal(job.Spec, changed.Spec) {
		t.Error("the changed template is not there")
	}
}

func TestTemplateThatCannotBeHashedIsNotTheOneDecidedOn(t *testing.T) {
	o := NewObjects(func(*kubewire.Job) (string, error) { return "", errors.New("no") })
	o.KeepJob(version("9"))
	if _, ok := o.withTemplate("uid-demo", ""); ok {
		t.Error("it passes")
	}
}
