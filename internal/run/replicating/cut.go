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
	markEvery = time.Second      // time between two marks: notes of the leader where the NATS stream may be cut
	cutEvery  = 10 * time.Second // default time between two cuts: removals of old messages from the stream
	mostMarks = 1024

	// DefaultMembers is the default number of replicas of a log: processes with a copy of it.
	DefaultMembers = 3
	// DefaultMaxBytes is the default size at which the leader cuts the stream (removes old messages) without waiting
	// for a replica that does not answer: 4 GiB.
	DefaultMaxBytes = 4 << 30

	leastCopies = 2 // number of disks that must have a record before its message is removed from the stream
)

// ErrPurged is returned if someone other than a controller removed messages from the stream. Perhaps only the leader's
// disk has their records.
var ErrPurged = errors.New("messages of the stream of the log were removed, and not by a controller")

// mark is a message number (place) before which the stream may be cut, and the last record in front of it.
type mark struct {
	place uint64
	head  store.Head
}

// copies is what the leader knows about the logs of all replicas when it decides how much of the stream to cut.
type copies struct {
	own store.Head
	// the other replicas (processes with a copy of the log) that have the same records as the leader
	others  []exchange.Head
	bytes   int64 // size of the stream in bytes, which is to stay below most
	members int
	most    int64
}

// through returns the record up to which old messages may be removed from the stream, or why none may be removed. Two
// disks must have each record: the leader's, and that of a replica that answered within the last 3 s. While the stream
// is below the size limit, each replica that ever answered must have the record, too, and there must be as many as
// configured. Above the limit this is not required; a replica that lacks removed records fetches them from another one.
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

// cutter removes old messages from the stream when the replicas have their records on disk. One goroutine of the leader
// uses it.
type cutter struct {
	m     *Member
	marks []mark // oldest first
	told  string // last logged reason why nothing was cut
	first uint64 // number of the stream's first message, as this leader found it or cut it
}

// run marks messages and cuts the stream until ctx ends. After a failed cut it tries again. It returns ErrPurged if
// someone else removed messages, because perhaps no other disk has their records.
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

// mark notes a place in the stream where it may be cut later: behind its newest message.
func (c *cutter) mark() {
	s := c.m.line.State()
	c.add(mark{place: s.Place + 1, head: s.Head})
}

// add appends a mark (a place where the stream may be cut). If there are more than 1024 marks, it removes every second
// one.
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

// cut removes messages from the stream: those before the newest mark up to which the replicas have all records.
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

// same reports whether a replica has the same records as the leader. If not, it logs this, and the replica is not
// counted.
func (c *cutter) same(h *exchange.Head) (bool, error) {
	_, own := c.m.log.Durable()
	if h.Head.Sequence > own.Sequence {
		// If the replica has more records, this disk is still writing them. The replica counts if it answers, because
		// no cut goes as far as its last record.
		return !h.Away(), nil
	}
	hash, err := c.m.log.Chain(h.Head.Sequence)
	switch {
	case errors.Is(err, store.ErrPruned):
		// If this log has deleted the replica's last record, the replica will fetch the whole log again, and its
		// records do not matter.
		return true, nil
	case err != nil:
		return false, err
	case hash != h.Head.Hash:
		c.m.config.Logger.Error("a replica has another history than this log", "replica", h.Name, "record",
			uint64(h.Head.Sequence), "its hash", h.Head.Hash.String(), "ours", hash.String())
		return false, nil
	}
	return true, nil
}

// good reports whether the message at the mark may become the first one of the stream. Readers take the writer and its
// term from the first message; so it must be a valid message of this leader, and not the continuation of an earlier
// message.
func (c *cutter) good(ctx context.Context, m mark) (bool, error) {
	data, found, err := c.m.stream.At(ctx, m.place)
	if err != nil || !found {
		return false, err
	}
	s, err := natslog.Decode(data)
	state := c.m.line.State()
	return err == nil && s.Writer == state.Writer && s.Term == state.Term && s.Part == 1 && s.Before == m.head, nil
}

// tell logs, once, why old messages are not removed from the stream, or that they are removed although a replica does
// not answer.
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
