package executor

import (
	"sync"
	"time"

	"github.com/jobledger/jobledger/events"
)

// Executor carries out tasks. Its methods may be called from any goroutine; the order of Submit and Withdraw is that of
// their calls.
type Executor struct {
	config Config
	wake   chan struct{} // holds a token when Run has something to look at

	mu       sync.Mutex
	limit    limiter
	queue    queue
	waiting  map[events.CommandName]*item // not begun, in queue
	given    fifo[*item]                  // withdrawn, for Next to give back
	running  map[events.CommandName]*item // given back, or handed out by Next; not Done
	inFlight int                          // those of running that are requests
	byStream map[events.Stream]int        // inFlight by stream
	stopped  bool
	idle     chan struct{} // closed when stopped and nothing is left
	cancel   func()        // ends the calls that Run has in flight; nil while it does not run
}

// New makes an executor that has nothing to do.
func New(config Config) (*Executor, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	return &Executor{
		config:   config,
		wake:     make(chan struct{}, 1),
		limit:    newLimiter(config.MaxConcurrent),
		queue:    newQueue(),
		waiting:  map[events.CommandName]*item{},
		running:  map[events.CommandName]*item{},
		byStream: map[events.Stream]int{},
		idle:     make(chan struct{}),
	}, nil
}

// Submit takes tasks whose records are durable. It does not wait. A task that is being worked on already is passed over;
// after Stop they are given back. A Withdraw command withdraws, and has no end of its own.
func (e *Executor) Submit(tasks ...Task) {
	e.mu.Lock()
	for i := range tasks {
		e.submitLocked(tasks[i])
	}
	e.mu.Unlock()
	e.ring()
}

func (e *Executor) submitLocked(t Task) {
	if w, ok := t.Command.(*events.Withdraw); ok {
		e.withdrawLocked(w.Command)
		return
	}
	if e.waiting[t.Name] != nil || e.running[t.Name] != nil {
		return
	}
	if t.Priority == 0 {
		t.Priority = PriorityOf(t.Command)
	}
	it := &item{task: t, key: keyOf(&t, e.config.Identity)}
	if e.stopped {
		e.giveLocked(it)
		return
	}
	e.waiting[t.Name] = it
	e.queue.add(it)
}

func keyOf(t *Task, id events.Identity) key {
	k := key{namespace: t.Job.Namespace, name: t.Pod.Name}
	switch c := t.Command.(type) {
	case *events.CreatePod:
		k.name = podNameOf(id, t.Job, c.Ordinal, c.Index)
	case *events.ReadPod:
		k.name = podNameOf(id, t.Job, c.Ordinal, c.Index)
	case *events.WriteStatus, *events.ReadJob:
		k.job, k.name = true, t.Job.Name
	}
	return k
}

// Withdraw has a task given back that has not begun: Next hands it out, and it ends withdrawn. One that has begun, or is
// not known, is left alone.
func (e *Executor) Withdraw(name events.CommandName) {
	e.mu.Lock()
	e.withdrawLocked(name)
	e.mu.Unlock()
	e.ring()
}

func (e *Executor) withdrawLocked(name events.CommandName) {
	it := e.waiting[name]
	if it == nil {
		return
	}
	e.giveLocked(it)
	if it.ready {
		e.queue.release(it.key)
	}
}

// giveLocked puts a task aside for Next to give back.
func (e *Executor) giveLocked(it *item) {
	delete(e.waiting, it.task.Name)
	it.withdrawn = true
	e.running[it.task.Name] = it
	e.given.push(it)
}

// Next hands out the call that is to be made now, if there is one. Withdrawn tasks come first, and take no slot. When
// there is none, one may come after the next Submit, Withdraw or Done, or at Wake.
func (e *Executor) Next(now events.Time) (*Call, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.given.len() > 0 {
		return &Call{Task: e.given.pop().task, Withdrawn: true, executor: e, started: now}, true
	}
	if e.inFlight >= e.limit.slots() || now < e.limit.paused {
		return nil, false
	}
	share := e.limit.share()
	it := e.queue.take(func(s events.Stream) bool { return e.byStream[s] < share })
	if it == nil {
		return nil, false
	}
	delete(e.waiting, it.task.Name)
	e.running[it.task.Name] = it
	e.inFlight++
	e.byStream[it.task.Stream]++
	return &Call{Task: it.task, executor: e, started: now}, true
}

// Done takes notice that a call ended. The object's next command may be sent from here on.
func (e *Executor) Done(c *Call, r Result, now events.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	it := e.running[c.Task.Name]
	if it == nil {
		return
	}
	delete(e.running, c.Task.Name)
	if !c.Withdrawn {
		full := e.inFlight >= e.limit.share() // one Job cannot use more
		e.inFlight--
		if e.byStream[c.Task.Stream]--; e.byStream[c.Task.Stream] == 0 {
			delete(e.byStream, c.Task.Stream)
		}
		e.queue.release(it.key)
		if r.Ended.Sent {
			e.limit.ended(c.started, now, e.signalOf(&r.Ended, now.Sub(c.started)), full, r.Ended.RetryAfter)
		}
	}
	e.settleLocked()
}

func (e *Executor) signalOf(f *events.CommandEnded, took time.Duration) signal {
	switch {
	case f.Class == events.RefusedTooManyRequests, f.Class == events.RefusedServer && f.RetryAfter > 0:
		return overloaded
	case f.Ending == events.UnknownIf, took > e.config.SlowAfter:
		return slow
	}
	return fast
}

// Wake is when a pause ends that the server asked for; 0 when there is none. It may have passed.
func (e *Executor) Wake() events.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.limit.paused
}

// Stats is what the executor is doing, for metrics.
type Stats struct {
	Waiting  int         // tasks that have not begun
	InFlight int         // calls
	Limit    int         // calls that may be in flight now
	Paused   events.Time // when the newest pause that the server asked for ends, or ended
}

// Stats counts what the executor is doing.
func (e *Executor) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	return Stats{Waiting: len(e.waiting), InFlight: e.inFlight, Limit: e.limit.slots(), Paused: e.limit.paused}
}

// ring tells Run that there may be something to do.
func (e *Executor) ring() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}
