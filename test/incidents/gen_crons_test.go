package incidents

import (
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// cronCause is something that happens to a CronJob that is due every minute.
type cronCause struct {
	name, shape, phase string
	change             func(*batchv1.CronJobSpec)
	did                string
	says               []string // of explain cronjob
	may                string
	exits              []int32
	stage              func(*situation, time.Time) // begins at the first due time
}

func cronRows() (all []row) {
	for _, c := range cronCauses {
		all = append(all, row{cause: c.name, shape: c.shape, phase: c.phase, stage: func(s *situation) { s.stageCron(&c) }})
	}
	return all
}

// stageCron creates the CronJob as maria, at least five seconds before its first due time.
func (s *situation) stageCron(c *cronCause) {
	s.told.Did, s.told.True, s.told.Exits = c.did, append([]string{"replace", "history"}, strings.Fields(c.may)...), c.exits
	if left := time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)); left < 5*time.Second {
		s.pass(left + time.Second)
	}
	cron := batchv1.CronJobSpec{Schedule: "* * * * *", JobTemplate: batchv1.JobTemplateSpec{Spec: newJob("run", "sync:3", byHand(), limit(0), stopsAfter("1s")).Spec}}
	c.change(&cron)
	made, err := s.as(maria).BatchV1().CronJobs(s.name).Create(s.ctx, &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "sync"}, Spec: cron},
		metav1.CreateOptions{FieldManager: "kubectl-create"})
	s.must(err)
	s.told.CronJob, s.told.CronUID = made.Name, string(made.UID)
	for _, w := range c.says {
		s.told.CronSays = append(s.told.CronSays, []string{w})
	}
	c.stage(s, made.CreationTimestamp.UTC().Truncate(time.Minute).Add(time.Minute))
	s.over()
	how := metav1.DeletePropagationBackground
	err = s.as(janitor).BatchV1().CronJobs(s.name).Delete(s.ctx, "sync", metav1.DeleteOptions{PropagationPolicy: &how})
	if !gone(err) {
		s.must(err)
	}
}

// run waits for the run of a due time.
func (s *situation) run(due time.Time) *truth {
	s.t.Helper()
	name := fmt.Sprintf("sync-%d", due.Unix()/60)
	t := &truth{Namespace: s.name, Job: name}
	s.eventually("the run of "+due.String()+" is there", func() bool {
		j, err := s.admin.BatchV1().Jobs(s.name).Get(s.ctx, name, metav1.GetOptions{})
		if err == nil {
			t.UID = string(j.UID)
		}
		return err == nil
	})
	s.started(due)
	return t
}

// of makes a run the Job of the question, and plays its only pod until it runs.
func (s *situation) of(t *truth) *corev1.Pod {
	s.truth = t
	return s.start(1)[0]
}

// started: why-not must say that the due time started.
func (s *situation) started(due time.Time) {
	s.told.Ticks = append(s.told.Ticks, tickTruth{At: due, Fate: []string{"Started"}})
}

// keptFrom: why-not must say that the due time did not start, and why.
func (s *situation) keptFrom(due time.Time, says ...string) {
	t := tickTruth{At: due, NotFate: []string{"Started"}}
	for _, w := range says {
		t.Says = append(t.Says, []string{w})
	}
	s.told.Ticks = append(s.told.Ticks, t)
}

func (s *situation) until(t time.Time) { s.pass(time.Until(t)) }

func (s *situation) patchCron(user, manager, patch string) {
	s.t.Helper()
	s.must2(s.as(user).BatchV1().CronJobs(s.name).Patch(s.ctx, "sync", types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: manager}))
}

var cronCauses = []cronCause{
	{name: "cronok", shape: "allow", phase: "running", change: func(*batchv1.CronJobSpec) {}, did: "nothing: its runs succeed", says: []string{`HEALTHY|Healthy`},
		stage: func(s *situation, first time.Time) {
			for n := range 2 {
				s.truth = s.run(first.Add(time.Duration(n) * time.Minute))
				s.succeedRest()
			}
			s.says(`succeeded`)
		}},
	{name: "cronfails", shape: "allow", phase: "running", change: func(*batchv1.CronJobSpec) {}, did: "each run exits 3", says: []string{`FAILING|Failing`, `exit(ed)? 3|failed`}, exits: []int32{3},
		stage: func(s *situation, first time.Time) {
			for n := range 2 {
				s.truth = s.run(first.Add(time.Duration(n) * time.Minute))
				s.fail(s.next(), 3)
				s.awaitEnd(s.truth)
			}
			s.says(`exit(ed)? 3`)
		}},
	{name: "replace", shape: "replace", phase: "running", change: func(c *batchv1.CronJobSpec) { c.ConcurrencyPolicy = batchv1.ReplaceConcurrent },
		did: "the first run hung, and was replaced by the second (concurrencyPolicy Replace)", exits: []int32{143},
		stage: func(s *situation, first time.Time) {
			t := s.run(first)
			s.of(t)
			s.run(first.Add(time.Minute))
			s.awaitGone(t)
			s.says(`(?i)replace`)
		}},
	{name: "forbid", shape: "forbid", phase: "running", change: func(c *batchv1.CronJobSpec) { c.ConcurrencyPolicy = batchv1.ForbidConcurrent },
		did: "the first run hangs: the next due time did not start (concurrencyPolicy Forbid)", says: []string{`HELD|Forbid`},
		stage: func(s *situation, first time.Time) {
			s.of(s.run(first))
			s.keptFrom(first.Add(time.Minute), `Forbid`, fmt.Sprintf("sync-%d", first.Unix()/60))
			s.until(first.Add(75 * time.Second))
			s.says(`run`)
		}},
	{name: "forbid", shape: "forbid", phase: "lifted", change: func(c *batchv1.CronJobSpec) { c.ConcurrencyPolicy = batchv1.ForbidConcurrent },
		did:  "the first run took 135 s: the second due time did not start, the third did late (concurrencyPolicy Forbid)",
		says: []string{`Forbid`}, stage: func(s *situation, first time.Time) {
			p := s.of(s.run(first))
			s.keptFrom(first.Add(time.Minute), `Forbid`, fmt.Sprintf("sync-%d", first.Unix()/60))
			s.until(first.Add(135 * time.Second))
			s.succeed(p)
			s.awaitEnd(s.truth)
			s.truth = s.run(first.Add(2 * time.Minute))
			s.succeedRest()
			s.says(`succeeded`)
		}},
	{name: "history", shape: "successful", phase: "after", change: func(c *batchv1.CronJobSpec) { c.SuccessfulJobsHistoryLimit = new(int32(1)) },
		did: "the Job of the first run was deleted when the second had succeeded (successfulJobsHistoryLimit 1)", stage: func(s *situation, first time.Time) {
			old := s.run(first)
			s.truth = old
			s.succeedRest()
			s.truth = s.run(first.Add(time.Minute))
			s.succeedRest()
			s.truth = old
			s.awaitGone(old)
			s.says(`(?i)history limit|HistoryLimit`)
		}},
	{name: "history", shape: "failed", phase: "after", change: func(c *batchv1.CronJobSpec) { c.FailedJobsHistoryLimit = new(int32(1)) }, exits: []int32{3},
		did: "the Job of the first run was deleted when the second had failed (failedJobsHistoryLimit 1)", stage: func(s *situation, first time.Time) {
			old := s.run(first)
			s.truth = old
			s.fail(s.next(), 3)
			s.awaitEnd(old)
			s.truth = s.run(first.Add(time.Minute))
			s.fail(s.next(), 3)
			s.awaitEnd(s.truth)
			s.truth = old
			s.awaitGone(old)
			s.says(`(?i)history limit|HistoryLimit`)
			s.says(`exit(ed)? 3`)
		}},
	{name: "cronsuspend", shape: "allow", phase: "stays", change: func(*batchv1.CronJobSpec) {}, did: "tom suspended the CronJob after its first run", says: []string{`suspended|Suspended`}, may: "suspended edit",
		stage: func(s *situation, first time.Time) {
			s.truth = s.run(first)
			s.succeedRest()
			s.patchCron(tom, "kubectl-patch", `{"spec":{"suspend":true}}`)
			s.keptFrom(first.Add(time.Minute), `suspend`)
			s.until(first.Add(75 * time.Second))
			s.says(`succeeded`)
		}},
	{name: "cronsuspend", shape: "allow", phase: "lifted", change: func(*batchv1.CronJobSpec) {}, did: "tom suspended the CronJob after its first run, and resumed it two minutes later", may: "suspended edit",
		says: []string{`suspend`}, stage: func(s *situation, first time.Time) {
			s.truth = s.run(first)
			s.succeedRest()
			s.patchCron(tom, "kubectl-patch", `{"spec":{"suspend":true}}`)
			s.keptFrom(first.Add(time.Minute), `suspend`)
			s.until(first.Add(135 * time.Second))
			s.patchCron(maria, "kubectl-patch", `{"spec":{"suspend":false}}`)
			s.truth = s.run(first.Add(2 * time.Minute))
			s.succeedRest()
			s.says(`succeeded`)
		}},
	{name: "crondeleted", shape: "background", phase: "running", change: func(*batchv1.CronJobSpec) {}, did: "tom deleted the CronJob while its run ran", may: "client", exits: []int32{143},
		stage: func(s *situation, first time.Time) {
			t := s.run(first)
			s.of(t)
			how := metav1.DeletePropagationBackground
			s.must(s.as(tom).BatchV1().CronJobs(s.name).Delete(s.ctx, "sync", metav1.DeleteOptions{PropagationPolicy: &how}))
			s.awaitGone(t)
			s.says(`with its CronJob|CronJob`)
		}},
	{name: "cronedited", shape: "schedule", phase: "between", change: func(*batchv1.CronJobSpec) {}, did: "tom changed the schedule after the first run", says: []string{`EDITED|schedule`}, may: "edit",
		stage: func(s *situation, first time.Time) {
			s.truth = s.run(first)
			s.succeedRest()
			s.patchCron(tom, "kubectl-patch", `{"spec":{"schedule":"17 4 1 1 *"}}`)
			s.keptFrom(first.Add(time.Minute), `schedule|\* \* \* \* \*`)
			s.until(first.Add(75 * time.Second))
			s.says(`succeeded`)
		}},
	{name: "cronquota", shape: "allow", phase: "stuck", change: func(*batchv1.CronJobSpec) {}, did: "a quota allows no Jobs: the run is refused", may: "quota refused",
		stage: func(s *situation, first time.Time) {
			s.must2(s.as(tom).CoreV1().ResourceQuotas(s.name).Create(s.ctx, &corev1.ResourceQuota{
				ObjectMeta: metav1.ObjectMeta{Name: "jobs"},
				Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/jobs.batch": resource.MustParse("0")}},
			}, metav1.CreateOptions{}))
			says := `quota`
			if s.mode == situationsObserved {
				says, s.told.Untold = `unknown|not (been )?started|not known`, "the API server tells a refusal to the controller that asked"
			}
			s.keptFrom(first, says)
			s.told.CronSays = [][]string{{says}}
			s.until(first.Add(20 * time.Second))
		}},
}
