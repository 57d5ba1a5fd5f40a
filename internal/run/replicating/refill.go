package replicating

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/natslog"
	"github.com/jobledger/jobledger/store/natslog/exchange"
	"github.com/jobledger/jobledger/store/natslog/replica"
	"github.com/jobledger/jobledger/store/natslog/stream"
	"github.com/jobledger/jobledger/store/natslog/takeover"
)

// surveyWithin is the time limit for asking all replicas which records they have.
const surveyWithin = 2 * time.Second

// The steps of a refill (storing lost records in the stream again), in order. Tests end the process there. Between Made
// and Recorded there are also the steps of package takeover.
const (
	Making   = "making"   // a stream that is gone is about to be created
	Made     = "made"     // the stream is created
	Taken    = "taken"    // the stream has all records; the log has no record of the refill yet
	Recorded = "recorded" // the log has a record of the refill
)

func (m *Member) step(step string) {
	if m.config.Step != nil {
		m.config.Step(step)
	}
}

// remakes reports whether a process that finds no stream may later create it again. The log in its directory must have
// been in this stream, on these servers, because other servers may be the wrong ones.
func (m *Member) remakes(own Own, before *File) bool {
	return before != nil && !m.config.NewStream && own.LogID == before.Log && before.Stream == m.config.Stream &&
		before.Servers != "" && before.Servers == m.config.Dial.Servers()
}

// restore creates the stream again if it is gone, and finds the last record that both stream and log have. holds
// reports whether the Lease is still held.
func (m *Member) restore(ctx context.Context, holds func() bool, log replica.Log) error {
	err := m.until(ctx, "make the stream of the log again", func(ctx context.Context) (done bool, err error) {
		if done, err = m.recognize(ctx); !stream.Gone(err) {
			return done, err
		}
		if !m.lost.isGone(time.Now()) || !holds() {
			return true, err
		}
		m.step(Making)
		before := m.of()
		f := File{Log: before.Log, Stream: before.Stream, Incarnation: unique(), after: before.Incarnation}
		_, err = stream.Make(ctx, m.js, stream.Config{
			Name: f.Stream, Replicas: m.config.Replicas, Metadata: map[string]string{
				logOf: f.Log, incarnationOf: f.Incarnation, afterOf: f.after, sealOf: m.config.seal(&f),
			},
		})
		if err != nil {
			return false, err
		}
		m.step(Made)
		m.config.Logger.Warn("made the stream of the log again", "stream", f.Stream, "incarnation", f.Incarnation,
			"before", f.after)
		return m.recognize(ctx)
	})
	if err != nil {
		return fmt.Errorf("--%s: %w", Flag, err)
	}
	return m.resume(ctx, log)
}

// survey asks all replicas (processes with a copy of the log) which records they have. It waits up to 2 seconds, and
// less if as many have answered as there should be.
func (m *Member) survey(ctx context.Context) ([]exchange.Head, error) {
	bound, cancel := context.WithTimeout(ctx, surveyWithin)
	defer cancel()
	others := cmp.Or(m.config.Members, DefaultMembers) - 1
	heads, err := m.exchange.Survey(bound, func(all []exchange.Head) bool { return len(all) >= others })
	if err != nil {
		err = fmt.Errorf("ask the other replicas how far they are: %w", err)
	}
	return heads, errors.Join(err, ctx.Err())
}

// Yields returns an error if this process must not lead with a stream that lost records. That is so if another replica
// has more records, or if this log may lack records on which the previous leader acted. It lacks none if had is true,
// or if the previous leader, whose replica ID is last, answers that it has no more records. Yields asks all replicas,
// and waits up to 2 s.
func (m *Member) Yields(ctx context.Context, had bool, last string) error {
	heads, err := m.survey(ctx)
	if err != nil {
		return err
	}
	on, err := m.compare(ctx, heads)
	if err != nil {
		return err
	}
	for _, h := range on {
		had = had || last != "" && h.Replica == last && !h.Leads
	}
	if !had {
		return fmt.Errorf("%w: %d other replicas answer, and the one that led last is none of them. Start the controller "+
			"that led last, on its volume: it has all that was done, and stores in the stream what is missing there",
			errUnproved, len(heads))
	}
	return nil
}

// errUnproved is returned if this log may lack records that the previous leader had.
var errUnproved = errors.New("it is not known whether this log has all records")

// compare returns the replicas whose records are all in this log, the shortest log first. It returns an error if a
// replica has more records. It logs a replica with different records, and leaves it out.
func (m *Member) compare(ctx context.Context, heads []exchange.Head) (on []exchange.Head, err error) {
	id, own := m.log.Durable()
	ctx, cancel := context.WithTimeout(ctx, surveyWithin)
	defer cancel()
	for _, h := range heads {
		at := min(h.Head.Sequence, own.Sequence)
		theirs := &h.Head.Hash
		more := h.Epoch > id.Epoch || h.Epoch == id.Epoch && h.Head.Sequence > own.Sequence
		if more {
			has, err := m.exchange.Files(ctx, h.Who, own.Sequence)
			if theirs = has.Chain; err != nil {
				theirs = nil
			}
		}
		hash, err := m.log.Chain(at)
		switch {
		case errors.Is(err, store.ErrPruned) && !more: // left out: it is so old that it will fetch the whole log again
		case err != nil:
			return nil, err
		case theirs != nil && *theirs != hash:
			m.config.Logger.Error("a replica has another history than this log: it does not count", "replica", h.Name, "record",
				uint64(at), "its hash", theirs.String(), "ours", hash.String())
		case more:
			return nil, fmt.Errorf("replica %s has record %d of epoch %d, and this log ends with record %d of epoch %d: "+
				"it is to lead", h.Name, h.Head.Sequence, h.Epoch, own.Sequence, id.Epoch)
		default:
			on = append(on, h)
		}
	}
	slices.SortStableFunc(on, func(a, b exchange.Head) int { return cmp.Compare(a.Head.Sequence, b.Head.Sequence) })
	return on, nil
}

// base returns the record after which a stream that lost records continues: records before it are on two disks. It is
// the callback takeover.Config.Short.
func (m *Member) base(ctx context.Context, state natslog.State) (b takeover.Base, err error) {
	heads, err := m.survey(ctx)
	if err != nil {
		return b, err
	}
	on, err := m.compare(ctx, heads)
	if err != nil {
		return b, err
	}
	switch {
	case state.Term > 0:
		b = takeover.Base{Identity: state.Identity, Head: state.Head}
		err = m.keeps(state.Head.Sequence + 1)
	case len(on) > 0:
		// Another replica and this one have all records through on[0].Head on disk, so the stream does not need these.
		b = takeover.Base{Identity: m.log.Identity(), Head: on[0].Head}
		b.Identity.Epoch = on[0].Epoch
		err = m.keeps(on[0].Head.Sequence + 1)
	default:
		b, err = m.newestFile(ctx)
	}
	for _, h := range heads {
		b.Term = max(b.Term, h.Term)
	}
	return b, err
}

// keeps returns an error if this log has deleted record at, which is to be stored in the stream again.
func (m *Member) keeps(at events.Sequence) error {
	files, err := m.log.(store.Shared).Files()
	if err == nil && len(files) > 0 && files[0].First > at {
		err = fmt.Errorf("%w: the stream goes on with record %d, and this log keeps record %d and later ones. Delete the "+
			"stream (nats stream rm %s): it is made again behind what the replicas have",
			store.ErrPruned, at, files[0].First, m.stream.Name())
	}
	return err
}

// newestFile returns the last record before the newest file of the log. It is used if no other replica answers: the
// stream then gets all records after this one, as a second copy. If the epoch (life of the log) changed in the newest
// file, the result is the last record of that change.
func (m *Member) newestFile(ctx context.Context) (b takeover.Base, err error) {
	log := m.log.(store.Shared)
	files, err := log.Files()
	if err != nil || len(files) == 0 {
		return b, errors.Join(err, errNoReplica)
	}
	file, err := log.Share(files[len(files)-1].First)
	if err != nil {
		return b, err
	}
	b = takeover.Base{Identity: m.log.Identity(), Head: file.Before}
	if err := file.Close(); err != nil {
		return b, err
	}
	at, changed := b.Head, false
	for stored, err := range log.ReadStored(ctx, b.Head.Sequence+1) {
		var h events.Header
		if err == nil {
			h, err = events.DecodeHeader(stored)
		}
		if err == nil {
			at.Hash, err = at.Hash.Next(stored)
		}
		if err != nil {
			return b, err
		}
		at.Sequence, at.Time = h.Sequence, h.Time
		if changed = changed || h.Kind == events.KindEpochChanged; changed && h.Last {
			b.Head, changed = at, false
		}
	}
	return b, nil
}

// refills notes in the file REPLICA which records are about to be stored in the stream again. So the log gets a record
// of this even after a crash.
func (m *Member) refills(now *events.StreamRefilled) error {
	missing := uint64(0)
	if now.Through >= now.From {
		missing = uint64(now.Through-now.From) + 1
	}
	m.config.Logger.Warn("the stream of the log lost records: storing them there again", "from", uint64(now.From),
		"through", uint64(now.Through), "records", missing, "behindPlace", now.Place)
	return m.note(func(f *File) {
		if r := f.Refill; r != nil { // a crash interrupted an earlier refill: note both as one
			f.Refill = &Refill{From: min(r.From, now.From), Through: now.Through, Place: r.Place}
			return
		}
		f.Refill = &Refill{From: now.From, Through: now.Through, Place: now.Place}
	})
}

// Refilled returns which records were stored in the stream again, while the log has no record of this; nil for none.
// Call it after Take.
func (m *Member) Refilled() *events.StreamRefilled {
	r := m.of().Refill
	if r == nil {
		return nil
	}
	m.step(Taken)
	return &events.StreamRefilled{From: r.From, Through: r.Through, Place: r.Place}
}

// Recorded removes what Refilled returns. It is called when the log has a durable record of the refill.
func (m *Member) Recorded() error {
	m.step(Recorded)
	return m.note(func(f *File) { f.Refill = nil })
}
