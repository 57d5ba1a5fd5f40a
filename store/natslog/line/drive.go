package line

import (
	"context"
	"errors"
	"time"

	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/natslog/fence"
	"github.com/jobledger/jobledger/store/natslog/stream"
)

// Run stores in the stream the groups of records that Before passes to it. While there are none, it checks the stream
// every 2 s. It returns ctx's error when ctx ends; otherwise the reason why this process can no longer write.
func (l *Line) Run(ctx context.Context) error {
	l.why = l.run(ctx)
	close(l.ended)
	return l.why
}

func (l *Line) run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		a := l.step(func(m *fence.Machine, now time.Duration) fence.Action { return m.Tick(now) })
		a, err := l.drive(ctx, a)
		if err != nil {
			return err
		}
		timer.Reset(a.Until - l.now())
		select {
		case <-ctx.Done():
			return ctx.Err()
		case g := <-l.groups:
			_, err := l.store(ctx, g.messages)
			g.stored <- err
			if err != nil {
				return err
			}
		case <-timer.C:
		}
	}
}

// store puts the messages of one segment into the stream. It drives the state machine of package fence until they are
// stored.
func (l *Line) store(ctx context.Context, messages [][]byte) (fence.Action, error) {
	l.mu.Lock()
	a, err := l.machine.Store(l.now(), messages)
	l.mu.Unlock()
	if err != nil {
		return a, err
	}
	return l.drive(ctx, a)
}

// drive carries out the actions of the state machine until it is idle.
func (l *Line) drive(ctx context.Context, a fence.Action) (fence.Action, error) {
	for {
		switch a.Do {
		case fence.Idle:
			return a, nil
		case fence.End:
			return a, a.Err
		case fence.Pause:
			a = l.pause(ctx, a)
		case fence.Send, fence.Look, fence.Recent:
			a = l.ask(ctx, a)
		}
		if ctx.Err() != nil && a.Do != fence.Idle {
			return a, ctx.Err()
		}
	}
}

func (l *Line) pause(ctx context.Context, a fence.Action) fence.Action {
	timer := time.NewTimer(a.Until - l.now())
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return l.step(func(m *fence.Machine, now time.Duration) fence.Action { return m.Tick(now) })
}

// ask makes the request of an action, and reports the result to the state machine. A request that fails counts as
// unanswered.
func (l *Line) ask(ctx context.Context, a fence.Action) fence.Action {
	ctx, cancel := context.WithTimeout(ctx, a.Until-l.now())
	defer cancel()
	s := l.config.Stream
	switch a.Do {
	case fence.Send:
		place, err := s.Send(ctx, a.Place, a.Message)
		return l.step(func(m *fence.Machine, now time.Duration) fence.Action {
			return m.Sent(now, place, errors.Is(err, store.ErrNoRoom))
		})
	case fence.Look:
		data, found, ends, err := l.look(ctx, a.Place)
		if stream.Gone(err) {
			return l.step((*fence.Machine).Gone)
		}
		return l.step(func(m *fence.Machine, now time.Duration) fence.Action { return m.Looked(now, found, data, ends) })
	}
	place, err := s.Newest(ctx) // Newest returns 0 on an error, which counts as no answer
	if stream.Gone(err) {
		return l.step((*fence.Machine).Gone)
	}
	return l.step(func(m *fence.Machine, now time.Duration) fence.Action { return m.Newest(now, place) })
}

// look reads the message at a place (sequence in the stream). If there is none, it also asks which messages the stream
// has.
func (l *Line) look(ctx context.Context, place uint64) (data []byte, found bool, ends fence.Ends, err error) {
	s := l.config.Stream
	data, found, err = s.At(ctx, place)
	if err == nil && !found {
		ends.Last, _ = s.Newest(ctx) // Newest returns 0 on an error, which counts as no answer
		ends.First, _ = s.First(ctx)
	}
	return data, found, ends, err
}

func (l *Line) step(tell func(m *fence.Machine, now time.Duration) fence.Action) fence.Action {
	l.mu.Lock()
	defer l.mu.Unlock()
	return tell(&l.machine, l.now())
}
