package controller

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/jobledger/jobledger/events/nats/embedded"
	"github.com/jobledger/jobledger/events/nats/publish"
	"github.com/jobledger/jobledger/store"
)

// streamer publishes the records of the log on NATS: on a server in this process, or on another one.
type streamer struct {
	*publish.Publisher
	server *embedded.Server // nil if another server is used
	file   string           // the file with the address of server, for readers of the log
	logger *slog.Logger
}

// newStreamer returns a streamer that does not run yet; nil if nothing is to be published. dir is the log's directory.
func newStreamer(c *StreamConfig, dir string, log store.Log, logger *slog.Logger) (s *streamer, err error) {
	s = &streamer{file: filepath.Join(dir, NATSFile), logger: logger}
	if err := s.forget(); err != nil {
		return nil, err
	}
	if !c.wanted() {
		return nil, nil
	}
	config := c.Publish
	config.Log, config.Logger = log, logger
	if c.Embedded != nil {
		server := *c.Embedded
		server.Logger = logger
		if s.server, err = embedded.Start(server); err != nil {
			return nil, err
		}
		config.Options, config.Dial.URL = s.server.Options(), s.server.URL()
		logger.Info("NATS server runs in this process", "url", s.server.URL(), "directory", server.Dir)
	}
	if s.Publisher, err = publish.New(config); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// wanted reports whether the config publishes anything.
func (c *StreamConfig) wanted() bool {
	return c.Embedded != nil || c.Publish.Dial.URL != "" || c.Publish.Dial.Context != ""
}

// run publishes records until ctx ends, and then what is left of the durable ones, for at most 5 seconds. It does not
// wait for a server that cannot be reached.
func (s *streamer) run(ctx context.Context) error {
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	go func() { // ends after ctx, and then stops the publishing
		defer stop()
		<-ctx.Done()
		bound, cancel := context.WithTimeout(context.Background(), askTimeout)
		defer cancel()
		if err := s.CatchUp(bound); err != nil {
			s.logger.Warn("the NATS stream is behind; the next start goes on with it", "error", err)
		}
	}()
	return s.Run(running)
}

// tellRoom logs a warning if the disk has less free space than the NATS server in this process may still fill. The log
// is on the same disk, so it would have no space either, and no Job could make progress.
func tellRoom(server *embedded.Config, usage func() (bytes, free int64, err error), logger *slog.Logger) {
	if server == nil {
		return
	}
	_, free, err := usage()
	if err != nil {
		return // this system does not report disk space
	}
	has := stored(server.Dir)
	if more := server.MaxBytes - has; free < more {
		logger.Warn("the NATS stream may fill the disk, and the log is on it: give the disk more room, or the stream less (--nats-embedded-size)",
			"streamMayStillTake", more, "free", free)
	}
}

// stored returns the number of bytes of the files below dir that can be read.
func stored(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil //nolint:nilerr // the file is gone
		}
		if info, err := e.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}

// close stops the server in this process, if there is one.
func (s *streamer) close() {
	if s == nil || s.server == nil {
		return
	}
	s.server.Close()
	if err := s.forget(); err != nil {
		s.logger.Warn("the address of the NATS server stays behind", "error", err)
	}
}

// forget removes the file with the address of the NATS server of an earlier run.
func (s *streamer) forget() error {
	if err := os.Remove(s.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the address of the NATS server before: %w", err)
	}
	return nil
}

// degraded returns why the records on NATS are behind the log, for probes; empty if they are not. The controller stays
// ready, because Jobs do not wait for NATS.
func (s *streamer) degraded() string {
	st := s.Status()
	switch {
	case st.Problem != "":
		return fmt.Sprintf("degraded: %s: %s", behind(st), st.Problem)
	case st.Behind > lagging:
		return "degraded: " + behind(st)
	}
	return ""
}

func behind(st publish.Status) string {
	if st.Lag == 0 {
		return "no records behind"
	}
	return fmt.Sprintf("%d records behind, the oldest %s old", st.Lag, st.Behind.Round(time.Second))
}

// lagging: if the oldest record that is not on NATS is older than this, NATS counts as behind.
const lagging = 10 * time.Second

// streaming adds the metrics of publishing on NATS.
func (m *metrics) streaming(s *streamer) {
	m.gauge("jobledger_nats_connected", "1 while there is a connection to a NATS server.", func() float64 {
		if s.Status().Server == "" {
			return 0
		}
		return 1
	})
	m.gauge("jobledger_nats_sequence", "Sequence of the record through which all are stored in the NATS stream.", func() float64 {
		return float64(s.Status().Acked)
	})
	m.gauge("jobledger_nats_lag_records", "Durable records that are not in the NATS stream yet.", func() float64 {
		return float64(s.Status().Lag)
	})
	m.gauge("jobledger_nats_lag_seconds", "Age of the oldest such record.", func() float64 {
		return s.Status().Behind.Seconds()
	})
	m.counter("jobledger_nats_messages_total", "Messages that NATS acknowledged.", func() float64 {
		return float64(s.Status().Messages)
	})
	m.counter("jobledger_nats_retreats_total", "Times that publishing went back to the first message in doubt.", func() float64 {
		return float64(s.Status().Retreats)
	})
}

func (m *metrics) counter(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, value))
}
