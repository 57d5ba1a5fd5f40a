package controller

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/kube"
	"github.com/jobledger/jobledger/events/nats/publish"
	"github.com/jobledger/jobledger/internal/run/copying"
	"github.com/jobledger/jobledger/internal/run/following"
	"github.com/jobledger/jobledger/internal/run/replicating"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

// PruneConfig says which records to delete from a log that no controller writes.
type PruneConfig struct {
	Log     string // address of the log
	Version string // version of this program
	Logger  *slog.Logger

	Retention store.Retention
	Before    events.Sequence // delete the files whose records all come before this record; 0 for none
}

// errNoPruner is returned for a kind of log that cannot delete its oldest records.
var errNoPruner = errors.New("prune: this kind of log lets no records go")

// WouldPrune returns what Prune would delete: the files, oldest first, and the first record to keep. It only reads.
func WouldPrune(ctx context.Context, config *PruneConfig) (files []store.File, keep events.Sequence, err error) {
	log, err := open.Archive(config.Log)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	if err := errors.Join(log.Damage()...); err != nil {
		return nil, 0, err
	}
	if err := log.Readable(loop.Reader(config.Version)); err != nil {
		return nil, 0, err
	}
	world, err := loop.Recover(ctx, log)
	if err != nil {
		return nil, 0, err
	}
	return config.going(log, world)
}

// going returns the files to delete, and the first record to keep. It returns errNoPruner for a kind of log without
// files. world is the state folded from the log.
func (c *PruneConfig) going(reader store.Reader, world *projector.World) (files []store.File, keep events.Sequence, err error) {
	log, ok := reader.(store.Filed)
	if !ok {
		return nil, 0, errNoPruner
	}
	all, err := log.Files()
	if err != nil {
		return nil, 0, err
	}
	used, _, err := log.Usage()
	if err != nil {
		return nil, 0, err
	}
	_, whole := world.Restated()
	s := store.Stock{Now: events.At(time.Now()), Bytes: used, Files: all, Whole: whole}
	keep = all[0].First
	for {
		v := c.Retention.Judge(s)
		if v.Before == 0 {
			break
		}
		for s.Files[0].First < v.Before {
			s.Bytes -= s.Files[0].Bytes
			s.Files = s.Files[1:]
		}
		keep = v.Before
	}
	for _, f := range all[1:] {
		if f.First <= min(c.Before, whole) {
			keep = max(keep, f.First)
		}
	}
	for len(files) < len(all) && all[len(files)].First < keep {
		files = all[:len(files)+1]
	}
	return files, keep, nil
}

// Prune deletes the oldest files of a log. It first writes a record that says which; when that record is durable, it
// deletes the files. It returns the content of that record; nil if nothing is to be deleted.
func Prune(ctx context.Context, config *PruneConfig) (p *events.Pruned, err error) {
	dir, err := open.Dir(config.Log)
	if err == nil {
		err = cmp.Or(replicating.RefuseAlone(dir), following.RefuseAlone(dir))
	}
	if err != nil {
		return nil, err
	}
	log, err := open.Log(config.Log, store.Options{Logger: config.Logger, Reader: loop.Reader(config.Version), Least: loop.Least()})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close(), giveToOwner(dir)) }()
	pruner, ok := log.(store.Pruner)
	if !ok {
		return nil, errNoPruner
	}
	world, err := loop.Recover(ctx, log)
	if err != nil {
		return nil, err
	}
	files, keep, err := config.going(log, world)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	if p, err = pruner.Condemn(ctx, keep); err != nil || p == nil {
		return nil, err
	}
	p.Reason = events.PruneOperator
	for _, name := range []string{kube.Consumer, publish.Consumer, copying.Consumer} {
		through, err := log.Offset(name)
		if err != nil {
			return nil, err
		}
		if through != 0 && through+1 < keep { // 0: such a consumer has never read this log
			p.Missed = append(p.Missed, events.Missed{Consumer: name, From: max(through+1, p.From), Through: keep - 1})
		}
	}
	return p, loop.Prune(ctx, log, pruner, world, events.At(time.Now()), salt, p)
}
