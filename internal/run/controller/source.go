package controller

import (
	"context"
	"errors"
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/lease"
	"github.com/jobledger/jobledger/internal/run/replicating"
)

// source gives a follower the records of the log that it does not lead, and the log itself once it holds the Lease.
type source interface {
	// Own completes what the Lease says of this process's log.
	Own(l lease.Log) lease.Log
	// Saw is called with the Lease of another process, each time that it is read.
	Saw(said lease.Said)
	// Exchange gives the log to other processes until ctx ends.
	Exchange(ctx context.Context) error
	// Follow appends records to the log until ctx ends, and then returns nil.
	Follow(ctx context.Context) error
	// Watch calls say with why this process is behind, or with "", until ctx ends.
	Watch(ctx context.Context, say func(string)) error
	// Ready returns why the Lease may not be taken now, given its content and the state of the log.
	Ready(before lease.Said, own lease.Log) error
	// Take makes this process the log's only writer, and returns its term. It is called after Follow has returned.
	Take(ctx context.Context, holds func() bool) (term uint64, err error)
	// Write runs as long as this process writes the log. Its error ends the leadership.
	Write(ctx context.Context) error
	// Released returns a channel that receives a value when the leader is about to give the Lease back; nil if there is
	// no such news.
	Released() <-chan struct{}
	// Release is called when this process has written its last record.
	Release(ctx context.Context) error
}

// mender is a source that can replace a damaged file of the log.
type mender interface {
	Mend(ctx context.Context, first events.Sequence) error
}

// replicated is the source of a log that a NATS stream replicates.
type replicated struct{ *replicating.Member }

// refiller is a source that may have stored records again where the log comes from.
type refiller interface {
	// Refilled returns what has no record in the log yet; nil for nothing.
	Refilled() *events.StreamRefilled
	Recorded() error
}

var (
	_ source   = replicated{}
	_ mender   = replicated{}
	_ refiller = replicated{}
)

// Own implements source: the Lease names the stream and this replica.
func (r replicated) Own(l lease.Log) lease.Log {
	l.Stream, l.Replica = r.Named(), r.Replica()
	return l
}

// Saw implements source.
func (r replicated) Saw(said lease.Said) {
	if said.LogID == r.LogID() {
		r.Member.Saw(said.Stream)
	}
}

// Ready implements source: the stream must be read to its end, and the log must have the record that the Lease names.
// Taking the Lease would overwrite the proof of that record. If the stream lost records, this log must have all that
// was done.
func (r replicated) Ready(before lease.Said, own lease.Log) error {
	short := r.Short()
	if err := r.Behind(); err != nil && !errors.Is(short, replicating.ErrGone) {
		return err
	}
	if lacks(before, own) {
		return &lackError{fmt.Errorf("the Lease %s says that the log had record %d of epoch %d, and all that its stream gave "+
			"ends with record %d of epoch %d", before.Lease, before.Head, before.Epoch, own.Head, own.Epoch)}
	}
	if short == nil {
		return nil
	}
	if err := r.Yields(context.Background(), hadAll(before, own), before.Replica); err != nil {
		err = fmt.Errorf("%w. %w", short, err)
		r.Waits(err)
		return err
	}
	return nil
}

// hadAll reports whether a log has all that was done under the Lease: it is that of the holder, or has the record with
// which the holder gave the Lease back. The holder acts on nothing that its disk does not have.
func hadAll(before lease.Said, own lease.Log) bool {
	same := before.LogID == own.LogID && !lacks(before, own)
	return same && (before.Holder == "" || before.Replica != "" && before.Replica == own.Replica ||
		before.Lock != "" && before.Lock == own.Lock)
}

// lackError: the log lacks records that the Lease names.
type lackError struct{ error }
