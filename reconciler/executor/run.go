package executor

import (
	"context"
	"errors"
	"time"

	"github.com/jobledger/jobledger/events"
)

// ended is a call that Run has started and that has ended, with its result.
type ended struct {
	call   *Call
	result events.TaskResult
}

// Run makes the calls, each in its own goroutine, and passes every result to out from one goroutine. It returns nil
// once Stop was called or ctx has ended, and every task has ended. After the end of ctx it waits up to StopTimeout for
// calls in flight; then it cancels them, and their outcome is unknown. Run may be called once.
func (e *Executor) Run(ctx context.Context, out func(events.TaskResult)) error {
	calls, cancel := context.WithCancelCause(context.WithoutCancel(ctx)) // when ctx ends, calls may still finish
	cancelAll := func() { cancel(errStopped) }
	defer cancelAll()
	e.mu.Lock()
	e.cancel = cancelAll
	e.mu.Unlock()

	begin := time.Now()
	now := func() events.Time { return events.At(begin).Add(time.Since(begin)) } // a monotonic clock
	back := make(chan ended)
	pause := time.NewTimer(0)
	defer pause.Stop()
	stopping, late := ctx.Done(), (<-chan time.Time)(nil)
	for {
		e.start(calls, now, back)
		if wake := e.Wake(); wake > now() {
			pause.Reset(wake.Sub(now()))
		} else if !e.config.May() {
			pause.Reset(mayAgain)
		}
		select {
		case r := <-back:
			// Report before Done, because Stop returns after the last Done, and all results must be reported by then
			out(r.result)
			e.Done(r.call, r.result, now())
		case <-e.wake:
		case <-pause.C:
		case <-e.idle:
			return nil
		case <-stopping:
			e.Halt()
			stopping, late = nil, time.After(e.config.StopTimeout)
		case <-late:
			cancelAll()
		}
	}
}

// errStopped is the reason given for calls that are cancelled because the process stops.
var errStopped = errors.New("the controller stops")

// mayAgain is how long Run waits before it calls Config.May again, after May has forbidden calls.
const mayAgain = 100 * time.Millisecond

// start makes every call that is allowed now, each in a goroutine. calls is their context. The goroutine ends when the
// request ends or times out, or calls is cancelled, and Run has received the result from the channel back.
func (e *Executor) start(calls context.Context, now func() events.Time, back chan<- ended) {
	for {
		call, ok := e.Next(now())
		if !ok {
			return
		}
		go func() {
			ctx, cancel := context.WithTimeout(calls, e.config.RequestTimeout)
			defer cancel()
			back <- ended{call, call.Do(ctx)}
		}()
	}
}
