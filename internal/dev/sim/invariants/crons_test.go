package invariants

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
)

// cronLab is a lab with a CronJob that is due each minute. The test plays the controller.
type cronLab struct {
	*lab
	seen uint64 // the version of the CronJob that the controller saw last
}

func newCronLab(t *testing.T) *cronLab {
	l := &cronLab{lab: newLab(t, false)}
	l.checker = New(Config{Server: l.Server, Actor: "jobledger", CronSeen: func(apiserver.Write) uint64 { return l.seen }})
	_, err := l.user.CreateCronJob(ctx, &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "demo"},
		Spec: batchv1.CronJobSpec{Schedule: "* * * * *", JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{
			Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main"}}},
		}}}},
	})
	l.must(err)
	l.see()
	return l
}

func (l *cronLab) cron() *batchv1.CronJob { return l.Server.CronJob("default", "demo").DeepCopy() }

// see shows the CronJob as it is to the controller.
func (l *cronLab) see() { l.seen = apiserver.VersionOf(l.cron()) }

// edit changes the CronJob as a user, and shows it to the controller.
func (l *cronLab) edit(change func(*batchv1.CronJobSpec)) {
	c := l.cron()
	change(&c.Spec)
	_, err := l.user.UpdateCronJob(ctx, c)
	l.must(err)
	l.see()
}

// run makes a Job for a due time so many minutes before now.
func (l *cronLab) run(by *apiserver.Client, ago int, name ...string) *batchv1.Job {
	due := l.Clock().Now().Truncate(time.Minute).Add(-time.Duration(ago) * time.Minute)
	c := l.cron()
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: fmt.Sprintf("demo-%d", due.Unix()/60),
		Annotations:     map[string]string{batchv1.CronJobScheduledTimestampAnnotation: due.Format(time.RFC3339)},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(c, batchv1.SchemeGroupVersion.WithKind("CronJob"))},
	}, Spec: c.Spec.JobTemplate.Spec}
	if len(name) > 0 {
		j.Name = name[0]
	}
	made, err := by.CreateJob(ctx, j)
	l.must(err)
	return made
}

// finish finishes a Job as another controller does.
func (l *cronLab) finish(j *batchv1.Job) {
	j = j.DeepCopy()
	now := metav1.NewTime(l.Clock().Now())
	j.Status.StartTime, j.Status.UncountedTerminatedPods = &now, &batchv1.UncountedTerminatedPods{}
	for _, kind := range []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobFailed} {
		j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	_, err := l.user.UpdateJobStatus(ctx, j)
	l.must(err)
}

// disown removes a Job's owner, as the garbage collector does when a CronJob is deleted without its Jobs.
func (l *cronLab) disown(j *batchv1.Job) {
	j = l.Server.Job(j.Namespace, j.Name).DeepCopy()
	j.OwnerReferences = nil
	_, err := l.user.UpdateJob(ctx, j)
	l.must(err)
}

// status writes the status as the controller does.
func (l *cronLab) status(change func(*batchv1.CronJobStatus)) {
	c := l.cron()
	change(&c.Status)
	_, err := l.controller.UpdateCronJobStatus(ctx, c)
	l.must(err)
}

func (l *cronLab) remove(j *batchv1.Job, policy metav1.DeletionPropagation) {
	l.must(l.controller.DeleteJob(context.Background(), j.Namespace, j.Name, j.UID, policy))
}

// tellUndone restores the cluster to before a run, and then lets the status name that run.
func (l *cronLab) tellUndone(away bool) {
	server, known := l.Server.Backup(), l.backup()
	l.run(l.controller, 0)
	l.must(l.checker.Check())
	l.Server.Restore(server)
	l.checker.Rewound(known, away)
	l.status(func(s *batchv1.CronJobStatus) { s.LastScheduleTime = at(l.Clock().Now().Truncate(time.Minute)) })
}

func (l *cronLab) backup() *Backup {
	l.must(l.checker.Check())
	return l.checker.Backup()
}

func at(t time.Time) *metav1.Time { return new(metav1.NewTime(t)) }

// TestBrokenPromisesOfCronJobsAreFound: in each row a controller breaks one promise, or none. The checker names the
// rule of the broken promise.
func TestBrokenPromisesOfCronJobsAreFound(t *testing.T) {
	refer := func(j *batchv1.Job) corev1.ObjectReference { return corev1.ObjectReference{Name: j.Name, UID: j.UID} }
	for _, row := range []struct {
		sentence string
		play     func(*cronLab)
		want     string // rule; empty for none
	}{
		{"a Job for a due time, and its status", func(l *cronLab) {
			j := l.run(l.controller, 0)
			l.status(func(s *batchv1.CronJobStatus) {
				s.Active, s.LastScheduleTime = []corev1.ObjectReference{refer(j)}, at(l.Clock().Now().Truncate(time.Minute))
			})
		}, ""},
		{"a Job for a time to come (C-240)", func(l *cronLab) { l.run(l.controller, -1) }, "C-240"},
		{"a Job of a CronJob that was seen to be suspended (C-241)", func(l *cronLab) {
			l.edit(func(s *batchv1.CronJobSpec) { s.Suspend = new(true) })
			l.run(l.controller, 0)
		}, "C-241"},
		{"a Job of one that was suspended and not yet seen to be", func(l *cronLab) {
			before := l.seen
			l.edit(func(s *batchv1.CronJobSpec) { s.Suspend = new(true) })
			l.seen = before
			l.run(l.controller, 0)
		}, ""},
		{"two Jobs of one minute (C-242)", func(l *cronLab) {
			l.run(l.controller, 0)
			l.run(l.controller, 0, "demo-again")
		}, "C-242"},
		{"a last due time that had no Job (C-243)", func(l *cronLab) {
			l.status(func(s *batchv1.CronJobStatus) { s.LastScheduleTime = at(l.Clock().Now().Truncate(time.Minute)) })
		}, "C-243"},
		{"a last due time, and its Job was in a history that was taken back (C-243)", func(l *cronLab) {
			l.tellUndone(false)
		}, "C-243"},
		{"the same, by a log that was away when it was taken back", func(l *cronLab) { l.tellUndone(true) }, ""},
		{"a last due time that goes back (C-243)", func(l *cronLab) {
			for ago := range 2 {
				l.run(l.controller, ago)
				l.status(func(s *batchv1.CronJobStatus) {
					s.LastScheduleTime = at(l.Clock().Now().Truncate(time.Minute).Add(-time.Duration(ago) * time.Minute))
				})
			}
		}, "C-243"},
		{"a last success that goes back (C-244)", func(l *cronLab) {
			for ago := range 2 {
				l.status(func(s *batchv1.CronJobStatus) {
					s.LastSuccessfulTime = at(l.Clock().Now().Add(-time.Duration(ago) * time.Minute))
				})
			}
		}, "C-244"},
		{"a Job under Forbid while another one runs (C-245)", func(l *cronLab) {
			l.edit(func(s *batchv1.CronJobSpec) { s.ConcurrencyPolicy = batchv1.ForbidConcurrent })
			l.run(l.controller, 1)
			l.run(l.controller, 0)
		}, "C-245"},
		{"a Job under Forbid beside one that somebody made by hand", func(l *cronLab) {
			l.edit(func(s *batchv1.CronJobSpec) { s.ConcurrencyPolicy = batchv1.ForbidConcurrent })
			l.run(l.user, 1)
			l.run(l.controller, 0)
		}, ""},
		{"a Job under Replace while another one is not deleted (C-245)", func(l *cronLab) {
			l.edit(func(s *batchv1.CronJobSpec) { s.ConcurrencyPolicy = batchv1.ReplaceConcurrent })
			l.run(l.controller, 1)
			l.run(l.controller, 0)
		}, "C-245"},
		{"a Job that is replaced and not in the background (C-247)", func(l *cronLab) {
			l.edit(func(s *batchv1.CronJobSpec) { s.ConcurrencyPolicy = batchv1.ReplaceConcurrent })
			l.remove(l.run(l.controller, 1), metav1.DeletePropagationForeground)
		}, "C-247"},
		{"a Job that runs is deleted under Allow (C-120)", func(l *cronLab) {
			l.remove(l.run(l.controller, 1), metav1.DeletePropagationBackground)
		}, "C-120"},
		{"a finished Job is deleted that is to be kept (C-121)", func(l *cronLab) {
			j := l.run(l.controller, 1)
			l.finish(j)
			l.remove(j, metav1.DeletePropagationBackground)
		}, "C-121"},
		{"a finished Job is deleted that is one too many", func(l *cronLab) {
			l.edit(func(s *batchv1.CronJobSpec) { s.FailedJobsHistoryLimit = new(int32(0)) })
			j := l.run(l.controller, 1)
			l.finish(j)
			l.remove(j, metav1.DeletePropagationBackground)
		}, ""},
		{"a finished Job is deleted that was one too many until another one lost its owner", func(l *cronLab) {
			l.edit(func(s *batchv1.CronJobSpec) { s.FailedJobsHistoryLimit = new(int32(1)) })
			j, other := l.run(l.controller, 2), l.run(l.controller, 1)
			l.finish(j)
			l.finish(other)
			l.disown(other)
			l.remove(j, metav1.DeletePropagationBackground)
		}, ""},
		{"the spec is changed (C-001)", func(l *cronLab) {
			c := l.cron()
			c.Spec.Suspend = new(true)
			_, err := l.controller.UpdateCronJob(ctx, c)
			l.must(err)
		}, "C-001"},
		{"too many finished Jobs are left at rest (C-246)", func(l *cronLab) {
			for ago := range 2 {
				l.finish(l.run(l.user, ago+1))
			}
		}, "C-246"},
		{"a Job runs at rest that the list does not have (C-246)", func(l *cronLab) { l.run(l.controller, 0) }, "C-246"},
		{"the list has one at rest that does not run (C-246)", func(l *cronLab) {
			j := l.run(l.controller, 0)
			l.finish(j)
			l.status(func(s *batchv1.CronJobStatus) { s.Active = []corev1.ObjectReference{refer(j)} })
		}, "C-246"},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			l := newCronLab(t)
			row.play(l)
			err := l.checker.Check()
			if row.want == "C-246" || row.want == "" && len(l.cron().Status.Active) > 0 {
				err = errors.Join(err, l.checker.settledCrons())
			}
			if rules := brokenRules(err); row.want == "" && len(rules) > 0 || row.want != "" && !slices.Equal(rules, []string{row.want}) {
				t.Errorf("found %v, want %q: %v", rules, row.want, err)
			}
		})
	}
}

// brokenRules returns the rules of violations, each once.
func brokenRules(err error) (rules []string) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			rules = append(rules, brokenRules(e)...)
		}
	} else if v := new(Violation); errors.As(err, &v) {
		rules = append(rules, v.Rule)
	}
	slices.Sort(rules)
	return slices.Compact(rules)
}

// C-248: the checker finds a look that is pending too late, or not at all. It asks for no look at a CronJob that can
// start nothing.
func TestALookThatIsNotPendingIsFound(t *testing.T) {
	l := newCronLab(t)
	l.must(l.checker.Check())
	now := l.Clock().Now() // 03:04:05
	next := now.Truncate(time.Minute).Add(time.Minute + 100*time.Millisecond)
	for _, row := range []struct {
		wake time.Time
		ok   bool
	}{{next, true}, {now, true}, {next.Add(time.Millisecond), false}, {time.Time{}, false}} {
		if err := l.checker.Pending(now, row.wake); (err == nil) != row.ok {
			t.Errorf("the next look at %s: %v", row.wake, err)
		}
	}
	l.edit(func(s *batchv1.CronJobSpec) { s.Suspend = new(true) })
	l.must(l.checker.Check())
	l.must(l.checker.Pending(now, time.Time{}))
}

// C-085, C-248: TestALookIsPacedWhereNothingStarts: a CronJob is due each second. One look a minute is enough while its
// Job of this minute exists, or an earlier Job keeps the next one from starting. Otherwise each due time needs a look.
func TestALookIsPacedWhereNothingStarts(t *testing.T) {
	l := newCronLab(t)
	l.edit(func(s *batchv1.CronJobSpec) { s.Schedule = "@every 1s" })
	l.must(l.checker.Check())
	now := l.Clock().Now() // 03:04:05
	next := now.Truncate(time.Second).Add(time.Second + 100*time.Millisecond)
	minute := now.Truncate(time.Minute).Add(time.Minute + 100*time.Millisecond)
	pending := func(sentence string, wake time.Time, ok bool) {
		t.Helper()
		l.must(l.checker.Check())
		if err := l.checker.Pending(now, wake); (err == nil) != ok {
			t.Errorf("%s: the next look at %s: %v", sentence, wake, err)
		}
	}
	pending("a Job can be made", next, true)
	pending("a Job can be made", next.Add(time.Second), false)
	l.edit(func(s *batchv1.CronJobSpec) { s.StartingDeadlineSeconds = new(int64(0)) })
	pending("each is too late", minute, true)
	pending("each is too late", minute.Add(time.Second), false)
	l.edit(func(s *batchv1.CronJobSpec) { s.StartingDeadlineSeconds = new(int64(1)) })
	pending("none is too late", minute, false)
}
