package main

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

// streamer publishes the log on NATS, on a server of others or on one in this process.
type streamer struct {
	*publish.Publisher
	server *embedded.Server // nil for one of others
	file   string           // where the address of server is left for readers of the log
	logger *slog.Logger
}

// newStreamer makes one that does not run yet; nil when nothing is to be published.
func newStreamer(f *streamFlags, dir string, log store.Log, logger *slog.Logger) (s *streamer, err error) {
	s = &streamer{file: filepath.Join(dir, natsFile), logger: logger}
	if err := s.forget(); err != nil {
		return nil, err
	}
	if !f.wanted() {
		return nil, nil
	}
	config := publish.Config{
		Log: log, Cluster: f.cluster, Dial: f.Config, Stream: f.stream, Core: f.core, ContentType: contentTypes[f.data], Logger: logger,
	}
	if f.embedded {
		c, stream, err := f.server(dir)
		if err != nil {
			return nil, err
		}
		c.Logger, config.Stream = logger, stream
		if s.server, err = embedded.Start(c); err != nil {
			return nil, err
		}
		config.Options, config.Dial.URL = s.server.Options(), s.server.URL()
		logger.Info("NATS server runs in this process", "url", s.server.URL(), "directory", c.Dir)
	}
	if s.Publisher, err = publish.New(config); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// run publishes until ctx ends, and then what became durable since, within a bound. A server that is away is not waited for.
func (s *streamer) run(ctx context.Context) error {
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	go func() { // ends after ctx, and then ends Run
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

// forget takes away an address that is not good any more.
func (s *streamer) forget() error {
	if err := os.Remove(s.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the address of the NATS server before: %w", err)
	}
	return nil
}

// degraded is what probes show of a stream that does not do what it should; empty when it does. It makes nobody unready: Jobs do
// not wait for NATS.
func (s *streamer) degraded() string {
	st := s.Status()
	switch {
	case st.Problem != "":
		return fmt.Sprintf("degraded: %d records behind for %s: %s", st.Lag, st.Behind.Round(time.Second), st.Problem)
	case st.Behind > lagging:
		return fmt.Sprintf("degraded: %d records behind for %s", st.Lag, st.Behind.Round(time.Second))
	}
	return ""
}

// lagging is how long a stream may be behind before it is called so.
const lagging = 10 * time.Second

// streaming adds what a stream says about itself.
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
	m.gauge("jobledger_nats_lag_seconds", "For how long there have been such records without a break.", func() float64 {
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
