package controller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/kube"
	"github.com/jobledger/jobledger/events/nats/publish"
	"github.com/jobledger/jobledger/internal/run/copying"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
)

// Names of the flags that limit the log's size and age; messages name them.
const (
	MaxSizeFlag = "log-max-size"
	MaxAgeFlag  = "log-max-age"
)

const (
	retainLook    = 200 * time.Millisecond // time between checks of the log's size
	retainLookAge = 10 * time.Second       // time between checks of the files' age
	retainTell    = time.Minute            // shortest time between two messages about why the log cannot get smaller
)

// retainer deletes old files of the log when the log is too large or too old. It asks the loop to record which files it
// deletes, and deletes them once that record is durable. One goroutine runs it; another one may set whole.
type retainer struct {
	keep      store.Retention
	log       store.Pruner // nil for a log that cannot delete records
	offset    func(consumer string) (events.Sequence, error)
	consumers []string // consumers (such as NATS); what they have not read is kept while there is space
	logger    *slog.Logger
	health    *Health
	// first record of the newest file that needs no older file to be understood; all older files may be deleted
	whole  atomic.Uint64
	prunes chan loop.Pruning

	left    error     // why a file could not be removed; its records count as deleted anyway
	tried   time.Time // when a removal was last tried
	aged    time.Time // when the age of files was last checked
	told    string    // last message about why the log cannot get smaller
	toldAt  time.Time
	held    *prometheus.GaugeVec
	files   prometheus.Counter
	missed  *prometheus.CounterVec
	over    prometheus.Gauge
	failing string // the error that was logged last
}

// newRetainer returns what deletes old files of the log. It returns an error if keep sets limits and this kind of log
// cannot delete records.
func newRetainer(
	keep store.Retention, log store.Log, logger *slog.Logger, health *Health, registry prometheus.Registerer, consumers ...string,
) (*retainer, error) {
	pruner, ok := log.(store.Pruner)
	if !ok && keep.On() {
		return nil, fmt.Errorf("--%s and --%s are for a log in files: this one lets no records go", MaxSizeFlag, MaxAgeFlag)
	}
	r := &retainer{
		keep: keep, log: pruner, offset: log.Offset, consumers: consumers, logger: logger, health: health, prunes: make(chan loop.Pruning),
		held: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "jobledger_log_held_back", Help: "1 while the log keeps a file only because this consumer has not got through it.",
		}, []string{"consumer"}),
		files: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "jobledger_log_pruned_files_total", Help: "Files of the log that were deleted because of --log-max-size or --log-max-age.",
		}),
		missed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "jobledger_log_missed_records_total", Help: "Records that were deleted before this consumer had got through them.",
		}, []string{"consumer"}),
		over: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "jobledger_log_over_max_size", Help: "1 while the log is larger than --log-max-size.",
		}),
	}
	most := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "jobledger_log_max_bytes", Help: "The size that --log-max-size allows the log, in bytes; 0 for any.",
	})
	most.Set(float64(keep.MaxBytes))
	registry.MustRegister(r.held, r.files, r.missed, r.over, most)
	for _, name := range consumers {
		r.held.WithLabelValues(name).Set(0)
		r.missed.WithLabelValues(name).Add(0)
	}
	return r, nil
}

// consumers returns the names of the consumers (such as NATS) for which the log keeps what they have not read, while it
// has space.
func (c *controller) consumers() (names []string) {
	if !c.observes() {
		names = append(names, kube.Consumer)
	}
	if c.stream != nil && !c.config.Stream.Publish.Core {
		names = append(names, publish.Consumer)
	}
	if c.copier != nil {
		names = append(names, copying.Consumer)
	}
	return names
}

// run checks the log's size five times a second until ctx ends.
func (r *retainer) run(ctx context.Context) {
	if r.keep.On() {
		every(ctx, retainLook, r.look)
	}
}

// look deletes the oldest files if the log is larger or older than its limits permit. It logs the same error only once.
func (r *retainer) look(ctx context.Context) {
	err := r.let(ctx)
	err = errors.Join(err, r.left)
	switch {
	case ctx.Err() != nil || errors.Is(err, store.ErrClosed):
	case err == nil:
		r.failing = ""
	case err.Error() != r.failing:
		r.failing = err.Error()
		r.logger.Warn("old files of the log stay for now", "error", err)
	}
}

func (r *retainer) let(ctx context.Context) error {
	if r.left != nil && time.Since(r.tried) >= retainLookAge {
		r.tried = time.Now()
		// With 0, nothing more is deleted: Prune only tries again to remove files that count as deleted already.
		_, r.left = r.log.Prune(ctx, 0)
	}
	used, _, err := r.log.Usage()
	if err != nil {
		return err
	}
	aged := r.keep.MaxAge > 0 && time.Since(r.aged) >= retainLookAge
	large := r.keep.MaxBytes > 0 && used > r.keep.Soft(r.log.Ahead())
	if !aged && !large {
		if r.keep.MaxAge == 0 {
			r.note(store.Verdict{}, used)
		}
		return nil
	}
	r.aged = time.Now()
	stock, err := r.stock(used)
	if err != nil {
		return err
	}
	v := r.keep.Judge(stock)
	r.note(v, used)
	if v.Before == 0 {
		return nil
	}
	p, err := r.log.Condemn(ctx, v.Before)
	if err != nil || p == nil {
		return err
	}
	p.Reason, p.Missed = v.Reason, v.Missed
	recorded := make(chan struct{})
	for _, step := range []func() bool{
		func() bool { return given(ctx, r.prunes, loop.Pruning{Facts: p, Recorded: recorded}) },
		func() bool { return closed(ctx, recorded) },
	} {
		if !step() {
			// If ctx has ended, the record of the deletion may be written or not. If it was written, the files are
			// removed when the log is opened the next time.
			return nil
		}
	}
	_, r.left = r.log.Prune(ctx, p.First)
	r.tried = time.Now()
	r.tell(p)
	return nil
}

func given(ctx context.Context, to chan<- loop.Pruning, p loop.Pruning) bool {
	select {
	case to <- p:
		return true
	case <-ctx.Done():
		return false
	}
}

func closed(ctx context.Context, c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	case <-ctx.Done():
		return false
	}
}

// stock returns what the choice of the files to delete depends on. used is the size of the log.
func (r *retainer) stock(used int64) (s store.Stock, err error) {
	s = store.Stock{
		Now: events.At(time.Now()), Bytes: used, Ahead: r.log.Ahead(), Whole: events.Sequence(r.whole.Load()), Consumers: map[string]events.Sequence{},
	}
	for _, name := range r.consumers {
		if s.Consumers[name], err = r.offset(name); err != nil {
			return s, err
		}
	}
	s.Files, err = r.log.Files()
	return s, err
}

// tell logs which files were deleted, and counts them.
func (r *retainer) tell(p *events.Pruned) {
	r.files.Add(float64(len(p.Files)))
	for _, m := range p.Missed {
		r.missed.WithLabelValues(m.Consumer).Add(float64(m.Through - m.From + 1))
		r.logger.Error("a consumer was passed over: the log had no room to keep these records for it",
			"consumer", m.Consumer, "from", uint64(m.From), "through", uint64(m.Through))
	}
	r.logger.Info("old records are no longer kept", "from", uint64(p.From), "through", uint64(p.First-1), "reason", p.Reason.String())
}

// note tells metrics and probes why the log does not get smaller. used is the size of the log.
func (r *retainer) note(v store.Verdict, used int64) {
	for _, name := range r.consumers {
		value := 0.0
		if slices.Contains(v.Held, name) {
			value = 1
		}
		r.held.WithLabelValues(name).Set(value)
	}
	over := r.keep.MaxBytes > 0 && used > r.keep.MaxBytes
	r.over.Set(0)
	says := ""
	switch {
	case over:
		r.over.Set(1)
		says = fmt.Sprintf("the log has %d MiB, more than --%s allows: the states of what is unfinished or not deleted need more room. "+
			"No Job waits for that; set a larger size", mebibytes(used), MaxSizeFlag)
	case len(v.Held) > 0 && r.keep.MaxBytes > 0:
		says = fmt.Sprintf("the log has %d of %d MiB, and files stay because %s has not got through them: at %d MiB they go all the same",
			mebibytes(used), mebibytes(r.keep.MaxBytes), strings.Join(v.Held, " and "), mebibytes(r.keep.Hard(r.log.Ahead())))
	case len(v.Held) > 0:
		says = fmt.Sprintf("files are older than --%s, and stay because %s has not got through them", MaxAgeFlag, strings.Join(v.Held, " and "))
	}
	r.health.set(func(h *Health) { h.retention = says })
	if (says == "") != (r.told == "") || says != r.told && time.Since(r.toldAt) >= retainTell {
		if r.told, r.toldAt = says, time.Now(); says != "" {
			r.logger.Warn(says)
		}
	}
}

func mebibytes(n int64) int64 { return (n + 1<<20 - 1) >> 20 }

// refuseStates returns an error if the size limit is too small. Each file of the log begins with the states of all
// unfinished Jobs, of size states, and there can be two such files. So the states may take at most half of the limit.
func refuseStates(keep store.Retention, states int64) error {
	states += states / 8 // an eighth more for the database that holds them
	if keep.MaxBytes == 0 || states <= keep.MaxBytes/2 {
		return nil
	}
	return fmt.Errorf("--%s=%dMi is too small: the states of what is unfinished or not deleted take %d MiB in each file of the log, more than half of it; "+
		"set --%s=%dMi or more", MaxSizeFlag, keep.MaxBytes>>20, mebibytes(states), MaxSizeFlag, mebibytes(4*states))
}
