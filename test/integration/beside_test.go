package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/test/binaries"
	"github.com/jobledger/jobledger/test/controlplane"
)

// besidePage returns docs/beside.md.
func besidePage(t *testing.T) string {
	t.Helper()
	root, err := binaries.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", "beside.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// manifest has the parts of the manifests of docs/beside.md that contain a Job.
type manifest struct {
	Kind string `json:"kind"`
	Spec struct {
		JobTemplate    batchv1.JobTemplateSpec `json:"jobTemplate"` // of a CronJob
		ReplicatedJobs []struct {
			Template batchv1.JobTemplateSpec `json:"template"`
		} `json:"replicatedJobs"` // of a JobSet
		Templates []struct {
			Resource struct {
				Manifest string `json:"manifest"`
			} `json:"resource"`
		} `json:"templates"` // of a Workflow of Argo
	} `json:"spec"`
}

var yamlBlock = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```")

// jobsOfTools returns the Jobs that the tools of docs/beside.md would create, by the kind of manifest.
func jobsOfTools(t *testing.T) map[string]*batchv1.Job {
	t.Helper()
	all := map[string]*batchv1.Job{}
	for _, m := range yamlBlock.FindAllStringSubmatch(besidePage(t), -1) {
		text := []byte(m[1])
		var of manifest
		if err := yaml.Unmarshal(text, &of); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		kind, job := of.Kind, &batchv1.Job{}
		switch kind {
		case "CronJob":
			job.Spec = of.Spec.JobTemplate.Spec
		case "JobSet":
			job.Spec = of.Spec.ReplicatedJobs[0].Template.Spec
		case "Workflow":
			text = []byte(of.Spec.Templates[0].Resource.Manifest)
			fallthrough
		case "Job":
			if err := yaml.UnmarshalStrict(text, job); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			kind += "/" + job.Name
		default:
			t.Fatalf("docs/beside.md has a %s", kind)
		}
		job.Name, job.GenerateName = "", "beside-"
		all[kind] = job
	}
	return all
}

// TestJobsOfOtherTools: each manifest of docs/beside.md makes a Job that Jobledger runs, with the status by which the
// tool waits for it.
func TestJobsOfOtherTools(t *testing.T) {
	effort.Whole(t)
	t.Parallel()
	w := newWorld(t)
	w.run("")
	jobs := jobsOfTools(t)
	for kind, job := range jobs {
		if kind == "Job/train" {
			continue // it waits for its queue, see below
		}
		if job.Spec.ManagedBy == nil || *job.Spec.ManagedBy != events.ManagedBy {
			t.Errorf("the Job of %s is not Jobledger's", kind)
			continue
		}
		made, err := w.client.BatchV1().Jobs(w.namespace).Create(t.Context(), job, metav1.CreateOptions{FieldValidation: "Strict"})
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		w.eventually("the Job of "+kind+" is complete", func() (bool, error) {
			j := w.job(made.Name)
			if c := condition(j, batchv1.JobFailed); c != nil {
				return false, fmt.Errorf("it failed: %s", c.Message)
			}
			// Argo waits for status.succeeded > 0, Airflow for a condition.
			return j.Status.Succeeded > 0 && condition(j, batchv1.JobComplete) != nil, nil
		})
	}
	if len(jobs) < 5 {
		t.Errorf("docs/beside.md has Jobs of %d tools", len(jobs))
	}
}

// TestWhatAQueueDoes plays what Kueue does to a Job: it holds it, admits a part of it on other nodes, evicts it, and
// admits all of it.
func TestWhatAQueueDoes(t *testing.T) {
	effort.Whole(t)
	t.Parallel()
	w := newWorld(t)
	w.run("")
	job := jobsOfTools(t)["Job/train"]
	if job == nil || job.Spec.Suspend == nil || !*job.Spec.Suspend || job.Labels[queueLabel] == "" {
		t.Fatalf("docs/beside.md has no Job in a queue: %+v", job)
	}
	job.Name, job.GenerateName = "train", ""
	job.Spec.Template.Annotations = map[string]string{controlplane.AnnotationOutcome: controlplane.OutcomeRun} // it runs until it is evicted
	w.create(job)
	w.eventually("it is suspended", func() (bool, error) { return condition(w.job("train"), batchv1.JobSuspended) != nil, nil })
	if pods := w.pods("train"); len(pods) > 0 {
		t.Errorf("it has %d pods while it waits in the queue", len(pods))
	}

	w.patch("train", `{"suspend":false,"parallelism":2,"template":{"spec":{"nodeSelector":{"pool":"spot"}}}}`)
	w.eventually("two pods are made on the nodes of its flavor", func() (bool, error) {
		pods := w.pods("train")
		for _, p := range pods {
			if p.Spec.NodeSelector["pool"] != "spot" {
				return false, fmt.Errorf("pod %s selects the nodes %v", p.Name, p.Spec.NodeSelector)
			}
		}
		return len(pods) == 2 && w.job("train").Status.Active == 2, nil
	})

	w.patch("train", `{"suspend":true}`)
	w.eventually("no pod is active", func() (bool, error) {
		j := w.job("train")
		return condition(j, batchv1.JobSuspended) != nil && j.Status.Active == 0, nil
	})
	w.clearStartTime("train")
	w.patch("train", `{"parallelism":4,"template":{"metadata":{"annotations":{"`+controlplane.AnnotationOutcome+`":"succeed"}},"spec":{"nodeSelector":null}}}`)
	w.patch("train", `{"suspend":false}`)
	w.eventually("it is complete", func() (bool, error) { return condition(w.job("train"), batchv1.JobComplete) != nil, nil })
	switch j := w.job("train"); {
	case j.Status.Succeeded != 4 || j.Status.Failed != 0:
		t.Errorf("%d succeeded and %d failed, want 4 and 0", j.Status.Succeeded, j.Status.Failed)
	case j.Status.StartTime == nil:
		t.Error("it has no start time")
	}
}

// clearStartTime does what Kueue does to an evicted Job, so that its template may be changed again.
func (w *world) clearStartTime(name string) {
	w.t.Helper()
	jobs := w.client.BatchV1().Jobs(w.namespace)
	if _, err := jobs.Patch(w.t.Context(), name, types.MergePatchType, []byte(`{"status":{"startTime":null}}`), metav1.PatchOptions{}, "status"); err != nil {
		w.t.Fatal(err)
	}
}
