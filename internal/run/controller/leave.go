package controller

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/jobledger/jobledger/internal/run/following"
	"github.com/jobledger/jobledger/internal/run/lease"
	"github.com/jobledger/jobledger/internal/run/replicating"
	"github.com/jobledger/jobledger/store/open"
)

// AloneFlag is the name of the flag to run without the controllers that shared the log; messages name it.
const AloneFlag = "alone"

// leave removes from the log's directory the file (REPLICA or FOLLOWS) that ties the log to other controllers, if this
// run shares the log in another way. First the Lease must prove that the log lacks no record, or that another
// controller leads in the new way already. If this run does not share its log and --alone is not set, leave removes
// nothing, and refuseAlone returns an error.
func (c *controller) leave(ctx context.Context) error {
	dir, err := open.Dir(c.config.Log)
	if err != nil {
		return nil //nolint:nilerr // a log without a directory has no such file
	}
	var ties []string
	if c.config.Replicate == nil {
		ties = append(ties, replicating.FileName)
	}
	if c.config.Follow == nil {
		ties = append(ties, following.FileName)
	}
	alone := len(ties) > 1
	for _, name := range ties {
		path := filepath.Join(dir, name)
		switch _, err := os.Lstat(path); {
		case errors.Is(err, fs.ErrNotExist) || err == nil && alone && !c.config.Lease.Alone:
			continue
		case err != nil:
			return err
		}
		if err := c.mayLeave(ctx, path); err != nil {
			return err
		}
		if err := os.Remove(path); err != nil {
			return err
		}
		c.logger.Info("the log is no longer tied to how several controllers had it", "removed", path)
	}
	return nil
}

// mayLeave returns nil if the file at path, which ties the log to other controllers, may be removed. Otherwise its
// error says which proof the Lease does not give.
func (c *controller) mayLeave(ctx context.Context, path string) error {
	said, err := c.saidByLease(ctx)
	if err != nil {
		return err
	}
	log, err := open.Archive(c.config.Log)
	if err != nil {
		return fmt.Errorf("find out whether the log is whole: %w", err)
	}
	own := lease.Log{Identity: log.Identity(), Head: log.Head().Sequence, Hash: log.Head().Hash}
	if err := log.Close(); err != nil {
		return err
	}
	inTheNewWay := said.LogID == own.LogID
	switch {
	case c.member != nil:
		inTheNewWay = inTheNewWay && said.Stream == c.member.Named()
	case c.config.Follow != nil:
		inTheNewWay = inTheNewWay && said.Holder != "" && said.Stream == ""
	default:
		inTheNewWay = false
	}
	if inTheNewWay || wasLast(&said, own) {
		return nil
	}
	return fmt.Errorf("%s says that other controllers have this log, too, and the Lease %s does not show that this one is whole: "+
		"it names record %d of epoch %d, held by %q, and this log ends with record %d of epoch %d. Start the controllers as they "+
		"were, and stop the standbys and then the leader in good order; the log of the one that led last goes on in another way",
		path, said.Lease, said.Head, said.Epoch, said.Holder, own.Head, own.Epoch)
}

// saidByLease returns what the Lease says about the log and its writer. It repeats the request until the API server
// answers, because without the Lease the process cannot know whether it may begin a new stream.
func (c *controller) saidByLease(ctx context.Context) (lease.Said, error) {
	for told := false; ; told = true {
		bound, cancel := context.WithTimeout(ctx, askTimeout)
		said, err := c.lease.Read(bound)
		cancel()
		if err == nil {
			return said, nil
		}
		if !told {
			c.logger.Warn("cannot look at the Lease yet: waiting", "error", err)
		}
		select {
		case <-ctx.Done():
			return said, ctx.Err()
		case <-time.After(openAgain):
		}
	}
}

// wasLast reports whether the last holder of the Lease released it, and had exactly this log, up to its last record.
func wasLast(said *lease.Said, own lease.Log) bool {
	return said.Holder == "" && said.Identity == own.Identity && said.Head == own.Head && said.Hash == own.Hash
}
