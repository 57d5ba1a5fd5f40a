package joblist

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

const defaultEvery = 32 << 10

// look is the time between two checks of a Keeper. Each check looks whether a list is behind the log by enough records
// (Config.Every).
const look = 2 * time.Second

// Keeper writes the lists of a log (one .jobs index file for each log file) while a controller writes the log. Create
// it with NewKeeper. It belongs to one goroutine.
type Keeper struct {
	config Config
	every  events.Sequence
	logger *slog.Logger
	told   bool // the last step failed, and a warning was logged

	// checked has the files, by their first record, whose list an earlier process wrote and this process has checked.
	checked map[events.Sequence]bool
}

// NewKeeper returns a Keeper, which writes the lists of the log in c. Config.Dir is required. A nil logger discards
// messages.
func NewKeeper(c Config, logger *slog.Logger) *Keeper {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &Keeper{
		config: c, every: events.Sequence(cmp.Or(c.Every, defaultEvery)), logger: logger, checked: map[events.Sequence]bool{},
	}
}

// Run extends the lists whenever they are Config.Every records behind the log, until ctx ends. It logs failures and
// tries again: without a list, readers need only more time.
func (k *Keeper) Run(ctx context.Context) {
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		began := time.Now()
		more, err := k.step(ctx, k.every)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !k.told:
			k.logger.Warn("the lists of Jobs are behind: 'get jobs' takes longer", "error", err)
		}
		k.told = err != nil
		rest := tick.C
		if more && err == nil { // if many records are left, go on soon, but use at most a quarter of one CPU
			rest = time.After(3 * time.Since(began))
		}
		select {
		case <-rest:
		case <-ctx.Done():
			return
		}
	}
}

// CatchUp extends the lists once, as Run does: after it, the newest list is less than Config.Every records behind the
// log.
func (k *Keeper) CatchUp(ctx context.Context) error { return k.all(ctx, k.every) }

// Finish extends the lists to the end of the log. Call it when the controller stops in good order.
func (k *Keeper) Finish(ctx context.Context) error { return k.all(ctx, 1) }

func (k *Keeper) all(ctx context.Context, behind events.Sequence) error {
	for {
		if more, err := k.step(ctx, behind); err != nil || !more {
			return err
		}
	}
}

// step does one piece of work: it checks a list of an earlier process, or extends the oldest list that lacks records of
// its file, by at most k.every of them. The list of the newest file counts only if it lacks at least behind records.
// more is false if there was nothing to do.
func (k *Keeper) step(ctx context.Context, behind events.Sequence) (more bool, err error) {
	files, err := k.config.files()
	if err != nil {
		return false, err
	}
	if err := k.tidy(files); err != nil {
		return false, err
	}
	m := newMerge(ctx, &k.config, files)
	defer m.close()
	for _, f := range files {
		if f.End.Sequence < f.First {
			continue // the file is empty, or cannot be read
		}
		l := m.list(f)
		through := f.First - 1
		if l != nil {
			through = l.through.Sequence
		}
		left := f.End.Sequence - through
		if l != nil && !k.checked[f.First] {
			k.checked[f.First] = true
			return true, l.check()
		}
		if left == 0 && !(f.Sealed && l.goesOn()) || !f.Sealed && left < behind {
			continue
		}
		return true, k.extend(m, f, l)
	}
	return false, nil
}

// check reads all of a list that an earlier process wrote, and removes the list if it is damaged; a later step writes
// it again. Lists are written without fsync, so a power cut may have damaged one.
func (l *list) check() error {
	err := errors.Join(l.rows.check(), l.streams.check(), l.crons.check())
	if errors.Is(err, errMalformed) {
		err = os.Remove(l.file.Name())
	}
	return err
}

// extend writes the list of file f again, with up to k.every more records. l is the old list; nil for none. If l is
// malformed, extend removes it, and the next step begins at the start of the file.
func (k *Keeper) extend(m *merge, f store.File, l *list) (err error) {
	defer func() {
		if errors.Is(err, errMalformed) && l != nil {
			err = errors.Join(err, os.Remove(l.file.Name()))
		}
	}()
	p := newPart(m.config.Log, f, l, m.complete)
	if err := p.advance(m.ctx, min(p.through+k.every, f.End.Sequence)); err != nil {
		return err
	}
	h := header{id: m.config.Log.Identity(), first: f.First, through: f.End}
	if p.through != f.End.Sequence || !f.Sealed {
		h.controller = p.fold.World().ControllerInPart()
	}
	if p.through != f.End.Sequence {
		hash, err := m.config.Log.Chain(p.through)
		if err != nil {
			return err
		}
		h.through = store.Head{Sequence: p.through, Time: p.fold.World().Now, Hash: hash}
	}
	rows := p.rows()
	return writeList(m.config.Dir, h, func(add func(key, content []byte) error) error {
		return p.mergeRows(rows, add)
	}, func(add func(key, content []byte) error) error {
		return p.mergeStreams(rows, h.controller != nil, add)
	}, func(add func(key, content []byte) error) error {
		return p.mergeCrons(h.controller != nil, add)
	})
}

// mergeRows calls add for all rows, ordered by key: those of the old list, and those of the fold of newer records. If
// both have a row with the same key, only the fold's row counts.
func (p *part) mergeRows(rows []row, add func(key, content []byte) error) error {
	for it, err := range p.old(func(l *list) *table { return &l.rows }) {
		if err != nil {
			return err
		}
		for len(rows) > 0 && string(keyBytes(rows[0].key)) < string(it.key) {
			if err := add(keyBytes(rows[0].key), rows[0].encode()); err != nil {
				return err
			}
			rows = rows[1:]
		}
		if len(rows) > 0 && string(keyBytes(rows[0].key)) == string(it.key) {
			continue // both have the row: leave out the old one; the inner loop adds the fold's row next
		}
		if err := add(it.key, it.content); err != nil {
			return err
		}
	}
	for i := range rows {
		if err := add(keyBytes(rows[i].key), rows[i].encode()); err != nil {
			return err
		}
	}
	return nil
}

// mergeStreams calls add for all entries of the table streams (by UID of the Job), from the old list and from the fold
// of newer records. The fold's entry replaces an old one. If states is set, the entries have the states of active Jobs,
// from which the next fold can continue.
func (p *part) mergeStreams(rows []row, states bool, add func(key, content []byte) error) error {
	fresh := map[string]events.Sequence{}
	for i := range rows {
		fresh[rows[i].UID] = rows[i].key
	}
	uids := slices.Sorted(maps.Keys(fresh))
	one := func(uid string) error {
		var state, names []byte
		if states {
			state, names = p.state(uid)
		}
		return add([]byte(uid), streamEntry(fresh[uid], state, names))
	}
	for it, err := range p.old(func(l *list) *table { return &l.streams }) {
		if err != nil {
			return err
		}
		for len(uids) > 0 && uids[0] < string(it.key) {
			if err := one(uids[0]); err != nil {
				return err
			}
			uids = uids[1:]
		}
		if len(uids) > 0 && uids[0] == string(it.key) {
			continue // both have the entry: leave out the old one; the fold's entry is added next
		}
		if it.content, err = p.kept(it, states); err != nil {
			return err
		}
		if err := add(it.key, it.content); err != nil {
			return err
		}
	}
	for _, uid := range uids {
		if err := one(uid); err != nil {
			return err
		}
	}
	return nil
}

// state returns the encoded state of an active Job, as of the newest record in the fold. If the checkpoint of the Job
// is split over several records, and the fold has only some of them, it returns these.
func (p *part) state(uid string) (state, names []byte) {
	s := events.Stream{Kind: events.StreamJob, ID: uid}
	if p.fold.World().Job(s) == nil {
		return p.fold.World().Collected(s)
	}
	state, names, _ = p.fold.World().StreamState(s)
	return state, names
}

// kept returns the new content of an entry of the old list whose Job has no record in the fold. The entry keeps its
// key. If states is false, it loses its state; if all states were restored into the fold, it gets the fold's state.
func (p *part) kept(it item, states bool) ([]byte, error) {
	d := decoder{rest: it.content}
	key := d.bytes(8)
	if d.bad {
		return nil, errMalformed
	}
	if states && !p.whole {
		return it.content, nil
	}
	var state, names []byte
	if states {
		state, names = p.state(string(it.key))
	}
	return appendText(appendText(slices.Clone(key), state), names), nil
}

// old returns the entries of one table of the old list; none if the fold began without a list. of selects the table.
func (p *part) old(of func(*list) *table) iter.Seq2[item, error] {
	if p.base == nil {
		return func(func(item, error) bool) {}
	}
	return of(p.base).all
}

// tidy removes the lists of log files that no longer exist, because they were pruned (deleted).
func (k *Keeper) tidy(files []store.File) error {
	entries, err := os.ReadDir(k.config.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		digits, ok := strings.CutSuffix(e.Name(), suffix)
		first, err := strconv.ParseUint(digits, 10, 64)
		if !ok || err != nil {
			continue
		}
		_, kept := slices.BinarySearchFunc(files, events.Sequence(first), func(f store.File, at events.Sequence) int { return cmp.Compare(f.First, at) })
		if kept {
			continue
		}
		if err := os.RemoveAll(filepath.Join(k.config.Dir, e.Name())); err != nil {
			return fmt.Errorf("remove a list of Jobs of a file that is gone: %w", err)
		}
	}
	return nil
}
