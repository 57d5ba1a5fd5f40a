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

	// Seal returns the value with which a pod proves the origin of its command annotation. Nil for none.
	Seal func(namespace, command string) string

	// Term is the log's term, an annotation of all created objects. 0 for none.
	Term uint64

	// Groups is used for gang scheduling in Kubernetes 1.36. Without it, Jobs count as having no group.
	Groups GroupAPI
	// Workloads is used for gang scheduling in Kubernetes 1.37. It takes precedence over Groups.
	Workloads WorkloadAPI
	// Unserved is called when the API server does not serve the group objects. It must not block. May be nil.
	Unserved func()

	// Crons is used for CronJobs. Without it they are not run.
	Crons CronAPI

	// Observe, ObservePod, ObserveCronJob and ObserveRun convert an object that was read live into an observation. An
	// observation without facts is dropped, and a nil function drops all.
	Observe        func(*kubewire.Job) events.Observation
	ObservePod     func(*kubewire.Pod) events.Observation
	ObserveCronJob func(*kubewire.CronJob) events.Observation
	ObserveRun     func(*kubewire.Job) events.Observation // a Job of a CronJob

	// Wrote is called before a command is reported as done, with the version of each Job, CronJob or Pod in an answer,
	// and the epoch in which it was requested. dropped says that a finalizer is gone. May be nil.
	Wrote func(life events.Identity, r events.Resource, uid types.UID, version uint64, dropped bool)
	// Behind is called when a live read finds an object older than was known when the read was requested, in that epoch:
	// the cluster was rewound. May be nil.
	Behind func(life events.Identity, proof events.Rewind)

	// May is asked before each call whether calls are allowed; they are not if another process may hold the Lease by now.
	// Tasks then wait. Nil means always.
	May func() bool
	// Within returns a context that ends when calls are no longer allowed; the call then ends unknown. Nil for no limit.
	Within func(context.Context) (context.Context, context.CancelFunc)

	// MaxConcurrent limits the calls in flight; 64 if 0. The executor starts with 8.
	MaxConcurrent int
	// RequestTimeout limits one call of Run; 30 s if 0. It must be shorter than Settings.RequestTimeout, after which a
	// sent request no longer takes effect.
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
