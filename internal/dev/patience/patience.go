package patience

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// Variable is the environment variable that sets the length of a wait, such as "90s" or "30m".
const Variable = "JOBLEDGER_PATIENCE"

// usual is how long a test waits at most, if the environment variable sets no other time. On a busy machine (twelve
// tests at once on two cores) waits took 1 to 2 minutes.
const usual = 10 * time.Minute

// Time returns how long a test waits at most. It panics if the variable is set and is no positive duration, so that a
// typing mistake does not turn into the default.
var Time = sync.OnceValue(func() time.Duration {
	d, err := parse(os.Getenv(Variable))
	if err != nil {
		panic(err)
	}
	return d
})

func parse(text string) (time.Duration, error) {
	if text == "" {
		return usual, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%s=%s: want a length of time such as 20m", Variable, text)
	}
	return d, nil
}

// Context returns a context for one wait, which ends after Time.
func Context(parent context.Context) (context.Context, context.CancelFunc) { return Several(parent, 1) }

// Several returns a context for several waits, one after the other. With the default length, 3 waits have half an hour.
func Several(parent context.Context, waits int) (context.Context, context.CancelFunc) {
	d := time.Duration(waits) * Time()
	return context.WithTimeoutCause(parent, d, fmt.Errorf("it did not come within %s (%s)", d, Variable))
}

// ErrEnded is returned by Until when the process under test ends first.
var ErrEnded = errors.New("the process under test has ended")

// Until polls done until it returns true or an error. It returns the cause of ctx when ctx ends, and ErrEnded when
// ended is closed. In the second case it calls done once more before, since the process may have reached the awaited
// state just before it ended. ended may be nil.
func Until(ctx context.Context, every time.Duration, ended <-chan struct{}, done func() (bool, error)) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ended:
			if ok, err := done(); ok || err != nil {
				return err
			}
			return ErrEnded
		}
	}
}
