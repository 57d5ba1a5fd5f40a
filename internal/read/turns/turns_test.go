package turns

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := New(Config{})
		var held []func()
		for _, user := range []string{"a", "a", "b", "b", "c", "c", "d", "d"} {
			done, err := turns.Take(t.Context(), user)
			if err != nil {
				t.Fatalf("a turn of %s: %v", user, err)
			}
			held = append(held, done)
		}
		begun := time.Now()
		if _, err := turns.Take(t.Context(), "e"); !errors.Is(err, ErrBusy) || time.Since(begun) != UsualWait {
			t.Errorf("the ninth at a time: %v after %s, want ErrBusy after %s", err, time.Since(begun), UsualWait)
		}
		held[7]() // one of d
		if _, err := turns.Take(t.Context(), "a"); !errors.Is(err, ErrBusy) {
			t.Errorf("the third of one user: %v, want ErrBusy", err)
		}
		go func() {
			time.Sleep(time.Second)
			held[0]() // of a
		}()
		begun = time.Now()
		done, err := turns.Take(t.Context(), "a")
		if err != nil || time.Since(begun) != time.Second {
			t.Errorf("who waits for a turn that is given back: %v after %s", err, time.Since(begun))
		}
		done()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range UsualEach {
			_, _ = turns.Take(t.Context(), "f")
		}
		if _, err := turns.Take(ctx, "f"); !errors.Is(err, context.Canceled) {
			t.Errorf("who went away: %v", err)
		}
	})
}
