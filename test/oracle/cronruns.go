package oracle

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
)

// runRef is a reference to a Job of a CronJob, as it is written in a scenario. "a" is the oldest Job of CronJob a that
// fits the action, "a.1" the second oldest, "a.-1" the newest, and "a.*" means all. A Job belongs to the CronJob here
// if its name begins with the CronJob's, whatever its owner is.
type runRef struct {
	cronJob string
	nth     int
	all     bool
}

func parseRun(text string) (ref runRef, err error) {
	name, nth, ok := strings.Cut(text, ".")
	ref.cronJob, ref.all = name, nth == "*"
	if ok && !ref.all {
		ref.nth, err = strconv.Atoi(nth)
	}
	return ref, err
}

// runs returns the Jobs that ref names, out of those for which fits is true.
func (c *cluster) runs(ref runRef, fits func(*batchv1.Job) bool) []*batchv1.Job {
	jobs := slices.DeleteFunc(c.world.Server.AllJobs(), func(j *batchv1.Job) bool {
		return !strings.HasPrefix(j.Name, ref.cronJob+"-") || !fits(j)
	})
	slices.SortStableFunc(jobs, func(a, b *batchv1.Job) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
	})
	n := ref.nth
	if n < 0 {
		n += len(jobs)
	}
	switch {
	case ref.all:
		return jobs
	case n < 0 || n >= len(jobs):
		return nil
	}
	return jobs[n : n+1]
}

// runDeed is an action (do) of a scenario on a Job of a CronJob; fits reports whether the action makes sense for a
// Job.
type runDeed struct {
	fits func(*batchv1.Job) bool
	do   func(c *cluster, j *batchv1.Job, args []string) error
}

func everyRun(*batchv1.Job) bool      { return true }
func unended(j *batchv1.Job) bool     { return !apiserver.JobFinished(j) }
func unstarted(j *batchv1.Job) bool   { return unended(j) && j.Status.StartTime == nil }
func undeleted(j *batchv1.Job) bool   { return j.DeletionTimestamp == nil }
func foreignHold(j *batchv1.Job) bool { return slices.Contains(j.Finalizers, foreign) }
func someoneOwns(j *batchv1.Job) bool { return metav1.GetControllerOf(j) != nil }

// runDeeds maps the verbs of a scenario to actions on Jobs of CronJobs, by users and by the controller of these Jobs.
//
//	begin|succeed|fail RUN         (sets the status)
//	remove RUN [background|foreground|orphan]      (a user deletes it)
//	keep|unkeep RUN                (adds or removes a finalizer of another owner)
//	disown RUN                     (removes its owner references)
//	touchrun RUN
var runDeeds = map[string]runDeed{
	"begin":   {unstarted, func(c *cluster, j *batchv1.Job, _ []string) error { return c.state(j, "") }},
	"succeed": {unended, func(c *cluster, j *batchv1.Job, _ []string) error { return c.state(j, batchv1.JobComplete) }},
	"fail":    {unended, func(c *cluster, j *batchv1.Job, _ []string) error { return c.state(j, batchv1.JobFailed) }},
	"remove": {undeleted, func(c *cluster, j *batchv1.Job, args []string) error {
		return passOver(c.user.DeleteJob(context.Background(), j.Namespace, j.Name, j.UID, propagation(args)))
	}},
	"keep": {undeleted, func(c *cluster, j *batchv1.Job, _ []string) error {
		return c.change(j, func() { j.Finalizers = append(j.Finalizers, foreign) })
	}},
	"unkeep": {foreignHold, func(c *cluster, j *batchv1.Job, _ []string) error {
		return c.change(j, func() { j.Finalizers = slices.DeleteFunc(j.Finalizers, func(f string) bool { return f == foreign }) })
	}},
	"disown": {someoneOwns, func(c *cluster, j *batchv1.Job, _ []string) error {
		return c.change(j, func() { j.OwnerReferences = nil })
	}},
	"touchrun": {everyRun, func(c *cluster, j *batchv1.Job, _ []string) error {
		c.world.Server.Touch("somebody", apiserver.Jobs, j.Namespace, j.Name)
		return nil
	}},
}

func (c *cluster) change(j *batchv1.Job, change func()) error {
	change()
	_, err := c.user.UpdateJob(context.Background(), j)
	return passOver(err)
}

// state sets the status of a Job to started; if end is not empty, also to ended, with the condition end.
func (c *cluster) state(j *batchv1.Job, end batchv1.JobConditionType) error {
	now := c.now()
	if j.Status.StartTime == nil {
		j.Status.StartTime = &now
	}
	interim := batchv1.JobFailureTarget
	switch end {
	case batchv1.JobComplete:
		interim, j.Status.CompletionTime = batchv1.JobSuccessCriteriaMet, &now
	case batchv1.JobFailed:
	case "":
		interim = ""
	default:
		return fmt.Errorf("no Job ends so")
	}
	for _, of := range []batchv1.JobConditionType{interim, end} {
		if of != "" {
			setCondition(&j.Status, batchv1.JobCondition{Type: of, Status: corev1.ConditionTrue, LastTransitionTime: now, LastProbeTime: now})
		}
	}
	_, err := c.user.UpdateJobStatus(context.Background(), j)
	return passOver(err)
}
