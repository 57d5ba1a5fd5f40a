package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// crons has the CronJobs of a run that fall due at the time due, and the Jobs that they should create.
type crons struct {
	due  time.Time
	runs []shape // the expected Jobs
}

const (
	// never is a schedule that is not due while the bench runs (29 February). Its next due time costs more to compute
	// than that of most schedules.
	never = "0 0 29 2 *"
	// CronJobs are created before the minute in which they fall due, so early that the controller is idle again by
	// then: at least dueAfter before it, plus dueEach for each CronJob that falls due. With 1,000 CronJobs this is 40
	// s.
	dueAfter = 10 * time.Second
	dueEach  = 30 * time.Millisecond
	// dueLead is how long before the due minute the measurement begins.
	dueLead = 2 * time.Second
)

// cronJobs creates s[0] CronJobs, of which s[1] fall due in the same minute. It returns shortly before that minute.
func cronJobs(ctx context.Context, r *run, s sizes) error {
	if err := r.createCrons(ctx, "later-", s[0]-s[1], func(*batchv1.CronJob) {}); err != nil {
		return err
	}
	if err := r.rest(ctx); err != nil {
		return err
	}
	r.crons.due = time.Now().Add(dueAfter + time.Duration(s[1])*dueEach + time.Minute).UTC().Truncate(time.Minute)
	at := r.crons.due.Format("4 15 2 1 *")
	if err := r.createCrons(ctx, "due-", s[1], func(c *batchv1.CronJob) { c.Spec.Schedule = at }); err != nil {
		return err
	}
	if err := r.rest(ctx); err != nil {
		return err
	}
	for i := range s[1] { // the name of a CronJob's Job ends with its due time in minutes
		r.crons.runs = append(r.crons.runs, shape{name: fmt.Sprintf("due-%d-%d", i, r.crons.due.Unix()/60), pods: 1, parallelism: 1})
	}
	for _, s := range r.foretell(r.crons.runs) {
		r.watch.foretell(r.namespace, s, r.config.Setting.fates(s))
	}
	begin := r.crons.due.Add(-dueLead)
	if time.Now().After(begin) {
		return fmt.Errorf("%d CronJobs were not there in time: this machine is too slow for that", s[1])
	}
	return until(ctx, begin)
}

// createCrons creates n CronJobs, several at a time. change edits each CronJob before it is created.
func (r *run) createCrons(ctx context.Context, prefix string, n int, change func(*batchv1.CronJob)) error {
	utc := "Etc/UTC" // the built-in controller would otherwise use the machine's time zone
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(16)
	for i := range n {
		c := &batchv1.CronJob{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s%d", prefix, i)},
			Spec: batchv1.CronJobSpec{
				Schedule: never, TimeZone: &utc,
				JobTemplate: batchv1.JobTemplateSpec{Spec: r.job(shape{pods: 1, parallelism: 1}).Spec},
			},
		}
		change(c)
		g.Go(func() error {
			if _, err := r.client.BatchV1().CronJobs(r.namespace).Create(ctx, c, metav1.CreateOptions{}); err != nil {
				return fmt.Errorf("create CronJob %s: %w", c.Name, err)
			}
			return nil
		})
	}
	return g.Wait()
}

// until waits until the time `at`, or returns an error if ctx ends before.
func until(ctx context.Context, at time.Time) error {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// burst waits until the Jobs of all due CronJobs have ended, and then adds the figures that are measured from the due
// time on.
func burst(ctx context.Context, r *run, _ sizes) error {
	if err := r.finish(ctx); err != nil {
		return err
	}
	r.dueTimes()
	return nil
}

// burstBeside does what burst does, while further Jobs are created at a steady pace, from before the due time until
// long after it. s[2] is the number of these Jobs, s[3] how many a second.
func burstBeside(ctx context.Context, r *run, s sizes) error {
	all := small(s[2])
	if err := every(ctx, time.Second/time.Duration(s[3]), len(all), func(i int) error { return r.create(ctx, all[i]) }); err != nil {
		return err
	}
	return burst(ctx, r, s)
}

// dueTimes adds the figures that are measured from the due time of the CronJobs on.
func (r *run) dueTimes() {
	var created []time.Duration
	var pod, end time.Duration
	r.watch.in(r.namespace, func(f *field) {
		for _, s := range r.crons.runs {
			t := f.jobs[s.name]
			created = append(created, t.created.Sub(r.crons.due))
			pod, end = max(pod, t.firstPod.Sub(r.crons.due)), max(end, t.finished.Sub(r.crons.due))
		}
	})
	r.extra[keyFirstJob], r.extra[keyLastJob] = milliseconds(slices.Min(created)), milliseconds(slices.Max(created))
	r.extra[keyMedianJob] = milliseconds(quantile(created, 50))
	r.extra[keyLastPod], r.extra[keyLastFinish] = milliseconds(pod), milliseconds(end)
}

// wrong returns how the statuses of the CronJobs differ from what is expected.
func (c *crons) wrong(all []batchv1.CronJob) (wrong []string) {
	ran := 0
	for i := range all {
		t := &all[i].Status
		if all[i].Spec.Schedule == never {
			if t.LastScheduleTime != nil {
				wrong = append(wrong, "CronJob "+all[i].Name+" ran, and was not due")
			}
			continue
		}
		ran++
		if t.LastScheduleTime == nil || !t.LastScheduleTime.Equal(&metav1.Time{Time: c.due}) || t.LastSuccessfulTime == nil || len(t.Active) > 0 {
			wrong = append(wrong, fmt.Sprintf("the status of CronJob %s does not say that it ran: %+v", all[i].Name, *t))
		}
	}
	if ran != len(c.runs) {
		wrong = append(wrong, fmt.Sprintf("there are %d CronJobs that were due, not %d", ran, len(c.runs)))
	}
	return wrong
}

// suspended measures an idle contender (a compared controller) while more and more suspended CronJobs exist, which
// would otherwise be due each minute. At the end it restarts the contender, and measures it again.
func suspended(ctx context.Context, r *run) (Lap, error) {
	s := r.workload.sizes(r.config.Quick)
	if _, err := r.start(ctx); err != nil {
		return Lap{}, err
	}
	lap := Lap{Figures: map[string]float64{}}
	there := 0
	for i, keys := range [][2]string{{keySuspendedCPU0, keySuspendedRSS0}, {keySuspendedCPU1, keySuspendedRSS1}, {keySuspendedCPU2, keySuspendedRSS2}} {
		if i > 0 {
			yes := true
			err := r.createCrons(ctx, fmt.Sprintf("suspended-%d-", i), s[i]-there, func(c *batchv1.CronJob) {
				c.Spec.Schedule, c.Spec.Suspend = "* * * * *", &yes
			})
			if err != nil {
				return Lap{}, err
			}
			there = s[i]
		}
		if err := r.rest(ctx); err != nil {
			return Lap{}, err
		}
		idle, err := r.idle(ctx, s[0])
		if err != nil {
			return Lap{}, err
		}
		lap.Figures[keys[0]], lap.Figures[keys[1]] = idle.cpu, idle.rss
		lap.Others = max(lap.Others, idle.others)
	}
	err := r.again(ctx, &lap, s[0])
	return lap, err
}
