package cloning

import (
	"context"
	"errors"
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

// Config says what to clone, and where to. Key, Begin, Tell, and Verifies may be nil.
type Config struct {
	Open     func(context.Context) (*Source, error)
	To       string                  // address of the clone
	Key      *events.Key             // key of the clone; nil for none
	DryRun   bool                    // write nothing
	Begin    func(*Source)           // called with each source that was opened
	Tell     func(Step)              // called for each file of the clone that is complete
	Verifies func(done, total int64) // progress of the verification, in bytes
}

// mostTries limits how often Run opens the source again because its files changed during the copy.
const mostTries = 5

// Run makes the clone, and returns the report of its verification. With DryRun it only opens the source, and checks
// that the target is empty.
func Run(ctx context.Context, c *Config) (report store.Report, err error) {
	if c.Tell == nil {
		c.Tell = func(Step) {}
	}
	if err := open.Vacant(c.To); err != nil {
		return report, fmt.Errorf("%w: a log is only cloned into an empty directory", err)
	}
	for try := 1; ; try++ {
		s, err := c.Open(ctx)
		if err != nil {
			return report, err
		}
		if c.Begin != nil {
			c.Begin(s)
		}
		if c.DryRun {
			return report, s.Done()
		}
		report, err = c.one(ctx, s)
		gone := err != nil && ctx.Err() == nil && s.Gone(err)
		if err = errors.Join(err, s.Done()); !gone || try == mostTries {
			return report, err
		}
	}
}

// one makes the clone from the opened source s. It returns the report of the clone's verification.
func (c *Config) one(ctx context.Context, s *Source) (report store.Report, err error) {
	to, err := open.Fill(c.To, s.LogID)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	head, err := s.Copy(ctx, to, c.Tell)
	if err != nil {
		return report, err
	}
	if report, err = to.Verify(ctx, c.Verifies, append(s.Has, head)...); err != nil {
		return report, fmt.Errorf("the clone is not that of %s: %w", s.Name, err)
	}
	if c.Key != nil {
		if err := to.Key(*c.Key); err != nil {
			return report, err
		}
	}
	return report, to.End()
}
