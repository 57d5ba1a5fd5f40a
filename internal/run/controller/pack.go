package controller

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// packEvery is the default time between two checks for sealed (complete) files that are not compressed yet. A check
// costs nearly nothing, and about one file a day is completed.
const packEvery = time.Minute

// packer compresses the sealed (complete) files of the log one by one; a compressed file takes a third of the space.
type packer struct {
	log    packable // nil for a kind of log without files
	every  time.Duration
	logger *slog.Logger
	files  prometheus.Counter
	told   string // the error that was logged last
}

// packable is a log on disk. Pack compresses one sealed (complete) file, and returns the file's first record; 0 if no
// file is left to compress.
type packable interface {
	Pack(ctx context.Context) (events.Sequence, error)
}

func newPacker(log packable, every time.Duration, logger *slog.Logger, registry prometheus.Registerer) *packer {
	p := &packer{log: log, every: cmp.Or(every, packEvery), logger: logger, files: prometheus.NewCounter(prometheus.CounterOpts{
		Name: "jobledger_log_packed_files_total", Help: "Sealed files of the log that were packed.",
	})}
	registry.MustRegister(p.files)
	return p
}

// run compresses the log's sealed (complete) files until ctx ends.
func (p *packer) run(ctx context.Context) {
	if p.log != nil {
		every(ctx, p.every, p.all)
	}
}

// all compresses the log's sealed (complete) files until none is left or an error occurs. It logs an error only if it
// is not the error logged last.
func (p *packer) all(ctx context.Context) {
	for {
		first, err := p.log.Pack(ctx)
		switch {
		case err == nil && first == 0:
			return
		case err == nil:
			p.files.Inc()
			p.told = ""
			continue
		case ctx.Err() != nil || errors.Is(err, store.ErrClosed) || errors.Is(err, store.ErrPruned):
			return
		case err.Error() != p.told:
			p.logger.Warn("a sealed file of the log stays as it is: it is not packed", "error", err)
			p.told = err.Error()
		}
		return
	}
}
