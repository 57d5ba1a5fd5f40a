package loop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// Executor carries out commands. Package executor implements it.
type Executor interface {
	Submit(tasks ...events.Task)
	// TakeBack withdraws tasks that have not begun or were never submitted. Every task still gets an outcome.
	TakeBack(tasks ...events.Task)
	// Hasten raises the priority of submitted tasks that have not begun.
	Hasten(tasks ...events.Task)
	// Stop withdraws tasks that have not begun, and waits for the others until ctx ends.
	Stop(ctx context.Context)
}

// Runner runs a Loop: it waits for inputs, makes turns, and passes commands to the executor. Lost and Prunes may be
// nil; all other exported fields are required.
type Runner struct {
	Loop     *Loop
	Queue    *Queue
	Executor Executor
	Clock    *Clock
	Log      *slog.Logger
	// Full is called at least once a second while the log has no space, so that no turn can be made, with true; then
	// once with false when it has space again. It may read the Loop.
	Full func(full bool)
	// Relist makes the informer list everything again. It is called after the log has had no space for a time, because
	// changes were seen only in part in that time.
	Relist func()
	// Behind tells the informer that the cluster was restored to an earlier state, with the proof and the epoch (life
	// of the log) in which it was found. It is called repeatedly until the next epoch begins.
	Behind func(life events.Identity, proof events.Rewind)
	// ServerTime returns the time of the API server; ok is false if it is not available.
	ServerTime func(context.Context) (t time.Time, ok bool)
	// Drain is the longest time that a stop waits for commands in flight.
	Drain time.Duration
	// Lost is closed when the Lease is lost, even during a stop. From then on the Runner does not wait for commands in
	// flight. Nil without a Lease.
	Lost <-chan struct{}
	// Show is called between turns, when nothing changes the state; readers of the state may use it to copy what they
	// need.
	Show func(*Loop)
	// Prunes delivers requests to prune the log. Nil if it is never pruned.
	Prunes <-chan Pruning

	full    bool           // the log had no space at the last turn
	halted  bool           // the executor was stopped, because another controller was found
	saving  sync.WaitGroup // counts snapshots that are being written
	pruned  []pruned       // requests to delete files whose Pruned record is not durable yet
	doubted time.Duration  // a step of the wall clock that contradicts the API server: reported, not followed
}

const (
	clockCheck = time.Second // interval of wall clock checks
	// interval at which a turn is tried again while the log has no space
	roomRetry = time.Second
)

// Run makes turns until ctx ends or the log fails. When ctx ends, it makes no further decision, withdraws commands that
// have not begun, and records the outcomes of the others; it then returns nil. Otherwise it returns the log's error.
func (r *Runner) Run(ctx context.Context) error {
	if started, err := r.start(ctx); !started {
		return err
	}
	durable, failed := r.watchDurable()
	defer r.saving.Wait()
	clock := time.NewTicker(clockCheck)
	defer clock.Stop()
	wake := time.NewTimer(0)
	defer wake.Stop()
	for {
		full, err := r.turn()
		if err != nil {
			return r.ended(err)
		}
		r.hand(r.Loop.Asks())
		r.hasten()
		if life, proof, ok := r.Loop.Returned(); ok {
			r.Behind(life, proof)
		}
		r.halt(ctx)
		r.Show(r.Loop)
		r.save(ctx)
		if r.full && !full {
			r.Relist()
		}
		r.full = full
		r.Full(full)
		wake.Reset(r.sleep(full))
		ready := r.Queue.ready
		if full {
			ready = nil
		}
		select {
		case <-ready:
		case <-wake.C:
		case seq := <-durable:
			r.act(seq)
		case p := <-r.Prunes:
			r.prune(p)
		case <-clock.C:
			r.followClock(ctx)
		case err := <-failed:
			return logFailed(err)
		case <-ctx.Done():
			return r.stop(durable, failed)
		}
	}
}

// ended returns the error with which Run ends. If the loop ended because records of the log are lost, it first waits
// until the loop's last record is durable.
func (r *Runner) ended(err error) error {
	if loss := (*LossError)(nil); errors.As(err, &loss) {
		storing, done := context.WithTimeout(context.Background(), storeWithin)
		defer done()
		_, unstored := r.Loop.log.Wait(storing, r.Loop.next-2)
		return errors.Join(err, unstored)
	}
	return err
}

// logFailed returns the error of a log that accepts no more records, in words for the operator.
func logFailed(err error) error {
	if errors.Is(err, store.ErrFenced) {
		return fmt.Errorf("this controller stops, and sends nothing more: %w", err)
	}
	return fmt.Errorf("the log failed: %w", err)
}

// halt stops the executor once, after another controller was found at work on our Jobs. The goroutine ends when all
// calls in flight have ended. The end of ctx must not cancel these calls, because a stop of the process waits for them
// (Drain).
func (r *Runner) halt(ctx context.Context) {
	if !r.halted && r.Loop.Halted() {
		r.halted = true
		go r.Executor.Stop(context.WithoutCancel(ctx))
	}
}

// start writes the records of a start. While the log has no space, it tries again; if ctx ends first, it returns false
// and no error. The informer need not list again after this wait: the record that begins the listing comes before all
// its inputs.
func (r *Runner) start(ctx context.Context) (started bool, err error) {
	for {
		err := r.Loop.Start(r.Clock.Now())
		if !errors.Is(err, store.ErrNoRoom) {
			return err == nil, err
		}
		r.Full(true)
		select {
		case <-time.After(roomRetry):
		case <-ctx.Done():
			return false, nil
		}
	}
}

// watchDurable returns a channel with the newest durable sequence, and one with the log's error. Its goroutine ends
// when the log is closed or fails.
func (r *Runner) watchDurable() (<-chan events.Sequence, <-chan error) {
	durable, failed := make(chan events.Sequence, 1), make(chan error, 1)
	go func() {
		at := events.Sequence(0)
		for {
			next, err := r.Loop.log.Wait(context.Background(), at)
			if err != nil {
				if !errors.Is(err, store.ErrClosed) {
					failed <- err
				}
				return
			}
			at = next
			select {
			case <-durable: // the newer sequence replaces one that was not received
			default:
			}
			durable <- at
		}
	}()
	return durable, failed
}

// turn makes one turn if there are inputs, or if something is due. full reports that the log has no space.
func (r *Runner) turn() (full bool, err error) {
	inputs := r.Queue.waiting()
	now := r.Clock.Now()
	if wake := r.Loop.Wake(); len(inputs) == 0 && (wake == 0 || wake > now) {
		return false, nil
	}
	n, err := r.Loop.Turn(now, inputs)
	if errors.Is(err, store.ErrNoRoom) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	r.Queue.taken(n)
	return false, nil
}

// turns makes turns until there are no inputs and nothing is due, or the log has no space.
func (r *Runner) turns() error {
	for {
		full, err := r.turn()
		if err != nil || full || r.sleep(false) > 0 {
			return err
		}
	}
}

func (r *Runner) act(seq events.Sequence) {
	r.prunedThrough(seq)
	r.hand(r.Loop.Durable(seq))
}

func (r *Runner) hand(tasks, back []events.Task) {
	if len(tasks) > 0 {
		r.Executor.Submit(tasks...)
	}
	if len(back) > 0 {
		r.Executor.TakeBack(back...)
	}
}

func (r *Runner) hasten() {
	if tasks := r.Loop.Hastened(); len(tasks) > 0 {
		r.Executor.Hasten(tasks...)
	}
}

func (r *Runner) sleep(full bool) time.Duration {
	if full {
		return roomRetry
	}
	if r.Queue.Len() > 0 {
		return 0
	}
	if at := r.Loop.Wake(); at != 0 {
		return r.Clock.Until(at)
	}
	return time.Hour
}

// save writes a finished snapshot in a goroutine, which ends when the snapshot is written or ctx ends. An error is only
// logged, because the loss of a snapshot only costs time at the next start.
func (r *Runner) save(ctx context.Context) {
	snapshot, ok := r.Loop.TakeSnapshot()
	if !ok {
		return
	}
	r.saving.Go(func() {
		if err := r.Loop.log.SaveSnapshot(ctx, snapshot); err != nil && ctx.Err() == nil {
			r.Log.Warn("save snapshot", "error", err)
		}
	})
}

// followClock makes the loop's clock follow a change of the wall clock. It ignores a step forward that contradicts the
// API server's clock, because deadlines would pass too early (design §4).
func (r *Runner) followClock(ctx context.Context) {
	step, ok := r.Clock.Stepped()
	if !ok {
		return
	}
	if step.Step > 0 {
		if r.doubted == step.Step.Round(time.Minute) {
			return
		}
		if server, ok := r.ServerTime(ctx); ok && server.Before(time.Now().Add(-clockTolerance)) {
			r.doubted = step.Step.Round(time.Minute)
			r.Log.Warn("the clock was set forward, and the API server's clock says otherwise: not followed", "step", step.Step)
			return
		}
	}
	r.Log.Warn("the clock was set", "step", step.Step)
	r.Clock.Follow(step)
	r.Loop.Step(r.Clock.Now(), step)
}

// storeWithin is how much longer than Drain a stop may wait until its last records are durable. One write to a busy
// disk may take seconds.
const storeWithin = 5 * time.Second

// stop ends the run in an orderly way: it waits up to Drain for commands in flight, and then up to storeWithin more
// until their outcomes are durable.
func (r *Runner) stop(durable <-chan events.Sequence, failed <-chan error) error {
	storing, done := context.WithTimeout(context.Background(), r.Drain+storeWithin)
	defer done()
	ctx, cancel := context.WithTimeout(storing, r.Drain)
	defer cancel()
	hands, giveUp := context.WithCancel(ctx)
	defer giveUp()
	lost := r.Lost
	lose := func() {
		r.Loop.Lose(r.Clock.Now())
		giveUp()
		lost = nil
	}
	select {
	case <-lost:
		lose()
	default:
	}
	r.hand(nil, r.Loop.Stop(r.Clock.Now()))
	stopped := make(chan struct{})
	go func() { // ends with ctx at the latest
		defer close(stopped)
		r.Executor.Stop(hands)
	}()
	for draining := true; draining; {
		if err := r.turns(); err != nil {
			return err
		}
		select {
		case <-r.Queue.ready:
		case <-durable: // drop it: it only matters for sending commands, and none are sent any more
		case <-lost:
			lose()
		case err := <-failed:
			return logFailed(err)
		case <-stopped:
			draining = false
		}
	}
	return r.store(ctx, storing)
}

// store waits until the outcomes of commands are durable, or storing ends. Then it saves a snapshot of the state,
// unless ctx ends first.
func (r *Runner) store(ctx, storing context.Context) error {
	if err := r.turns(); err != nil {
		return err
	}
	r.Loop.Snapshot()
	// Commands may have used up all of Drain, and their outcomes must still become durable.
	if _, err := r.Loop.log.Wait(storing, r.Loop.next-2); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	r.save(ctx)
	r.saving.Wait()
	return nil
}
