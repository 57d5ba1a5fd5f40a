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

// packEvery is the default time between two checks for uncompressed sealed files. A check costs nearly nothing, and a
// file holds the Jobs of about a day.
const packEvery = time.Minute

// packer compresses the sealed files of the log one by one; a packed (compressed) file takes a third of the disk.
type packer struct {
	log    packable // nil for a log without files
	every  time.Duration
	logger *slog.Logger
	files  prometheus.Counter
	told   string // the last logged error
}

// packable is a log on disk. Pack compresses one sealed file, and returns its first record; 0 if none is left to
// compress.
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

// run compresses sealed files until ctx ends.
func (p *packer) run(ctx context.Context) {
	if p.log != nil {
		every(ctx, p.every, p.all)
	}
}

// all compresses sealed files until none is left, or one cannot be compressed. It logs the same error only once.
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
