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
	markEvery = time.Second      // time between two marks (places where the stream may be cut) of a leader
	cutEvery  = 10 * time.Second // default time between two cuts
	mostMarks = 1024

	// DefaultMembers is the default number of replicas of a log.
	DefaultMembers = 3
	// DefaultMaxBytes is the default size at which the leader cuts the stream without waiting for an absent replica: 4
	// GiB.
	DefaultMaxBytes = 4 << 30

	leastCopies = 2 // number of disks that must have a record before it is cut from the stream
)

// ErrPurged: someone other than the leader removed messages from the stream. Only the leader's disk may have their
// records.
var ErrPurged = errors.New("messages of the stream of the log were removed, and not by a controller")

// mark is a place in the stream where it may be cut, and the last record before that place.
type mark struct {
	place uint64
	head  store.Head
}

// copies is what is known about the replicas when the leader decides how much of the stream to cut.
type copies struct {
	own     store.Head
	others  []exchange.Head // replicas that have the same records as the leader
	bytes   int64           // size of the stream
	members int
	most    int64
}

// through returns the record up to which the stream may be cut, or why it may not be cut. A record is cut only if two
// disks have it: the leader's, and that of a replica heard within the last 3 s. Below the size limit, the cut also
// waits for each replica that was heard once, and until as many replicas as configured have been heard. Above the limit
// it does not; a replica that is behind or absent must then fetch records from another one.
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

// cutter removes old messages from the stream, after the replicas have their records on disk. It belongs to one
// goroutine of the leader.
type cutter struct {
	m     *Member
	marks []mark // oldest first
	told  string // the reason that was logged last
	first uint64 // first place in the stream, as this leader found it or cut it
}

// run marks and cuts until ctx ends. It tries again after a failed cut. It returns ErrPurged if someone else removed
// messages: no other disk may have their records.
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

// mark adds a mark after the newest message.
func (c *cutter) mark() {
	s := c.m.line.State()
	c.add(mark{place: s.Place + 1, head: s.Head})
}

// add appends a mark. If there are more than 1024 marks, it removes every second one.
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

// cut removes the messages before the newest mark up to which the replicas have all records.
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

// same reports whether a replica has the same records as the leader. A replica with other records is logged, and not
// counted.
func (c *cutter) same(h *exchange.Head) (bool, error) {
	_, own := c.m.log.Durable()
	if h.Head.Sequence > own.Sequence {
		return !h.Away(), nil // this disk is still writing these records; the replica's end allows no cut
	}
	hash, err := c.m.log.Chain(h.Head.Sequence)
	switch {
	case errors.Is(err, store.ErrPruned):
		return true, nil // the replica is so far behind that it fetches everything again
	case err != nil:
		return false, err
	case hash != h.Head.Hash:
		c.m.config.Logger.Error("a replica has another history than this log", "replica", h.Name, "record",
			uint64(h.Head.Sequence), "its hash", h.Head.Hash.String(), "ours", hash.String())
		return false, nil
	}
	return true, nil
}

// good reports whether the message at the mark may become the stream's first one. Readers take the term and the writer
// from that message. So it must be a valid message of this leader, and not a continuation of an earlier message.
func (c *cutter) good(ctx context.Context, m mark) (bool, error) {
	data, found, err := c.m.stream.At(ctx, m.place)
	if err != nil || !found {
		return false, err
	}
	s, err := natslog.Decode(data)
	state := c.m.line.State()
	return err == nil && s.Writer == state.Writer && s.Term == state.Term && s.Part == 1 && s.Before == m.head, nil
}

// tell logs once why old messages are not cut from the stream, or that they are cut although a replica is absent.
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
