package cronjobs

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/test/internal/ledger"
)

// manager is a controller that does not exist, so the Jobs are run by the test.
const manager = "jobledger.dev/test-by-hand"

var policies = []batchv1.ConcurrencyPolicy{batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent}

// places are time zones, some with minutes that differ from UTC.
var places = []string{"Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Asia/Kolkata", "Australia/Lord_Howe", "Etc/UTC"}

// timing is when a CronJob is due. The JSON has the fields of its spec; nil removes a field.
type timing struct {
	Schedule string  `json:"schedule"`
	TimeZone *string `json:"timeZone"`
	Deadline *int64  `json:"startingDeadlineSeconds"`
}

// timing returns a random timing. All due times are whole minutes.
func (p *pair) timing() (w timing) {
	if p.r.IntN(3) == 0 {
		w.TimeZone = &places[p.r.IntN(len(places))]
	}
	if p.r.IntN(3) == 0 {
		w.Deadline = new([]int64{100, 200, 3600}[p.r.IntN(3)])
	}
	soon := func() int { return (p.minute.Minute() + p.r.IntN(minutes+1)) % 60 }
	switch p.r.IntN(10) {
	case 0, 1, 2:
		w.Schedule = "* * * * *"
	case 3:
		w.Schedule = "*/2 * * * *"
	case 4:
		w.Schedule = "1-59/2 * * * sun-sat"
	case 5:
		w.Schedule = "*/3 * * * *"
	case 6:
		w.Schedule, w.TimeZone = fmt.Sprintf("%d,%d,%d * * * *", soon(), soon(), soon()), nil
	case 7, 8: // with a deadline it would count from now (C-084)
		w.Schedule, w.Deadline, w.TimeZone = fmt.Sprintf("@every %dm", 1+p.r.IntN(3)), nil, nil
	case 9:
		w.Schedule = "@hourly"
	}
	return w
}

func (p *pair) limit() *int32 {
	if p.r.IntN(2) == 0 {
		return nil
	}
	return new(int32(p.r.IntN(3)))
}

// add creates a CronJob. Most have had a run before.
func (p *pair) add() {
	p.t.Helper()
	name := fmt.Sprintf("c%d", len(p.names)+len(p.gone))
	when := p.timing()
	suspend := p.r.IntN(6) == 0
	template := batchv1.JobTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"of": name}, Annotations: map[string]string{"note": "one"}},
		Spec: batchv1.JobSpec{
			ManagedBy: new(manager),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "none"}},
			}},
		},
	}
	in := &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: batchv1.CronJobSpec{
			Schedule: when.Schedule, TimeZone: when.TimeZone, StartingDeadlineSeconds: when.Deadline, Suspend: &suspend,
			ConcurrencyPolicy: policies[p.r.IntN(len(policies))], JobTemplate: template,
			SuccessfulJobsHistoryLimit: p.limit(), FailedJobsHistoryLimit: p.limit(),
		},
	}
	var before *metav1.Time
	if ago := []int{0, 1, 2, 5, 200}[p.r.IntN(5)]; ago > 0 || strings.HasPrefix(when.Schedule, "@every") { // else it counts from its creation
		before = &metav1.Time{Time: p.minute.Add(-time.Duration(max(1, ago)) * time.Minute)}
	}
	p.both(func(s *side) error {
		api := s.admin.BatchV1().CronJobs(namespace)
		// Nothing may start before the status is stored.
		first := in.DeepCopy()
		first.Spec.Suspend = new(true)
		made, err := api.Create(p.ctx, first, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		if before != nil {
			made.Status.LastScheduleTime = before
			if _, err := api.UpdateStatus(p.ctx, made, metav1.UpdateOptions{}); err != nil {
				return err
			}
		}
		if suspend {
			return nil
		}
		_, err = api.Patch(p.ctx, name, types.MergePatchType, []byte(`{"spec":{"suspend":false}}`), metav1.PatchOptions{})
		return err
	})
	p.names = append(p.names, name)
}

func (p *pair) patch(name, patch string) {
	p.t.Helper()
	p.both(func(s *side) error {
		_, err := s.admin.BatchV1().CronJobs(namespace).Patch(p.ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	})
}

// patchSpec changes fields of a CronJob's spec.
func (p *pair) patchSpec(name string, fields any) {
	p.t.Helper()
	text, err := json.Marshal(map[string]any{"spec": fields})
	p.must(err)
	p.patch(name, string(text))
}

// meddle plays what users do in a minute: an action on a fourth of the CronJobs.
func (p *pair) meddle() {
	p.t.Helper()
	for _, name := range slices.Clone(p.names) {
		if p.r.IntN(4) > 0 {
			continue
		}
		switch p.r.IntN(12) {
		case 0, 1:
			p.patch(name, `{"spec":{"suspend":true}}`)
		case 2, 3, 4:
			p.patch(name, `{"spec":{"suspend":false}}`)
		case 5, 6:
			p.patchSpec(name, p.timing())
		case 7:
			p.patchSpec(name, map[string]any{"concurrencyPolicy": policies[p.r.IntN(len(policies))]})
		case 8:
			p.patchSpec(name, map[string]any{"successfulJobsHistoryLimit": p.r.IntN(3), "failedJobsHistoryLimit": p.r.IntN(3)})
		case 9:
			p.patchSpec(name, map[string]any{"jobTemplate": map[string]any{"metadata": map[string]any{"annotations": map[string]any{"note": fmt.Sprint(p.r.IntN(9))}}}})
		case 10:
			p.instantiate(name)
		case 11:
			if p.r.IntN(3) == 0 {
				p.drop(name)
				p.add()
			} else {
				p.deleteRun(name)
			}
		}
	}
}

// instantiate makes a Job by hand, like kubectl create job --from.
func (p *pair) instantiate(name string) {
	p.t.Helper()
	p.both(func(s *side) error {
		c, err := s.admin.BatchV1().CronJobs(namespace).Get(p.ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		_, err = s.admin.BatchV1().Jobs(namespace).Create(p.ctx, &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{
				Name: fmt.Sprintf("%s-hand-%d", name, p.minute.Unix()/60), Labels: c.Spec.JobTemplate.Labels,
				Annotations:     map[string]string{"cronjob.kubernetes.io/instantiate": "manual"},
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(c, batchv1.SchemeGroupVersion.WithKind("CronJob"))},
			},
			Spec: c.Spec.JobTemplate.Spec,
		}, metav1.CreateOptions{})
		return err
	})
}

// deleteRun deletes the first running Job of a CronJob, if there is one.
func (p *pair) deleteRun(name string) {
	p.t.Helper()
	p.both(func(s *side) error {
		jobs, err := s.jobs()
		if err != nil {
			return err
		}
		for i := range jobs {
			if jobs[i].Labels["of"] == name && !ledger.Finished(&jobs[i]) {
				return s.deleteJob(p, jobs[i].Name)
			}
		}
		return nil
	})
}

func (s *side) deleteJob(p *pair, name string) error {
	how := metav1.DeletePropagationBackground
	err := s.admin.BatchV1().Jobs(namespace).Delete(p.ctx, name, metav1.DeleteOptions{PropagationPolicy: &how})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// drop deletes a CronJob, and then its Jobs, like the garbage collector.
func (p *pair) drop(name string) {
	p.t.Helper()
	p.both(func(s *side) error {
		if err := s.admin.BatchV1().CronJobs(namespace).Delete(p.ctx, name, metav1.DeleteOptions{}); err != nil {
			return err
		}
		jobs, err := s.jobs()
		for i := range jobs {
			if jobs[i].Labels["of"] == name {
				err = errors.Join(err, s.deleteJob(p, jobs[i].Name))
			}
		}
		return err
	})
	p.names = slices.DeleteFunc(p.names, func(n string) bool { return n == name })
	p.gone = append(p.gone, name)
}

// endJobs ends Jobs at their time: the name of a Job decides how long it runs and how it ends. It also acts as their
// Job controller and sets their start time.
func (p *pair) endJobs() {
	p.t.Helper()
	p.both(func(s *side) error {
		jobs, err := s.jobs()
		if err != nil {
			return err
		}
		for i := range jobs {
			job := &jobs[i]
			begin, ends, fails := p.fate(job.Name)
			if ledger.Finished(job) || p.minute.Before(ends) {
				continue
			}
			now := metav1.Time{Time: p.minute.Add(24 * time.Second)}
			job.Status.StartTime = &metav1.Time{Time: begin}
			if fails {
				job.Status.Conditions = conditions(now, batchv1.JobFailureTarget, batchv1.JobFailed)
			} else {
				job.Status.Succeeded, job.Status.CompletionTime = 1, &now
				job.Status.Conditions = conditions(now, batchv1.JobSuccessCriteriaMet, batchv1.JobComplete)
			}
			if _, err := s.admin.BatchV1().Jobs(namespace).UpdateStatus(p.ctx, job, metav1.UpdateOptions{}); err != nil && !apierrors.IsNotFound(err) {
				return err
			}
		}
		return nil
	})
}

func conditions(at metav1.Time, all ...batchv1.JobConditionType) (out []batchv1.JobCondition) {
	for _, c := range all {
		out = append(out, batchv1.JobCondition{Type: c, Status: corev1.ConditionTrue, LastProbeTime: at, LastTransitionTime: at, Reason: "Test"})
	}
	return out
}

// fate derives from the name of a Job when it began, when it should end, and how.
func (p *pair) fate(name string) (begin, ends time.Time, fails bool) {
	minute, err := strconv.ParseInt(name[strings.LastIndexByte(name, '-')+1:], 10, 64)
	p.must(err)
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", p.seed, name)
	dice := h.Sum64()
	begin = time.Unix(minute*60, 0)
	return begin, begin.Add(time.Duration([]int{0, 0, 1, 2, 4}[dice%5]) * time.Minute), dice/5%3 == 0
}
