package patience

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// Variable is the name of the environment variable that sets the length, as "90s" or "30m".
const Variable = "JOBLEDGER_PATIENCE"

// usual is the length without the variable. Twelve tests at once on two cores made waits of 1 to 2 minutes.
const usual = 10 * time.Minute

// Time returns how long one wait may last. It panics when the variable holds no positive duration: a typing mistake
// must not become a default.
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

// Context bounds one wait.
func Context(parent context.Context) (context.Context, context.CancelFunc) { return Several(parent, 1) }

// Several bounds a play of some waits, one after the other. Example: 3 gives half an hour.
func Several(parent context.Context, waits int) (context.Context, context.CancelFunc) {
	d := time.Duration(waits) * Time()
	return context.WithTimeoutCause(parent, d, fmt.Errorf("it did not come within %s (%s)", d, Variable))
}

// ErrEnded is the end of a wait by the end of the process under test.
var ErrEnded = errors.New("the process under test has ended")

// Until polls done until it reports true or an error. It also returns when ctx ends, with its cause, and when ended is
// closed, with ErrEnded; then done is asked once more, because the last deed of a process may be the one that the test
// waits for. Ended may be nil.
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
