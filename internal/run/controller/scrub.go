package controller

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// scrubEvery is the time from the verification of one file to that of the next. A file of 252 MiB takes 8 s of one
// core, which is 0.2 % of an hour.
const scrubEvery = time.Hour

// scrubber verifies the sealed (complete) files of the log one after the other, for ever, so that decay of the disk is
// noticed while a good copy still exists.
type scrubber struct {
	log    scrubbed // nil for a kind of log without files
	logger *slog.Logger
	// Replaces a damaged file by the file of another process that has the same log; nil if there is none
	mend func(ctx context.Context, first events.Sequence) error

	at      events.Sequence          // first record of the file that was verified last
	bad     map[events.Sequence]bool // files that were damaged at their last verification
	files   prometheus.Counter
	damaged prometheus.Gauge
}

// scrubbed is a log on disk. Scrub verifies the first sealed (complete) file after the record after; behind the last
// file it begins again with the oldest. It returns the file's first record, and notes; damage is the error.
type scrubbed interface {
	Scrub(ctx context.Context, after events.Sequence) (events.Sequence, []string, error)
}

func newScrubber(log scrubbed, logger *slog.Logger, registry prometheus.Registerer) *scrubber {
	s := &scrubber{
		log: log, logger: logger, bad: map[events.Sequence]bool{},
		files: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "jobledger_log_scrubbed_files_total", Help: "Sealed files of the log that were verified while the controller ran.",
		}),
		damaged: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "jobledger_log_damaged_files", Help: "Sealed files of the log that were damaged when they were verified last.",
		}),
	}
	registry.MustRegister(s.files, s.damaged)
	return s
}

// run verifies one file each hour until ctx ends.
func (s *scrubber) run(ctx context.Context) {
	if s.log != nil {
		every(ctx, scrubEvery, s.next)
	}
}

// mended logs that a file is damaged, and tries to replace it by the file of another process with the same log. It
// reports whether that succeeded.
func (s *scrubber) mended(ctx context.Context, first events.Sequence, damage error) bool {
	if s.mend == nil {
		s.logger.Error("a sealed file of the log is damaged: the controller goes on, and what the file holds may be lost", "error", damage)
		return false
	}
	s.logger.Error("a sealed file of the log is damaged: fetching that of another replica", "error", damage)
	err := s.mend(ctx, first)
	if err != nil && ctx.Err() == nil {
		s.logger.Error("the damaged file of the log stays: it is tried again when the file is verified again", "error", err)
	}
	return err == nil
}

func (s *scrubber) next(ctx context.Context) {
	first, notes, err := s.log.Scrub(ctx, s.at)
	switch {
	case ctx.Err() != nil || first == 0 && err == nil:
		return
	case errors.Is(err, store.ErrCorrupt):
		s.bad[first] = !s.mended(ctx, first, err)
		if !s.bad[first] {
			delete(s.bad, first)
		}
	case err != nil:
		s.logger.Warn("a sealed file of the log could not be verified", "error", err)
		s.at = first
		return
	default:
		delete(s.bad, first)
	}
	for _, note := range notes {
		s.logger.Warn("beside a sealed file of the log", "note", note)
	}
	s.at = first
	s.files.Inc()
	s.damaged.Set(float64(len(s.bad)))
}
