package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/test/binaries"
)

// patience limits the time of a lap (one workload, run once by one controller). The longest takes a few minutes.
const patience = 15 * time.Minute

// run is one workload, while one contender (a compared controller) runs it.
type run struct {
	*bench
	workload  *workload
	contender *contender
	namespace string
	dir       string // where the contender keeps its state

	process *process
	looker  *process // the Jobledger that only observes; nil: none
	gone    usage    // what the killed processes of the contender used
	shapes  []shape  // the created Jobs, with their expected outcome
	crons   crons    // the CronJobs of w11 and w12
	extra   map[string]float64
}

// lap makes a contender (a compared controller) run a workload. It measures the costs, checks the outcome, and deletes
// the Jobs.
func (b *bench) lap(ctx context.Context, w *workload, c *contender) (lap Lap, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("it was not over within %s", patience))
	defer cancel()
	r, err := b.newRun(ctx, w, c)
	if err != nil {
		return lap, err
	}
	defer func() { err = errors.Join(err, r.clear(context.WithoutCancel(ctx))) }()
	if w.measure != nil {
		return w.measure(ctx, r)
	}
	if _, err := r.start(ctx); err != nil {
		return lap, err
	}
	return r.measure(ctx)
}

func (b *bench) newRun(ctx context.Context, w *workload, c *contender) (*run, error) {
	r := &run{bench: b, workload: w, contender: c, extra: map[string]float64{}}
	var err error
	if r.namespace, err = b.namespace(ctx); err != nil {
		return nil, err
	}
	r.dir = filepath.Join(b.dir, r.namespace)
	if err := os.Mkdir(r.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make a directory for %s: %w", c.name, err)
	}
	return r, nil
}

// namespace creates a namespace, and lets the stopwatch note what happens there. It returns its name.
func (b *bench) namespace(ctx context.Context) (string, error) {
	b.namespaces++
	name := fmt.Sprintf("bench-%d", b.namespaces)
	b.watch.open(name)
	_, err := b.client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("make a namespace: %w", err)
	}
	return name, b.cp.AwaitNamespace(ctx, name)
}

// start starts the contender (a compared controller), and returns when it is warm: it has run a first Job, and is idle
// again. This Job is created before the process starts. The result is the time from the start of the process until the
// pod of this Job is seen.
func (r *run) start(ctx context.Context) (time.Duration, error) {
	namespace, err := r.bench.namespace(ctx)
	if err != nil {
		return 0, err
	}
	defer r.watch.shut(namespace)
	canary := shape{name: "canary", pods: 1, parallelism: 1, alike: true}
	if err := r.createIn(ctx, namespace, canary); err != nil {
		return 0, err
	}
	began := time.Now()
	if r.process, err = r.contender.start(r.dir, r.workload.flags...); err != nil {
		return 0, err
	}
	if r.observer != nil && r.contender.name == Builtin {
		if r.looker, err = r.observer.start(r.dir); err != nil {
			return 0, err
		}
	}
	err = r.awaitIn(ctx, namespace, func(f *field) bool { return f.over(1) })
	if err != nil {
		return 0, fmt.Errorf("wait until %s has run a first Job: %w", r.contender.name, err)
	}
	took := r.watch.fields[namespace].jobs[canary.name].firstPod.Sub(began)
	return took, errors.Join(r.rest(ctx), r.clearIn(ctx, namespace))
}

// create creates Jobs of these shapes, several at a time, and returns when the API server has answered all requests.
func (r *run) create(ctx context.Context, shapes ...shape) error {
	shapes = r.foretell(shapes)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(16)
	for _, s := range shapes {
		g.Go(func() error { return r.createIn(ctx, r.namespace, s) })
	}
	return g.Wait()
}

// foretell notes, before Jobs of these shapes (descriptions of Jobs) are created, which outcome each must have. It
// returns the shapes with their expected failures.
func (r *run) foretell(shapes []shape) []shape {
	shapes = slices.Clone(shapes)
	for i := range shapes {
		shapes[i].alike = r.workload.alike
		r.shapes = append(r.shapes, r.config.Setting.expected(shapes[i]))
	}
	return shapes
}

func (r *run) createIn(ctx context.Context, namespace string, s shape) error {
	r.watch.foretell(namespace, s, r.config.Setting.fates(s))
	r.watch.expect(namespace, s.name)
	if _, err := r.client.BatchV1().Jobs(namespace).Create(ctx, r.job(s), metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create Job %s: %w", s.name, err)
	}
	r.watch.created(namespace, s.name)
	return nil
}

// await waits until done returns true for what the stopwatch has seen in the workload's namespace. If the contender's
// process ends before, it returns an error.
func (r *run) await(ctx context.Context, done func(*field) bool) error {
	return r.awaitIn(ctx, r.namespace, done)
}

func (r *run) awaitIn(ctx context.Context, namespace string, done func(*field) bool) error {
	ctx, cancel := r.process.watch(ctx)
	defer cancel()
	return r.watch.await(ctx, namespace, done)
}

// finish waits until all created Jobs are finished and their pods have no finalizer.
func (r *run) finish(ctx context.Context) error {
	if err := r.await(ctx, func(f *field) bool { return f.over(len(r.shapes)) }); err != nil {
		return fmt.Errorf("wait until all is over: %w", err)
	}
	return nil
}

// quiet is how long a controller must have sent no request to count as idle.
const quiet = time.Second

// rest waits until the contender (a compared controller) sends no requests any more. What it still writes after the
// end of a Job is part of its cost.
func (r *run) rest(ctx context.Context) error {
	poll := time.NewTicker(quiet / 10)
	defer poll.Stop()
	size, since := int64(-1), time.Now()
	for {
		info, err := os.Stat(r.auditLog())
		if err != nil {
			return fmt.Errorf("wait until %s comes to rest: %w", r.contender.name, err)
		}
		if info.Size() != size {
			size, since = info.Size(), time.Now()
		}
		if time.Since(since) >= quiet {
			return nil
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// clear stops the contender, and deletes everything that this workload created in the cluster.
func (r *run) clear(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 2*time.Minute, errors.New("clearing up was not over within two minutes"))
	defer cancel()
	var err error
	if r.process != nil {
		err = r.process.stop(ctx)
	}
	if r.looker != nil {
		err = errors.Join(err, r.looker.stop(ctx))
	}
	r.watch.shut(r.namespace)
	return errors.Join(err, r.clearIn(ctx, r.namespace))
}

func (r *run) clearIn(ctx context.Context, namespace string) error {
	now, background := int64(0), metav1.DeletePropagationBackground
	jobs := metav1.DeleteOptions{PropagationPolicy: &background}
	if err := r.client.BatchV1().CronJobs(namespace).DeleteCollection(ctx, jobs, metav1.ListOptions{}); err != nil {
		return fmt.Errorf("remove CronJobs: %w", err)
	}
	if err := r.client.BatchV1().Jobs(namespace).DeleteCollection(ctx, jobs, metav1.ListOptions{}); err != nil {
		return fmt.Errorf("remove Jobs: %w", err)
	}
	pods := metav1.DeleteOptions{GracePeriodSeconds: &now}
	if err := r.client.CoreV1().Pods(namespace).DeleteCollection(ctx, pods, metav1.ListOptions{}); err != nil {
		return fmt.Errorf("remove pods: %w", err)
	}
	left, err := r.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list what is left: %w", err)
	}
	// Pods with a finalizer are left only after a wrong outcome. Remove it, or they would never be deleted.
	for i := range left.Items {
		pod := &left.Items[i]
		pod.Finalizers = nil
		if _, err := r.client.CoreV1().Pods(namespace).Update(ctx, pod, metav1.UpdateOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("remove pod %s: %w", pod.Name, err)
		}
	}
	return nil
}

// mark is what all processes of the bench have used up to one moment.
type mark struct {
	at        time.Time
	machine   machine
	contender usage
	observer  usage
	server    usage
	etcd      usage
	around    usage // scheduler, kwok and controllers of a cluster (profile Cluster)
	link      usage
	self      usage
}

// cluster returns the CPU time of what a cluster consists of: controllers, API server and etcd, without the bench and
// the simulated kubelets and network.
func (m *mark) cluster() time.Duration {
	return m.contender.cpu + m.observer.cpu + m.server.cpu + m.etcd.cpu + m.around.cpu
}

// mark reads what all processes have used. pid is the contender's process, looker the observer's; 0 stands for none.
func (b *bench) mark(pid, looker int) (m mark, err error) {
	m.at = time.Now()
	if m.machine, err = machineNow(); err != nil {
		return m, err
	}
	for _, p := range []struct {
		pid int
		to  *usage
	}{
		{pid, &m.contender}, {looker, &m.observer}, {b.cp.PID(binaries.APIServer), &m.server}, {b.cp.PID(binaries.Etcd), &m.etcd},
		{b.cp.PID(binaries.ControllerManager), &m.around}, {b.cp.PID(binaries.Scheduler), &m.around}, {b.cp.PID(binaries.Kwok), &m.around},
		{b.line.pid, &m.link}, {os.Getpid(), &m.self},
	} {
		if p.pid == 0 {
			continue
		}
		used, err := usageOf(p.pid)
		if err != nil {
			return m, err
		}
		used.cpu += p.to.cpu
		*p.to = used
	}
	return m, nil
}
