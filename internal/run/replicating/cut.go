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
)

const (
	markEvery = time.Second      // time between marks of a leader
	cutEvery  = 10 * time.Second // default time between cuts
	mostMarks = 1024

	// DefaultMembers is the default number of replicas of a log.
	DefaultMembers = 3
	// DefaultMaxBytes is the default size of a stream from which it waits no longer for a replica that is away: 4 GiB.
	DefaultMaxBytes = 4 << 30

	leastCopies = 2 // disks that must have a record before it is cut
)

// ErrPurged: the stream was cut, and not by its leader. What went may be on the leader's disk alone.
var ErrPurged = errors.New("messages of the stream of the log were removed, and not by a controller")

// mark is a place for a message of this leader, and the head that the message would continue.
type mark struct {
	place uint64
	head  store.Head
}

// copies is the state of the replicas on which a cut is decided.
type copies struct {
	own     store.Head
	others  []exchange.Head // with the same history as own
	bytes   int64           // size of the stream
	members int
	most    int64
}

// through returns the record up to which the stream may be cut, or why it may not be cut. Records that are cut are on
// two disks, the leader's and that of a replica heard within 3 s: the stream is never the only other copy. Below the
// bound in bytes, the cut also waits for each replica that was heard once and is away, and for as many replicas as
// there should be. Above it, a replica that lags or is away must fetch from another one.
func (c *copies) through() (at events.Sequence, why string) {
	present := []events.Sequence{c.own.Sequence}
	all := []events.Sequence{c.own.Sequence}
	away := ""
	for _, h := range c.others {
		all = append(all, h.Head.Sequence)
		if h.Away() {
			away = h.Name
		} else {
			present = append(present, h.Head.Sequence)
		}
	}
	full := c.bytes >= c.most
	switch {
	case len(present) < leastCopies:
		return 0, "no other replica was heard: the stream is the only other copy"
	case full:
		slices.Sort(present)
		return present[len(present)-leastCopies], ""
	case len(all) < c.members:
		return 0, fmt.Sprintf("%d of %d replicas were heard", len(all), c.members)
	}
	at = slices.Min(all)
	if away != "" {
		why = "replica " + away + " is away"
	}
	return at, why
}

// cutter cuts the stream behind the records that the replicas have on disk. It belongs to one goroutine of the leader.
type cutter struct {
	m     *Member
	marks []mark // oldest first
	told  string // why nothing is cut, or which replica no longer counts
	first uint64 // where the stream begins, as this leader found or left it
}

// run marks and cuts until ctx ends. It retries a cut that fails. It returns an error if somebody else cut the stream:
// what went may be on no other disk.
func (c *cutter) run(ctx context.Context) error {
	tick := time.NewTicker(markEvery)
	defer tick.Stop()
	for last := time.Now(); ; {
		c.mark()
		if time.Since(last) >= cmp.Or(c.m.config.CutEvery, cutEvery) {
			last = time.Now()
			err := c.cut(ctx)
			if errors.Is(err, ErrPurged) {
				return err
			}
			if err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrClosed) {
				c.m.config.Logger.Warn("the stream of the log is not cut: it grows until it is", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// mark adds a mark at the place behind the newest message.
func (c *cutter) mark() {
	s := c.m.line.State()
	c.add(mark{place: s.Place + 1, head: s.Head})
}

// add appends a mark. If there are more than mostMarks, it keeps every second one.
func (c *cutter) add(next mark) {
	if n := len(c.marks); n > 0 && c.marks[n-1].place == next.place {
		return
	}
	c.marks = append(c.marks, next)
	if len(c.marks) <= mostMarks {
		return
	}
	thin := c.marks[:0]
	for i, m := range c.marks {
		if i%2 == 0 {
			thin = append(thin, m)
		}
	}
	c.marks = thin
}

// cut cuts the stream before the newest message that may become its first one.
func (c *cutter) cut(ctx context.Context) error {
	now, err := c.m.stream.Ask(ctx)
	if err != nil {
		return err
	}
	c.m.bytes.Store(now.Bytes)
	if now.First > c.first {
		return fmt.Errorf("%w: it began with place %d, and begins with %d now", ErrPurged, c.first, now.First)
	}
	k := copies{
		bytes: now.Bytes, members: cmp.Or(c.m.config.Members, DefaultMembers), most: cmp.Or(c.m.config.MaxBytes, DefaultMaxBytes),
	}
	_, k.own = c.m.log.Durable()
	for _, h := range c.m.exchange.Known() {
		if same, err := c.same(&h); err != nil {
			return err
		} else if same {
			k.others = append(k.others, h)
		}
	}
	at, why := k.through()
	c.tell(&k, why)
	if at == 0 {
		return nil
	}
	for i, m := range slices.Backward(c.marks) {
		if m.head.Sequence > at || m.place <= now.First {
			continue
		}
		good, err := c.good(ctx, m)
		if err != nil {
			return err
		}
		if !good {
			c.marks = slices.Delete(c.marks, i, i+1)
			continue
		}
		c.marks = c.marks[i+1:]
		c.first = m.place
		return c.m.stream.Cut(ctx, m.place)
	}
	return nil
}

// same reports whether a replica has the leader's history. A replica with another history is logged, and does not
// count.
func (c *cutter) same(h *exchange.Head) (bool, error) {
	_, own := c.m.log.Durable()
	if h.Head.Sequence > own.Sequence {
		return !h.Away(), nil // this disk is still writing that group; it allows no cut
	}
	hash, err := c.m.log.Chain(h.Head.Sequence)
	switch {
	case errors.Is(err, store.ErrPruned):
		return true, nil // so far behind that it fetches everything
	case err != nil:
		return false, err
	case hash != h.Head.Hash:
		c.m.config.Logger.Error("a replica has another history than this log", "replica", h.Name, "record",
			uint64(h.Head.Sequence), "its hash", h.Head.Hash.String(), "ours", hash.String())
		return false, nil
	}
	return true, nil
}

// good reports whether the message at the mark may be the first one of the stream. A reader that begins there takes
// term and writer from it. So it must be a message of this leader that counts, and not a later part of a segment.
func (c *cutter) good(ctx context.Context, m mark) (bool, error) {
	data, found, err := c.m.stream.At(ctx, m.place)
	if err != nil || !found {
		return false, err
	}
	s, err := natslog.Decode(data)
	state := c.m.line.State()
	return err == nil && s.Writer == state.Writer && s.Term == state.Term && s.Part == 1 && s.Before == m.head, nil
}

// tell logs once why the stream is not cut, or is cut without a replica.
func (c *cutter) tell(k *copies, why string) {
	full := k.bytes >= k.most
	for i := range k.others {
		if full && k.others[i].Away() {
			why = "it has reached its bound, and replica " + k.others[i].Name +
				" is away: it counts no more, and will fetch from another"
		}
	}
	if why == c.told {
		return
	}
	c.told = why
	switch {
	case why == "":
		c.m.config.Logger.Info("the stream of the log is cut behind what its replicas have", "bytes", k.bytes)
	case full:
		c.m.config.Logger.Warn("the stream of the log", "why", why, "bytes", k.bytes, "bound", k.most)
	default:
		c.m.config.Logger.Info("the stream of the log keeps what it has", "why", why, "bytes", k.bytes, "bound", k.most)
	}
}
