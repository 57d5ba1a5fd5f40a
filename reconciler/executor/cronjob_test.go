package executor

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/wholeapi"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// cronServer answers the requests for CronJobs, and notes them.
type cronServer struct {
	asked   []string
	sent    any // the object of the last write
	cronJob *batchv1.CronJob
	run     *batchv1.Job
	err     error
}

func (s *cronServer) CreateJob(_ context.Context, job *batchv1.Job) (*batchv1.Job, error) {
	s.asked, s.sent = append(s.asked, "create "+job.Namespace+"/"+job.Name), job.DeepCopy()
	made := job.DeepCopy()
	made.UID, made.ResourceVersion, made.CreationTimestamp = "uid-made", "20", metav1.NewTime(epoch.Add(time.Second))
	return made, s.err
}

func (s *cronServer) DeleteRun(_ context.Context, namespace, name string, uid types.UID) error {
	s.asked = append(s.asked, fmt.Sprintf("delete %s/%s of %s", namespace, name, uid))
	return s.err
}

func (s *cronServer) UpdateCronJobStatus(_ context.Context, cronJob *batchv1.CronJob) (*batchv1.CronJob, error) {
	s.asked, s.sent = append(s.asked, "update "+cronJob.Name+" at "+cronJob.ResourceVersion), cronJob.DeepCopy()
	after := cronJob.DeepCopy()
	after.ResourceVersion = "30"
	return after, s.err
}

func (s *cronServer) GetCronJob(_ context.Context, namespace, name string) (*batchv1.CronJob, error) {
	s.asked = append(s.asked, "get cronjob "+namespace+"/"+name)
	return s.cronJob, s.err
}

func (s *cronServer) GetRun(_ context.Context, namespace, name string) (*batchv1.Job, error) {
	s.asked = append(s.asked, "get job "+namespace+"/"+name)
	return s.run, s.err
}

func testCronJob() *batchv1.CronJob {
	c := &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "batch", Name: "nightly", UID: "uid-nightly", ResourceVersion: "10", Generation: 1, Labels: map[string]string{"of": "the CronJob"},
			Annotations: map[string]string{"kept": "yes"}, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}},
		},
		Spec: batchv1.CronJobSpec{Schedule: "15 * * * *", JobTemplate: batchv1.JobTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{
				Name: "ignored", Finalizers: []string{"x/y"}, Labels: map[string]string{"app": "demo"},
				Annotations: map[string]string{"note": "a", batchv1.CronJobScheduledTimestampAnnotation: "of the template"},
			},
			Spec: testJob("template").Spec,
		}},
		Status: batchv1.CronJobStatus{Active: []corev1.ObjectReference{
			{Kind: "Job", APIVersion: "batch/v1", Namespace: "batch", Name: "old", UID: "uid-old", ResourceVersion: "3", FieldPath: "as it was"},
			{UID: "uid-over"},
		}},
	}
	c.Spec.JobTemplate.Spec.TTLSecondsAfterFinished, c.Spec.JobTemplate.Spec.ManagedBy = new(int32(5)), new("example.com/other")
	return c
}

// wireCron returns a CronJob as it is read from a server's bytes.
func wireCron(t *testing.T, c *batchv1.CronJob) *kubewire.CronJob {
	t.Helper()
	read, err := kubewire.CronJobs.Of(c)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

const cronTemplate = "the template's hash"

// cronWorld carries out one command for testCronJob.
func cronWorld(t *testing.T, s *cronServer, c events.Command, change ...func(*Config)) events.TaskResult {
	t.Helper()
	objects := NewObjects(hashOf).WithCronJobs(func(*kubewire.CronJob) (string, error) { return cronTemplate, nil })
	objects.KeepCronJob(wireCron(t, testCronJob()))
	config := Config{
		API: wholeapi.Of(newWorld(t).client), Crons: wholeapi.CronsOf(s), Objects: objects, Mode: events.ModeAll,
		ObserveCronJob: func(c *kubewire.CronJob) events.Observation {
			return events.Observation{Facts: &events.CronJobSeen{Version: versionOf(c)}}
		},
		ObserveRun: func(job *kubewire.Job) events.Observation {
			return events.Observation{Facts: &events.RunSeen{Job: job.UID, Version: versionOf(job)}}
		},
	}
	for _, ch := range change {
		ch(&config)
	}
	e, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	e.Submit(events.Task{
		Name: events.CommandID{Decided: 7}, Life: identity, Stream: events.CronJobStream("uid-nightly"),
		Job: events.JobRef{Namespace: "batch", Name: "nightly", UID: "uid-nightly"}, Base: 10, Command: c,
	})
	call, ok := e.Next(1)
	if !ok {
		t.Fatal("nothing is to be done")
	}
	return call.Do(t.Context())
}

func seen(r events.TaskResult) (texts []string) {
	for _, o := range r.Observations {
		texts = append(texts, fmt.Sprintf("%+v", o.Facts))
	}
	return texts
}

// C-150, C-151, C-153 to C-157: one request creates a Job made of the template, in the CronJob's namespace, under the
// decided name. The request has no creation time: the skew is counted by the server's time.
func TestTheJobOfACronJob(t *testing.T) {
	s := &cronServer{}
	r := cronWorld(t, s, &events.CreateJob{Name: "nightly-29540715", Due: events.At(epoch), Template: cronTemplate, Stamp: "2026-01-02T03:04:05Z"})
	if r.Ended.Ending != events.Done || r.Ended.UID != "uid-made" || r.Ended.Version != 20 || r.Ended.Written != events.At(epoch.Add(time.Second)) || r.Evidence.Name != "nightly-29540715" {
		t.Errorf("it ended %+v, %+v", r.Ended, r.Evidence)
	}
	if got := seen(r); len(got) != 1 || !strings.Contains(got[0], "Job:uid-made") {
		t.Errorf("observed %q", got)
	}
	template := testCronJob().Spec.JobTemplate
	want := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "batch", Name: "nightly-29540715", Labels: template.Labels,
			Annotations: map[string]string{"note": "a", batchv1.CronJobScheduledTimestampAnnotation: "2026-01-02T03:04:05Z"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "batch/v1", Kind: "CronJob", Name: "nightly", UID: "uid-nightly", Controller: new(true), BlockOwnerDeletion: new(true),
			}},
		},
		Spec: template.Spec,
	}
	if !reflect.DeepEqual(s.sent, want) {
		t.Errorf("sent\n%+v\nwant\n%+v", s.sent, want)
	}
}

// TestTheJobOfATrigger: the Job of a run that a user asked for has no due time. It has the annotation that kubectl
// writes on a Job that was made by hand.
func TestTheJobOfATrigger(t *testing.T) {
	s := &cronServer{}
	cronWorld(t, s, &events.CreateJob{Name: "nightly-x", Template: cronTemplate, Trigger: "now"})
	if got := s.sent.(*batchv1.Job).Annotations; got["cronjob.kubernetes.io/instantiate"] != "manual" {
		t.Errorf("its annotations are %q", got)
	}
}

// TestWhatIsAskedForACronJob: each command sends one request or none. The row has the request and its result.
func TestWhatIsAskedForACronJob(t *testing.T) {
	gone := apierrors.NewNotFound(schema.GroupResource{Group: "batch", Resource: "jobs"}, "nightly-1")
	taken := apierrors.NewAlreadyExists(schema.GroupResource{Group: "batch", Resource: "jobs"}, "nightly-1")
	run := testJob("nightly-1")
	run.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(testCronJob(), batchv1.SchemeGroupVersion.WithKind("CronJob"))}
	read, another, behind := testCronJob(), testCronJob(), testCronJob()
	read.ResourceVersion, another.UID, another.ResourceVersion, behind.ResourceVersion = "12", "uid-another", "3", "9"
	for _, row := range []struct {
		sentence string
		command  events.Command
		server   cronServer
		asked    string
		ending   events.Ending
		class    events.RefusalClass
		observed string
	}{
		{"another Job has the name", &events.CreateJob{Name: "nightly-1", Due: 1, Template: cronTemplate}, cronServer{err: taken}, "create batch/nightly-1", events.Refused, events.RefusedNameTaken, ""},
		{"no answer", &events.CreateJob{Name: "nightly-1", Due: 1, Template: cronTemplate}, cronServer{err: errors.New("lost")}, "create batch/nightly-1", events.OutcomeUnknown, 0, ""},
		{"the jobTemplate changed since", &events.CreateJob{Name: "nightly-1", Due: 1, Template: "of before"}, cronServer{}, "", events.Refused, events.RefusedTemplate, ""},
		{"a Job is deleted", &events.DeleteRun{Job: "uid-nightly-1", Name: "nightly-1"}, cronServer{}, "delete batch/nightly-1 of uid-nightly-1", events.Done, 0, ""},
		{"the Job is gone", &events.DeleteRun{Job: "uid-nightly-1", Name: "nightly-1"}, cronServer{err: gone}, "delete batch/nightly-1 of uid-nightly-1", events.Refused, events.RefusedNotFound, ""},
		{"the status was computed from an older version", &events.WriteCronStatus{Base: 9}, cronServer{}, "", events.Refused, events.RefusedConflict, ""},
		{"the CronJob is read live", &events.ReadCronJob{}, cronServer{cronJob: read}, "get cronjob batch/nightly", events.Done, 0, "Version:12"},
		{"another CronJob has the name", &events.ReadCronJob{}, cronServer{cronJob: another}, "get cronjob batch/nightly", events.Done, 0, ""},
		{"the cluster went back", &events.ReadCronJob{}, cronServer{cronJob: behind}, "get cronjob batch/nightly", events.Refused, events.RefusedConflict, ""},
		{"C-161: a Job is read in the namespace of the CronJob", &events.ReadRun{Name: "nightly-1"}, cronServer{run: run}, "get job batch/nightly-1", events.Done, 0, "Job:uid-nightly-1"},
		{"there is no such Job", &events.ReadRun{Name: "nightly-1"}, cronServer{err: gone}, "get job batch/nightly-1", events.Refused, events.RefusedNotFound, ""},
		{"the Job of that name is somebody else's", &events.ReadRun{Name: "nightly-1"}, cronServer{run: testJob("nightly-1")}, "get job batch/nightly-1", events.Done, 0, ""},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			r := cronWorld(t, &row.server, row.command)
			if got := strings.Join(row.server.asked, "\n"); got != row.asked {
				t.Errorf("asked %q, want %q", got, row.asked)
			}
			if r.Ended.Ending != row.ending || r.Ended.Class != row.class {
				t.Errorf("it ended %s %s (%s), want %s %s", r.Ended.Ending, r.Ended.Class, r.Evidence.Sentence, row.ending, row.class)
			}
			got := strings.Join(seen(r), "\n")
			if row.observed == "" && got != "" || !strings.Contains(got, row.observed) {
				t.Errorf("observed %q, want %q", got, row.observed)
			}
		})
	}
}

// C-111, C-175: the whole status is written, on top of the version from which it was computed. Nothing else changes.
func TestTheStatusOfACronJob(t *testing.T) {
	s := &cronServer{}
	at := epoch.Add(time.Hour)
	r := cronWorld(t, s, &events.WriteCronStatus{
		Base: 10, Active: []events.RunName{{UID: "uid-old", Name: "old", Version: 3}, {UID: "uid-new", Name: "new", Version: 20}},
		LastSchedule: events.At(at.Add(200 * time.Millisecond)), LastSuccess: events.At(epoch),
	})
	if r.Ended.Ending != events.Done || r.Ended.Version != 30 || strings.Join(s.asked, "") != "update nightly at 10" {
		t.Errorf("it ended %+v; asked %q", r.Ended, s.asked)
	}
	want := testCronJob()
	want.ManagedFields = nil
	want.Status = batchv1.CronJobStatus{
		Active: []corev1.ObjectReference{
			testCronJob().Status.Active[0],
			{Kind: "Job", APIVersion: "batch/v1", Namespace: "batch", Name: "new", UID: "uid-new", ResourceVersion: "20"},
		},
		LastScheduleTime: new(metav1.NewTime(at)), LastSuccessfulTime: new(metav1.NewTime(epoch)),
	}
	sent := s.sent.(*batchv1.CronJob)
	if !sent.Status.LastScheduleTime.Equal(want.Status.LastScheduleTime) || !sent.Status.LastSuccessfulTime.Equal(want.Status.LastSuccessfulTime) {
		t.Errorf("sent the times %v and %v", sent.Status.LastScheduleTime, sent.Status.LastSuccessfulTime)
	}
	sent.Status.LastScheduleTime, sent.Status.LastSuccessfulTime = want.Status.LastScheduleTime, want.Status.LastSuccessfulTime
	if !reflect.DeepEqual(sent, want) {
		t.Errorf("sent\n%+v\nwant\n%+v", sent, want)
	}
}

// TestWithoutCronJobsNothingIsAsked: an executor without an API for CronJobs refuses their commands, and sends nothing.
func TestWithoutCronJobsNothingIsAsked(t *testing.T) {
	r := cronWorld(t, &cronServer{}, &events.ReadCronJob{}, func(c *Config) { c.Crons = nil })
	if r.Ended.Ending != events.Refused || r.Ended.Class != events.RefusedInvalid {
		t.Errorf("it ended %+v", r.Ended)
	}
}

// TestCronJobsThatAreKept: an older version is ignored, a template is hashed once for a generation, and nothing is kept
// over a rewind.
func TestCronJobsThatAreKept(t *testing.T) {
	hashed := 0
	c := testCronJob()
	o := NewObjects(hashOf).WithCronJobs(func(*kubewire.CronJob) (string, error) { hashed++; return c.Spec.Schedule, nil })
	o.KeepCronJob(wireCron(t, c))
	for _, version := range []string{"9", "11"} {
		next := testCronJob()
		next.ResourceVersion = version
		o.refreshCron(wireCron(t, next))
	}
	if _, version, ok := o.cronAt(identity, c.UID, 11); !ok || version != 11 {
		t.Errorf("version %d is kept, %t", version, ok)
	}
	for _, hash := range []string{c.Spec.Schedule, "another"} {
		if _, ok := o.cronWithTemplate(c.UID, hash); ok != (hash == c.Spec.Schedule) || hashed != 1 {
			t.Errorf("%s: %t, hashed %d times", hash, ok, hashed)
		}
	}
	o.Reset(events.Identity{LogID: identity.LogID, Epoch: 2})
	if _, ok := o.cronWithTemplate(c.UID, c.Spec.Schedule); ok {
		t.Error("it is kept after a rewind")
	}
	o.KeepCronJob(wireCron(t, c))
	if _, _, ok := o.cronAt(identity, c.UID, 10); ok {
		t.Error("a command of before the rewind finds it")
	}
	o.DropCronJob(c.UID)
	if _, ok := o.cronWithTemplate(c.UID, c.Spec.Schedule); ok {
		t.Error("it is kept after it was dropped")
	}
}
