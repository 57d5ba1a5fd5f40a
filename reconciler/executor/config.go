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

// Config says whom to ask and how. API, Objects and Mode are required.
type Config struct {
	API     API
	Objects *Objects
	Mode    events.Mode // ModeDelegated or ModeAll

	// Seal is what a pod in that namespace bears beside its command annotation, to show who wrote that. Nil for nothing.
	Seal func(namespace, command string) string

	// Term is that of the log, which all that is created bears as an annotation. 0 for none.
	Term uint64

	// Groups is for gang scheduling by the rules of Kubernetes 1.36; without it Jobs are found to have no group.
	Groups GroupAPI
	// Workloads is for gang scheduling by the rules of Kubernetes 1.37, and goes before Groups.
	Workloads WorkloadAPI
	// Unserved is told that the API server does not serve the objects of the two. Nil for nobody. It must not wait.
	Unserved func()

	// Crons is for CronJobs; without it they are not run.
	Crons CronAPI

	// Observe and its like make the observation of an object that was read live. One without facts is left out; so is
	// all that is read when they are nil.
	Observe        func(*kubewire.Job) events.Observation
	ObservePod     func(*kubewire.Pod) events.Observation
	ObserveCronJob func(*kubewire.CronJob) events.Observation
	ObserveRun     func(*kubewire.Job) events.Observation // of a Job of a CronJob

	// Wrote is told the version of each Job, CronJob and Pod that an answer brings, and the life of the log in which it
	// was asked for, before the command is reported as done; dropped, when the answer is that a finalizer is gone. Nil for
	// nobody.
	Wrote func(life events.Identity, r events.Resource, uid types.UID, version uint64, dropped bool)
	// Behind is told that a live read found an object older than it was known to be when the read was asked for, in that
	// life of the log: the cluster was rewound. Nil for nobody.
	Behind func(life events.Identity, proof events.Rewind)

	// May is asked before each call whether anything may be sent: not, when another process may carry out commands by now.
	// Tasks wait then. Nil for always.
	May func() bool
	// Within bounds all that a call sends by how long that is so: the context that it makes of the call's ends then, and
	// the call ends unknown. Nil for no bound.
	Within func(context.Context) (context.Context, context.CancelFunc)

	// MaxConcurrent is how many calls may be in flight at most; 64 when 0. It starts with 8.
	MaxConcurrent int
	// RequestTimeout is how long Run waits for a call; 30 s when 0. It is to be shorter than Settings.RequestTimeout, how
	// long a request that was sent may still take effect.
	RequestTimeout time.Duration
	// StopTimeout is how long Run waits for calls in flight after its context has ended; 10 s when 0.
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
