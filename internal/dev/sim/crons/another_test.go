package crons

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/subject/schedule"
)

// another is a second controller of CronJobs, written from the contract without our code. It reconciles in one step,
// and its requests take time. At times it is down, and it dies in the middle of its work. It knows which runs it has
// started.
type another struct {
	*machine
	client *apiserver.Client
	up     bool
	life   int
	calm   bool               // its requests are fast, and always succeed
	ahead  time.Duration      // by how much its clock is ahead
	busy   map[types.UID]bool // a reconcile is in progress
	again  map[types.UID]bool // something happened during the reconcile

	edited map[types.UID]events.Time // when the schedule was last changed
	starts map[types.UID][]start
}

// start is a Job that another made.
type start struct {
	due events.Time
	job types.UID
	off bool // it was not due by the schedule that the log knew then (C-094)
}

func newAnother(m *machine) *another {
	return &another{
		machine: m, client: m.world.Server.Client("kube-controller-manager"), ahead: time.Duration(m.r.IntN(2000)-1000) * time.Millisecond,
		busy: map[types.UID]bool{}, again: map[types.UID]bool{}, edited: map[types.UID]events.Time{}, starts: map[types.UID][]start{},
	}
}

func (b *another) begin() {
	b.up = true
	b.life++
	clear(b.busy)
	clear(b.again)
	for _, c := range b.world.Server.AllCronJobs() {
		b.kick(c.Name)
	}
}

// stop kills it. Requests in flight may still take effect.
func (b *another) stop() { b.up = false }

// soon calls the function `do` after d, if the controller still lives then.
func (b *another) soon(d time.Duration, do func()) {
	life := b.life
	b.after(d, "another", func() {
		if b.up && b.life == life {
			do()
		}
	})
}

func (b *another) millis(n int) time.Duration { return time.Duration(b.r.IntN(n)) * time.Millisecond }

// kick makes it look at a CronJob soon.
func (b *another) kick(name string) {
	if b.up {
		b.soon(b.millis(80), func() { b.reconcile(name) })
	}
}

// rescheduled makes it look at the next due time of the new schedule (C-093).
func (b *another) rescheduled(c *batchv1.CronJob) {
	b.edited[c.UID] = events.At(b.world.Clock.Now())
	if at := scheduleOf(c).Wake(anchorOf(c), b.clock()); b.up && !at.IsZero() {
		b.soon(at.Sub(b.clock()), func() { b.reconcile(c.Name) })
	}
}

func (b *another) clock() time.Time { return b.world.Clock.Now().Add(b.ahead) }

func scheduleOf(c *batchv1.CronJob) schedule.Schedule {
	zone := time.UTC
	if c.Spec.TimeZone != nil {
		var err error
		if zone, err = time.LoadLocation(*c.Spec.TimeZone); err != nil {
			panic(err)
		}
	}
	s, err := schedule.Parse(c.Spec.Schedule, zone, nil)
	if err != nil {
		panic(err)
	}
	return s
}

func anchorOf(c *batchv1.CronJob) time.Time {
	if c.Status.LastScheduleTime != nil {
		return c.Status.LastScheduleTime.Time
	}
	return c.CreationTimestamp.Time
}

func (b *another) reconcile(name string) {
	c := b.world.Server.CronJob("default", name)
	switch {
	case c == nil:
		return
	case b.busy[c.UID]:
		b.again[c.UID] = true
		return
	}
	c = c.DeepCopy()
	b.tidy(c)
	c.Status.Active = slices.DeleteFunc(c.Status.Active, func(r corev1.ObjectReference) bool {
		j := b.world.Server.Job("default", r.Name)
		return j == nil || j.UID != r.UID || over(j)
	})
	if *c.Spec.Suspend {
		b.write(c)
		return
	}
	now, s := b.clock(), scheduleOf(c)
	due, err := s.Due(schedule.Anchor(anchorOf(c), now, c.Spec.StartingDeadlineSeconds), now)
	if err != nil {
		return
	}
	if at := s.Wake(anchorOf(c), now); !at.IsZero() {
		b.soon(at.Sub(now), func() { b.reconcile(name) })
	}
	last := c.Status.LastScheduleTime
	switch {
	case due.At.IsZero() || last != nil && last.Time.Equal(due.At), c.Spec.ConcurrencyPolicy == "Forbid" && len(c.Status.Active) > 0:
		b.write(c)
		return
	case c.Spec.ConcurrencyPolicy == "Replace":
		for _, r := range c.Status.Active {
			b.remove(r.Name)
		}
		c.Status.Active = nil
	}
	b.create(c, due.At)
}

func over(j *batchv1.Job) bool {
	return slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
		return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
	})
}

// create makes the Job of a due time. The request takes time, and is refused now and then. It takes effect even if the
// controller is dead by then.
func (b *another) create(c *batchv1.CronJob, at time.Time) {
	b.busy[c.UID] = true
	delay, life := 5*time.Millisecond+b.millis(100), b.life
	if b.r.IntN(60) == 0 && !b.calm {
		delay = b.millis(55_000)
	}
	refused := b.r.IntN(40) == 0 && !b.calm
	b.after(delay, "create", func() {
		var made *batchv1.Job
		if !refused {
			made = b.make(c, at)
		}
		if !b.up || b.life != life {
			return
		}
		b.busy[c.UID] = false
		switch {
		case made == nil:
			b.soon(time.Duration(1+b.r.IntN(90))*time.Second, func() { b.reconcile(c.Name) })
			return
		case slices.ContainsFunc(c.Status.Active, func(r corev1.ObjectReference) bool { return r.UID == made.UID }):
			return
		}
		c.Status.Active = append(c.Status.Active, corev1.ObjectReference{Kind: "Job", APIVersion: "batch/v1", Namespace: "default", Name: made.Name, UID: made.UID})
		c.Status.LastScheduleTime = &metav1.Time{Time: at}
		b.busy[c.UID] = true
		b.soon(b.millis(200), func() {
			b.busy[c.UID] = false
			b.write(c)
			if b.again[c.UID] {
				b.again[c.UID] = false
				b.kick(c.Name)
			}
		})
	})
}

// make returns the Job of a due time, existing (C-160) or new; nil if none can be made.
func (b *another) make(c *batchv1.CronJob, at time.Time) *batchv1.Job {
	stored := b.world.Server.CronJob("default", c.Name)
	if stored == nil || stored.UID != c.UID {
		return nil
	}
	name := fmt.Sprintf("%s-%d", c.Name, at.Unix()/60)
	if j := b.world.Server.Job("default", name); j != nil {
		if owner := metav1.GetControllerOf(j); owner == nil || owner.UID != c.UID {
			return nil
		}
		return j
	}
	j := jobOf(c, name)
	j.Annotations = map[string]string{batchv1.CronJobScheduledTimestampAnnotation: at.UTC().Format(time.RFC3339)}
	made, err := b.client.CreateJob(b.t.Context(), j)
	b.must(err)
	b.starts[c.UID] = append(b.starts[c.UID], start{due: events.At(at), job: made.UID, off: events.At(at) <= b.edited[c.UID] || b.stale(c)})
	return made
}

// stale reports whether the log does not know the schedule yet, because it was changed while nothing was watched.
func (b *another) stale(c *batchv1.CronJob) bool {
	if b.process == nil {
		return true
	}
	known := b.process.Loop.World().CronJob(events.CronJobStream(c.UID))
	return known == nil || known.Seen.Schedule != c.Spec.Schedule
}

// jobOf returns a Job of a CronJob. A third controller, played by the test, runs it.
func jobOf(c *batchv1.CronJob, name string) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "batch/v1", Kind: "CronJob", Name: c.Name, UID: c.UID, Controller: new(true), BlockOwnerDeletion: new(true),
		}}},
		Spec: *c.Spec.JobTemplate.Spec.DeepCopy(),
	}
}

// write stores the status, if the CronJob still is the same object.
func (b *another) write(c *batchv1.CronJob) {
	stored := b.world.Server.CronJob("default", c.Name)
	if stored == nil || stored.UID != c.UID {
		return
	}
	same := stored.Status.LastScheduleTime.Equal(c.Status.LastScheduleTime) &&
		slices.EqualFunc(stored.Status.Active, c.Status.Active, func(a, b corev1.ObjectReference) bool { return a.UID == b.UID })
	if same {
		return
	}
	if _, err := b.client.UpdateCronJobStatus(b.t.Context(), c); err != nil || b.r.IntN(100) == 0 && !b.calm {
		if err != nil && !apierrors.IsConflict(err) {
			b.must(err)
		}
		b.soon(10*time.Millisecond+b.millis(1000), func() { b.reconcile(c.Name) })
		return
	}
	b.kick(c.Name)
}

func (b *another) remove(name string) {
	if j := b.world.Server.Job("default", name); j != nil {
		b.must(b.client.DeleteJob(b.t.Context(), "default", name, j.UID, metav1.DeletePropagationBackground))
	}
}

// tidy deletes the oldest finished Jobs beyond the limits.
func (b *another) tidy(c *batchv1.CronJob) {
	for _, kept := range []struct {
		kind  batchv1.JobConditionType
		limit int32
	}{{batchv1.JobComplete, *c.Spec.SuccessfulJobsHistoryLimit}, {batchv1.JobFailed, *c.Spec.FailedJobsHistoryLimit}} {
		var ended []*batchv1.Job
		for _, j := range b.world.Server.StoredJobs() {
			owner := metav1.GetControllerOf(j)
			if owner != nil && owner.UID == c.UID && slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool { return c.Type == kept.kind }) {
				ended = append(ended, j)
			}
		}
		slices.SortFunc(ended, func(a, b *batchv1.Job) int {
			return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
		})
		for _, j := range ended[:max(0, len(ended)-int(kept.limit))] {
			b.remove(j.Name)
		}
	}
}
