package executor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// Config configures an Executor. API, Objects and Mode are required.
type Config struct {
	API     API
	Objects *Objects
	Mode    events.Mode // ModeDelegated or ModeAll

	// Seal signs the annotation by which a pod names the command that made it, so that no other client can fake it. Nil
	// for no signature.
	Seal func(namespace, command string) string

	// Term is the number of the log's writer (this process). Pods, Workloads and PodGroups get it as an annotation when
	// they are created. 0 for no annotation.
	Term uint64

	// Groups makes the requests for gang scheduling in Kubernetes 1.36. If nil, Jobs are treated as having no group.
	Groups GroupAPI
	// Workloads makes the requests for gang scheduling in Kubernetes 1.37. It takes precedence over Groups.
	Workloads WorkloadAPI
	// Unserved is called when the API server does not have the API of the group objects. It must not block. May be nil.
	Unserved func()

	// Crons makes the requests for CronJobs. If nil, CronJobs are not run.
	Crons CronAPI

	// Observe, ObservePod, ObserveCronJob and ObserveRun convert an object that was just read from the API server into
	// an observation for the log. An observation without facts is dropped. A nil function drops every observation.
	Observe        func(*kubewire.Job) events.Observation
	ObservePod     func(*kubewire.Pod) events.Observation
	ObserveCronJob func(*kubewire.CronJob) events.Observation
	ObserveRun     func(*kubewire.Job) events.Observation // a Job of a CronJob

	// Wrote is called before a command is reported as done, for each Job, CronJob or pod in an answer of the server. r
	// and uid name the object, version is its resourceVersion. life is the epoch of the log (its life since the last
	// restore of the cluster) in which the command was issued. dropped says that a finalizer was removed. May be nil.
	Wrote func(life events.Identity, r events.Resource, uid types.UID, version uint64, dropped bool)
	// Behind is called when a read finds an older version of an object than was known when the read was requested. This
	// proves that the cluster was restored to an earlier state. life is the epoch of the log (its life since the last
	// such restore) at the request. May be nil.
	Behind func(life events.Identity, proof events.Rewind)

	// May reports whether calls to the API server are allowed now. It is asked before each call, and returns false if
	// another process may hold the Lease. Tasks then wait. A nil May allows all calls.
	May func() bool
	// Within returns a context that ends when calls are no longer allowed. A call that is then in flight ends with an
	// unknown outcome. Nil for no limit.
	Within func(context.Context) (context.Context, context.CancelFunc)

	// MaxConcurrent is the maximum number of calls in flight; 64 if 0. The executor starts with 8 and adapts the
	// number.
	MaxConcurrent int
	// RequestTimeout is the time limit of one call of Run; 30 s if 0. It must be shorter than Settings.RequestTimeout,
	// the time after which a sent request certainly takes no effect any more.
	RequestTimeout time.Duration
	// StopTimeout is how long Run waits for calls in flight after its context has ended; 10 s if 0.
	StopTimeout time.Duration
}

func (c *Config) validate() error {
	switch {
	case c.API == nil:
		return errors.New("executor: no API")
	case c.Objects == nil:
		return errors.New("executor: no objects")
	case c.Mode != events.ModeDelegated && c.Mode != events.ModeAll:
		return fmt.Errorf("executor: in mode %q nothing is carried out", c.Mode)
	case c.MaxConcurrent < 0 || c.RequestTimeout < 0 || c.StopTimeout < 0:
		return errors.New("executor: a limit is negative")
	}
	if c.May == nil {
		c.May = func() bool { return true }
	}
	if c.Within == nil {
		c.Within = func(ctx context.Context) (context.Context, context.CancelFunc) { return ctx, func() {} }
	}
	if c.Unserved == nil {
		c.Unserved = func() {}
	}
	if c.Observe == nil {
		c.Observe = observeNoJob
	}
	if c.Wrote == nil {
		c.Wrote = func(events.Identity, events.Resource, types.UID, uint64, bool) {}
	}
	if c.Behind == nil {
		c.Behind = func(events.Identity, events.Rewind) {}
	}
	if c.ObserveRun == nil {
		c.ObserveRun = observeNoJob
	}
	if c.ObserveCronJob == nil {
		c.ObserveCronJob = observeNoCronJob
	}
	if c.ObservePod == nil {
		c.ObservePod = observeNoPod
	}
	orElse(&c.MaxConcurrent, 64)
	orElse(&c.RequestTimeout, 30*time.Second)
	orElse(&c.StopTimeout, 10*time.Second)
	return nil
}

func orElse[T comparable](v *T, otherwise T) {
	var zero T
	if *v == zero {
		*v = otherwise
	}
}
