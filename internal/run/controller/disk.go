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

// disk is what the controller remembers about the log's disk: whether it is full, and what could not be written. It
// belongs to the goroutine that opens the log, and later to the loop's goroutine.
type disk struct {
	full   bool
	again  time.Time // when to publish the Events again that say that Jobs wait
	unleft bool      // a file with an address for readers could not be written
	leave  time.Time // when to try again to write the address files
}

const (
	roomAgain = time.Second // time between tries to open a log on a full disk
	// How long the disk is full before Events of the Jobs say so; also the time between checks for more waiting Jobs
	tellAfter = 10 * time.Second
)

// openWithRoom opens the log. While the log's disk is full, it tries again every second, and answers probes at the
// address at which readers will be answered later.
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
		go func() { ended <- probes.Run() }() // ends when stopServing is called
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

// logOptions returns the options with which the controller opens the log.
func (c *controller) logOptions() store.Options {
	options := store.Options{
		// If the operator forces an epoch (--force-new-epoch), the log is opened even if its last records are lost.
		// goOn, which runs next, checks whether that is permitted.
		Logger: c.logger, Reader: loop.Reader(c.config.Program.Version), Least: loop.Least(), AcceptLoss: c.config.Epoch != 0,
		RotateBytes: c.config.RotateBytes, MaxBytes: c.config.Retention.MaxBytes, RotateAfter: c.config.Retention.MaxAge / filesPerAge,
	}
	if c.member != nil {
		options = c.member.Options(options)
	}
	if c.standby != nil {
		options.LogID, options.Key = c.logID, &c.config.Follow.Key
	}
	return options
}

// filesPerAge is the least number of files of a log that has a Retention.MaxAge. Only whole files are deleted, so a
// record may stay an eighth of MaxAge too long: with MaxAge 8 days, up to 9 days.
const filesPerAge = 8

// full reports a change between a full log disk and one with space, to probes, to the program's log and to the waiting
// Jobs (as Events). It is called repeatedly while the disk is full, and otherwise between turns of the loop. It also
// writes the address files again if that failed for lack of space.
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

// leaveAddresses writes the addresses of this process's ports to files in the log's directory, where readers look for
// them. If the disk is full, it returns nil, and the method full tries again later.
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

// leaveAddress writes url to the file. It writes a temporary file and renames it, so a concurrent reader finds either
// the old address or the whole new one.
func leaveAddress(file, url string) error {
	fresh := file + ".new"
	if err := os.WriteFile(fresh, []byte(url+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(fresh, file)
}
