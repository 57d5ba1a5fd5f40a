package executor

import (
	"sync"

	"github.com/jobledger/jobledger/events"
)

// Executor sends commands to the API server and returns their outcomes. It decides in which order, and how many at a
// time. It is safe for concurrent use; Submit and TakeBack take effect in the order of their calls.
type Executor struct {
	config Config
	wake   chan struct{} // has an element when Run must call Next

	mu       sync.Mutex
	limit    limiter
	queue    queue
	waiting  map[events.CommandID]*item // tasks that have not begun; all are in queue
	given    fifo[*item]                // withdrawn tasks, for Next to return
	running  map[events.CommandID]*item // tasks that Next has returned, and whose Done has not been called
	inFlight int                        // calls in running, without withdrawn tasks
	byStream map[events.Stream]int      // calls in flight per stream
	stopped  bool
	idle     chan struct{} // closed when stopped and all tasks have ended
	cancel   func()        // cancels the calls that Run has started; nil while it does not run
}

// New returns an executor without tasks. It returns an error if config is invalid.
func New(config Config) (*Executor, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	return &Executor{
		config:   config,
		wake:     make(chan struct{}, 1),
		limit:    newLimiter(config.MaxConcurrent),
		queue:    newQueue(),
		waiting:  map[events.CommandID]*item{},
		running:  map[events.CommandID]*item{},
		byStream: map[events.Stream]int{},
		idle:     make(chan struct{}),
	}, nil
}

// Submit adds tasks (commands to carry out) whose records are durable. It does not block. It ignores a task that it
// already has. After Stop, new tasks end as withdrawn.
func (e *Executor) Submit(tasks ...events.Task) {
	e.mu.Lock()
	for i := range tasks {
		e.submitLocked(itemOf(tasks[i]))
	}
	e.mu.Unlock()
	e.ring()
}

func (e *Executor) submitLocked(it *item) {
	name := it.task.Name
	if e.waiting[name] != nil || e.running[name] != nil {
		return
	}
	if e.stopped {
		e.giveLocked(it)
		return
	}
	e.waiting[name] = it
	e.queue.add(it)
}

func itemOf(t events.Task) *item {
	return &item{task: t, key: keyOf(&t), priority: priorityOf(&t)}
}

func priorityOf(t *events.Task) events.Priority {
	if t.Priority != 0 {
		return t.Priority
	}
	return events.PriorityOf(t.Command)
}

// Hasten raises the priority of tasks that have not begun, to the one in the argument. It never lowers a priority, and
// ignores tasks that were not submitted.
func (e *Executor) Hasten(tasks ...events.Task) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range tasks {
		if it := e.waiting[tasks[i].Name]; it != nil && priorityOf(&tasks[i]) < it.priority {
			e.queue.hasten(it, priorityOf(&tasks[i]))
		}
	}
}

func keyOf(t *events.Task) key {
	k := key{namespace: t.Job.Namespace, name: t.Pod.Name}
	switch t.Command.Traits().Target {
	case events.TargetNewPod:
		ordinal, index := events.OrdinalOf(t.Command)
		k.name = podNameOf(t.Life, t.Job, ordinal, index)
	case events.TargetJob:
		k.cronJob = t.Stream.Kind == events.StreamCronJob
		k.job, k.name = !k.cronJob, t.Job.Name
	case events.TargetRun:
		k.job, k.name = true, events.RunNameOf(t.Command)
	case events.TargetPod, events.TargetCommand:
	}
	return k
}

// TakeBack withdraws tasks that have not begun, or that were never submitted: Next returns them, and they end as
// withdrawn. A task that has begun continues to its outcome. So every task gets an outcome, and after TakeBack no new
// request is made for these tasks.
func (e *Executor) TakeBack(tasks ...events.Task) {
	e.mu.Lock()
	for i := range tasks {
		switch name := tasks[i].Name; {
		case e.waiting[name] != nil:
			e.withdrawLocked(name)
		case e.running[name] == nil:
			it := itemOf(tasks[i])
			it.task.Again = true // the task is not known here: it may have ended, and its outcome may be recorded
			e.giveLocked(it)
		}
	}
	e.mu.Unlock()
	e.ring()
}

func (e *Executor) withdrawLocked(name events.CommandID) {
	it := e.waiting[name]
	if it == nil {
		return
	}
	e.giveLocked(it)
	if it.ready {
		e.queue.release(it.key)
	}
}

// giveLocked marks a task as withdrawn, and queues it for Next, which returns it so that it gets its outcome.
func (e *Executor) giveLocked(it *item) {
	delete(e.waiting, it.task.Name)
	it.withdrawn = true
	e.running[it.task.Name] = it
	e.given.push(it)
}

// Next returns the call to make now, if there is one. Withdrawn tasks come first and do not count as calls in flight.
// If ok is false, a call may be ready after the next Submit, TakeBack or Done, or at the time Wake.
func (e *Executor) Next(now events.Time) (*Call, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.given.len() > 0 {
		return &Call{Task: e.given.pop().task, Withdrawn: true, executor: e, started: now}, true
	}
	if e.inFlight >= e.limit.slots(now) || now < e.limit.paused || !e.config.May() {
		return nil, false
	}
	share := e.limit.share(now)
	it := e.queue.take(now, func(s events.Stream) bool { return e.byStream[s] < share })
	if it == nil {
		return nil, false
	}
	delete(e.waiting, it.task.Name)
	e.running[it.task.Name] = it
	e.inFlight++
	e.byStream[it.task.Stream]++
	return &Call{Task: it.task, executor: e, started: now, name: it.key.name}, true
}

// Done tells the executor that a call has ended. The next command for the same object may then be sent.
func (e *Executor) Done(c *Call, r events.TaskResult, now events.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	it := e.running[c.Task.Name]
	if it == nil {
		return
	}
	delete(e.running, c.Task.Name)
	if !c.Withdrawn {
		// Full means that as many calls were in flight as a single Job may have
		full := e.inFlight >= e.limit.share(now)
		e.inFlight--
		if e.byStream[c.Task.Stream]--; e.byStream[c.Task.Stream] == 0 {
			delete(e.byStream, c.Task.Stream)
		}
		e.queue.release(it.key)
		if r.Ended.Sent {
			e.limit.ended(finished{
				started: c.started, ended: now, full: full, signal: signalOf(&r.Ended), wait: r.Ended.RetryAfter,
				place: place{namespace: c.Task.Job.Namespace, kind: c.Task.Command.Traits().Kind},
			})
		}
	}
	e.settleLocked()
}

func signalOf(f *events.CommandEnded) signal {
	switch {
	case f.Class == events.RefusedTooManyRequests, f.Class == events.RefusedServer && f.RetryAfter > 0:
		return overloaded
	case f.Ending == events.OutcomeUnknown:
		return late
	case f.Ending == events.Done:
		return answered
	}
	return refused
}

// Wake returns when more calls may be allowed: the end of a pause that the server asked for, or of a measurement of its
// latency (concurrency.go). The time may be past; 0 if there was neither.
func (e *Executor) Wake() events.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return max(e.limit.paused, e.limit.probing)
}

// Stats describes the executor's load, for metrics.
type Stats struct {
	Waiting  int         // tasks that have not begun
	InFlight int         // calls in flight
	Limit    int         // current limit of calls in flight
	Paused   events.Time // end of the last pause, as requested by the server
}

// Stats returns the current load.
func (e *Executor) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	return Stats{Waiting: len(e.waiting), InFlight: e.inFlight, Limit: int(max(1, e.limit.size)), Paused: e.limit.paused}
}

// Busy reports whether a stream has so many pod creations queued (more than twice the limit of calls in flight) that
// the loop should issue no further ones now.
func (e *Executor) Busy(s events.Stream) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.queue.creates(s) > int(2*e.limit.size)
}

// ring wakes Run, so that it calls Next.
func (e *Executor) ring() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}
