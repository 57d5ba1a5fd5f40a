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

// packEvery is the default time between two looks for plain sealed files. The Jobs of a day fill one file; a look costs
// nothing.
const packEvery = time.Minute

// packer packs the sealed files of the log one by one: a packed file takes a third of the disk.
type packer struct {
	log    packable // nil for a log without files
	every  time.Duration
	logger *slog.Logger
	files  prometheus.Counter
	told   string // the last error that was logged
}

// packable is a log on disk. Pack packs one file, and returns its first record; 0 if no file is plain.
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

// run packs sealed files until ctx ends.
func (p *packer) run(ctx context.Context) {
	if p.log != nil {
		every(ctx, p.every, p.all)
	}
}

// all packs until no sealed file is plain, or one cannot be packed. It logs the same error only once.
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
