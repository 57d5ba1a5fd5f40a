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

// Executor carry out commands: the executor.
type Executor interface {
	Submit(tasks ...events.Task)
	// TakeBack gives back tasks that were not begun, or never submitted; how the others end is told in any case.
	TakeBack(tasks ...events.Task)
	// Hasten makes tasks more urgent that were submitted and have not begun.
	Hasten(tasks ...events.Task)
	// Stop gives back what was not begun and waits, within ctx, for what was.
	Stop(ctx context.Context)
}

// Runner ties a Loop to the world. All fields but Lost and Prunes are required.
type Runner struct {
	Loop     *Loop
	Queue    *Queue
	Executor Executor
	Clock    *Clock
	Log      *slog.Logger
	// Full is told, at least once a second while it is so, that the log has no room for a turn or for the start (nothing
	// is done then), and when it has again. It may read the Loop.
	Full func(full bool)
	// Relist makes the informer list everything again, for the reason of a gap: what happened while the log had no room
	// was seen only in part.
	Relist func()
	// Behind tells the informer that the cluster went back, and in which life of the log that was found. It is told again
	// until the next life begins.
	Behind func(life events.Identity, proof events.Rewind)
	// ServerTime is the API server's clock; ok is false when it cannot be had.
	ServerTime func(context.Context) (t time.Time, ok bool)
	// Drain bounds how long a stop waits for commands in flight.
	Drain time.Duration
	// Lost is closed when the Lease is lost, before a stop or during it: from then on no command in flight is waited for.
	// Nil when there is no Lease.
	Lost <-chan struct{}
	// Show is called between turns, for readers of the state.
	Show func(*Loop)
	// Prunes gives what is to go of the log. Nil when it keeps everything.
	Prunes <-chan Pruning

	full    bool           // the log had no room at the last turn
	halted  bool           // the executor was stopped because another controller was found
	saving  sync.WaitGroup // a snapshot that is being written
	pruned  []pruned       // what goes, once the record that says so is durable
	doubted time.Duration  // a step of the clock that was not followed, told once
}

const (
	clockCheck = time.Second // between looks at the wall clock
	roomRetry  = time.Second // between questions for room
)

// Run makes turns until ctx ends or the log fails. After ctx has ended it stops in good order: nothing more is decided,
// commands that were not begun are given back, outcomes of the others are written down. Its error is that of the log.
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

// ended waits until the record is durable that says why the loop ended, if there is one.
func (r *Runner) ended(err error) error {
	if loss := (*LossError)(nil); errors.As(err, &loss) {
		storing, done := context.WithTimeout(context.Background(), storeWithin)
		defer done()
		_, unstored := r.Loop.log.Wait(storing, r.Loop.next-2)
		return errors.Join(err, unstored)
	}
	return err
}

// logFailed says why a run ends whose log takes nothing more.
func logFailed(err error) error {
	if errors.Is(err, store.ErrFenced) {
		return fmt.Errorf("this controller stops, and sends nothing more: %w", err)
	}
	return fmt.Errorf("the log failed: %w", err)
}

// halt stops the executor once another controller was found. The goroutine ends when all that was begun has ended. It
// is not ended by ctx, which would give up what is in flight: a stop waits for that (Drain).
func (r *Runner) halt(ctx context.Context) {
	if !r.halted && r.Loop.Halted() {
		r.halted = true
		go r.Executor.Stop(context.WithoutCancel(ctx))
	}
}

// start writes what every start writes. Without room it waits as a turn does; when ctx ends first, it has not started
// and there is no error. Nothing needs to be listed again then: what the informer lists meanwhile waits behind the
// record that opens the listing, and that record bounds what was missed.
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

// watchDurable reports how far the log is durable, always the newest sequence, until the log closes or fails. The
// goroutine ends with the log.
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
			case <-durable: // overtaken before it was looked at
			default:
			}
			durable <- at
		}
	}()
	return durable, failed
}

// turn makes one turn, if anything waits. full reports that the log has no room.
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

// turns makes turns until nothing waits.
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

// save writes a finished snapshot beside the loop. Losing one costs time only, so an error is told and no more. The
// goroutine ends when it is written, or with ctx.
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

// followClock looks whether the wall clock was set, and follows it; but not forward when the API server's clock says
// otherwise: deadlines would pass that have not (design §4).
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

// storeWithin is how much longer than the drain a stop may wait until its last records are durable: a disk that others
// keep busy may take seconds for one write.
const storeWithin = 5 * time.Second

// stop ends in good order, within the bounds.
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
		case <-durable: // no command leaves any more
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

// store makes durable what the commands have ended as, until storing ends, and saves a snapshot of it, until ctx does.
func (r *Runner) store(ctx, storing context.Context) error {
	if err := r.turns(); err != nil {
		return err
	}
	r.Loop.Snapshot()
	// Drain may be over: it was spent on calls that hung. What they ended as is still to become durable.
	if _, err := r.Loop.log.Wait(storing, r.Loop.next-2); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	r.save(ctx)
	r.saving.Wait()
	return nil
}
