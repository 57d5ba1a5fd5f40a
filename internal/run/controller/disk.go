package controller

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

// disk is what a controller does about a disk without room. It belongs to the goroutine that opens the log, and then to
// the loop's.
type disk struct {
	full   bool
	again  time.Time // when Jobs are told next that they wait
	unleft bool      // an address could not be left in the log's directory
	leave  time.Time // when that is tried next
}

const (
	roomAgain = time.Second      // between tries to open a log that has no room
	tellAfter = 10 * time.Second // how long the disk is full before Jobs are told, and between looks for others that wait
)

// openWithRoom opens the log as soon as its disk has room for that. Until then it answers probes where the endpoint
// will be.
func (c *controller) openWithRoom(ctx context.Context) (store.Opened, error) {
	try := func() (store.Opened, error) { return open.Log(c.config.Log, c.logOptions()) }
	log, err := try()
	if !errors.Is(err, store.ErrNoRoom) {
		return log, err
	}
	if c.config.Listen != "" {
		probes, err := newScrape(&ScrapeConfig{Address: c.config.Listen}, c.health, c.registry, nil, nil, c.logger)
		if err != nil {
			return nil, err
		}
		c.logger.Info("serving health and metrics until the log can be opened", "listen", probes.URL())
		ended := make(chan error, 1)
		go func() { ended <- probes.Run() }() // ends with close
		defer func() {
			stopServing(probes)
			if err := <-ended; err != nil {
				c.logger.Warn("probes were not answered", "error", err)
			}
		}()
	}
	for errors.Is(err, store.ErrNoRoom) {
		c.full(true)
		select {
		case <-time.After(roomAgain):
		case <-ctx.Done():
			return nil, err
		}
		log, err = try()
	}
	if err == nil {
		c.full(false)
	}
	return log, err
}

// logOptions is how the log is opened.
func (c *controller) logOptions() store.Options {
	options := store.Options{
		Logger: c.logger, Reader: loop.Reader(c.config.Program.Version), Least: loop.Least(), AcceptLoss: c.config.Epoch != 0, // goOn looks at it
		RotateBytes: c.config.RotateBytes, MaxBytes: c.config.Retention.MaxBytes, RotateAfter: c.config.Retention.MaxAge / filesPerAge,
	}
	if c.member != nil {
		options = c.member.Options(options)
	}
	return options
}

// filesPerAge is how many files there are at least of a log whose records are to go at some age, so that none is kept
// much longer.
const filesPerAge = 8

// full is told whether the log has room: again and again while it has none, and between turns while it has.
func (c *controller) full(full bool) {
	d, now := &c.disk, time.Now()
	if full != d.full {
		d.full, d.again = full, now.Add(tellAfter)
		c.health.set(func(h *Health) { h.full = full })
		if full {
			c.logger.Error("the log has no room: nothing is done until there is", "directory", open.Place(c.config.Log))
		} else {
			c.logger.Info("the log has room again")
		}
	}
	if full && c.alarm != nil && now.After(d.again) {
		d.again = now.Add(tellAfter)
		if most := c.alarm.Wants(); most > 0 {
			c.alarm.Tell(c.runner.Loop.Unfinished(c.queue, most))
		}
	}
	if d.unleft && !full && now.After(d.leave) {
		if err := c.leaveAddresses(); err != nil {
			c.logger.Warn("readers do not find this controller by its log", "error", err)
		}
	}
}

// leaveAddresses says in the log's directory where this process answers. Without room for that it is to be done later.
func (c *controller) leaveAddresses() error {
	d := &c.disk
	d.unleft, d.leave = false, time.Now().Add(roomAgain)
	var err error
	if c.endpoint != nil {
		err = leaveAddress(c.endpoint.file, c.endpoint.URL())
	}
	if c.stream != nil && c.stream.server != nil {
		err = errors.Join(err, leaveAddress(c.stream.file, c.stream.server.URL()))
	}
	if outOfSpace(err) {
		d.unleft = true
		return nil
	}
	if err != nil {
		return fmt.Errorf("leave the address for readers: %w", err)
	}
	return nil
}

func outOfSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// leaveAddress writes a file that says where something answers. Whoever reads it meanwhile finds all of it, or none.
func leaveAddress(file, url string) error {
	fresh := file + ".new"
	if err := os.WriteFile(fresh, []byte(url+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(fresh, file)
}
