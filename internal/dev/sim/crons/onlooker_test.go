package crons

import (
	"fmt"
	"hash/fnv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
)

// onlooker is a machine that looks on while another controller runs the CronJobs, is down, records no CronJobs, or
// takes over for a while. Its watches lag, are out of step with each other, and are lost now and then.
type onlooker struct {
	*machine
	other  *another
	ending bool
	jobs   *apiserver.Cursor
	made   map[types.UID]map[events.Time]bool // by CronJob: due times for which a Job existed, of any maker
}

func newOnlooker(m *machine) *onlooker {
	o := &onlooker{machine: m, other: newAnother(m), made: map[types.UID]map[events.Time]bool{}}
	m.stalled = map[events.Resource]time.Time{}
	o.watch()
	return o
}

// live lives through some days, and deletes all CronJobs at the end, while the onlooker watches.
func (o *onlooker) live(days int) {
	for i := range 3 {
		o.create(fmt.Sprintf("c%d", i), o.spec(i == 0))
		o.plan(fmt.Sprintf("c%d", i))
	}
	o.begin()
	o.again(90*time.Minute, "down", o.kill, 40*time.Minute, o.begin)
	o.again(4*time.Hour, "other down", o.other.stop, 20*time.Minute, func() {
		if o.process == nil || o.mode != events.ModeAll {
			o.other.begin()
		}
	})
	o.every(5*time.Minute, "stall", o.stall)
	o.every(40*time.Minute, "user", o.meddle)
	o.run()
	o.pass(o.world.Clock.Now().AddDate(0, 0, days))
	o.ending = true
	o.pass(o.world.Clock.Now().Add(12 * time.Hour))
	if o.process != nil {
		o.kill()
	}
	o.mode, o.blind = events.ModeObserve, false
	o.other.begin()
	o.start()
	o.pass(o.world.Clock.Now().Add(3 * time.Hour))
	for _, c := range o.world.Server.AllCronJobs() {
		o.must(o.user.DeleteCronJob(o.t.Context(), c.Namespace, c.Name, c.UID, metav1.DeletePropagationBackground))
	}
	o.pass(o.world.Clock.Now().Add(time.Hour))
}

// begin starts a controller in a random mode.
func (o *onlooker) begin() {
	o.mode, o.blind = events.ModeObserve, false
	switch o.r.IntN(8) {
	case 0, 1:
		o.mode = events.ModeAll
	case 2:
		o.blind = true
	case 3:
		o.mode = events.ModeDelegated
	}
	if o.mode == events.ModeAll {
		o.other.stop()
	} else if !o.other.up {
		o.other.begin()
	}
	o.start()
}

// again calls the functions `do` and `then` in turns, each after a random time, until the end.
func (o *onlooker) again(most time.Duration, name string, do func(), pause time.Duration, then func()) {
	random := func(most time.Duration) time.Duration { return time.Duration(o.r.Int64N(int64(most))) }
	var first, second func()
	first = func() {
		if !o.ending {
			do()
			o.after(random(pause), name, second)
		}
	}
	second = func() {
		then()
		o.after(random(most), name, first)
	}
	o.after(random(most), name, first)
}

func (o *onlooker) every(most time.Duration, name string, do func()) {
	o.again(most, name, do, time.Second, func() {})
}

func (o *onlooker) watch() {
	var err error
	o.jobs, err = o.world.Server.Watch(apiserver.Jobs, o.world.Server.Version())
	o.must(err)
}

// note records for which due times Jobs existed.
func (o *onlooker) note() {
	for {
		e, ok, err := o.jobs.Next()
		o.must(err)
		if !ok {
			return
		}
		j := e.Object.(*batchv1.Job)
		owner := metav1.GetControllerOf(j)
		due, err := time.Parse(time.RFC3339, j.Annotations[batchv1.CronJobScheduledTimestampAnnotation])
		if err != nil || owner == nil {
			continue
		}
		if o.made[owner.UID] == nil {
			o.made[owner.UID] = map[events.Time]bool{}
		}
		o.made[owner.UID][events.At(due)] = true
	}
}

// stall lets a watch show nothing for some seconds, or ends it.
func (o *onlooker) stall() {
	r := []events.Resource{events.CronJobs, events.Jobs}[o.r.IntN(2)]
	until := o.world.Clock.Now().Add(time.Duration(o.r.IntN(8000)) * time.Millisecond)
	o.stalled[r] = until
	o.after(until.Sub(o.world.Clock.Now()), "stall", func() {
		o.note()
		if o.r.IntN(12) == 0 { // the events of this time are not shown: a list follows
			o.world.Server.Compact(map[events.Resource]apiserver.Kind{events.CronJobs: apiserver.CronJobs, events.Jobs: apiserver.Jobs}[r], o.world.Server.Version())
			o.watch()
		}
	})
}

// run ends Jobs some time after they began, and deletes some of them at once.
func (o *onlooker) run() {
	o.note()
	for _, j := range o.world.Server.StoredJobs() {
		draw := fnv.New64a()
		fmt.Fprint(draw, j.UID)
		n := draw.Sum64()
		length := time.Duration(5+n%70) * time.Second
		if n>>8%25 == 0 {
			length = time.Duration(n>>16%300) * time.Minute
		}
		if over(j) || j.DeletionTimestamp != nil || o.world.Clock.Now().Sub(j.CreationTimestamp.Time) < length {
			continue
		}
		o.finish(j, n>>24%4 > 0)
		if n>>32%10 == 0 {
			o.must(o.user.DeleteJob(o.t.Context(), j.Namespace, j.Name, j.UID, metav1.DeletePropagationBackground))
		}
		o.kickOwner(j)
	}
	o.after(7*time.Second, "run", o.run)
}

func (o *onlooker) kickOwner(j *batchv1.Job) {
	if owner := metav1.GetControllerOf(j); owner != nil {
		o.other.kick(owner.Name)
	}
}

func (o *onlooker) finish(j *batchv1.Job, well bool) {
	j = j.DeepCopy()
	now := metav1.NewTime(o.world.Clock.Now().Truncate(time.Second))
	j.Status.StartTime = &j.CreationTimestamp
	interim, end := batchv1.JobFailureTarget, batchv1.JobFailed
	if well {
		interim, end, j.Status.CompletionTime = batchv1.JobSuccessCriteriaMet, batchv1.JobComplete, &now
	}
	for _, kind := range []batchv1.JobConditionType{interim, end} {
		j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	j.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
	_, err := o.user.UpdateJobStatus(o.t.Context(), j)
	o.must(err)
}

var observedSchedules = []string{
	"* * * * *", "* * * * *", "*/2 * * * *", "*/7 * * * *", "0 9,10,11 * * 1-5", "30 2 * * *", "@hourly", "15 1-3 * * *", "@every 37m",
}

func (o *onlooker) spec(often bool) *batchv1.CronJobSpec {
	t := template(true)
	t.Spec.ManagedBy = new("example.com/runner")
	s := &batchv1.CronJobSpec{JobTemplate: t}
	o.reschedule(s)
	if often {
		s.Schedule, s.StartingDeadlineSeconds = "* * * * *", nil
	}
	return s
}

func (o *onlooker) reschedule(s *batchv1.CronJobSpec) {
	s.Schedule, s.StartingDeadlineSeconds = observedSchedules[o.r.IntN(len(observedSchedules))], nil
	s.ConcurrencyPolicy = []batchv1.ConcurrencyPolicy{batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent}[o.r.IntN(3)]
	if s.Schedule != "@every 37m" && o.r.IntN(2) == 0 {
		s.StartingDeadlineSeconds = new(int64(o.r.IntN(7200)))
	}
}

// plan schedules changes of a CronJob, now and then.
func (o *onlooker) plan(name string) {
	o.every(24*time.Hour, "edit", func() {
		switch o.r.IntN(3) {
		case 0:
			before := o.world.Server.CronJob("default", name).Spec.Schedule
			o.change(name, func(c *batchv1.CronJob) { o.reschedule(&c.Spec) })
			if c := o.world.Server.CronJob("default", name); c.Spec.Schedule != before {
				o.other.rescheduled(c)
				return
			}
		case 1:
			o.change(name, func(c *batchv1.CronJob) { c.Spec.Suspend = new(true) })
			o.after(time.Duration(o.r.IntN(8*60))*time.Minute, "resume", func() {
				o.change(name, func(c *batchv1.CronJob) { c.Spec.Suspend = new(false) })
				o.other.kick(name)
			})
		case 2:
			o.change(name, func(c *batchv1.CronJob) {
				c.Spec.ConcurrencyPolicy = []batchv1.ConcurrencyPolicy{batchv1.AllowConcurrent, batchv1.ForbidConcurrent}[o.r.IntN(2)]
			})
		}
		o.other.kick(name)
	})
}

func (o *onlooker) change(name string, change func(*batchv1.CronJob)) {
	if o.world.Server.CronJob("default", name) != nil {
		o.edit(name, change)
	}
}

// meddle deletes Jobs of a CronJob, or makes one by hand.
func (o *onlooker) meddle() {
	all := o.world.Server.AllCronJobs()
	c := all[o.r.IntN(len(all))]
	if o.r.IntN(3) == 0 {
		j := jobOf(c, fmt.Sprintf("by-hand-%d", o.world.Server.Version()))
		j.Annotations = map[string]string{"cronjob.kubernetes.io/instantiate": "manual"}
		_, err := o.user.CreateJob(o.t.Context(), j)
		o.must(err)
		return
	}
	for _, j := range o.world.Server.StoredJobs() {
		if owner := metav1.GetControllerOf(j); owner != nil && owner.UID == c.UID && o.r.IntN(3) == 0 {
			o.must(o.user.DeleteJob(o.t.Context(), j.Namespace, j.Name, j.UID, metav1.DeletePropagationBackground))
			o.kickOwner(j)
		}
	}
}
