package controller

import (
	"context"
	"errors"
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/lease"
	"github.com/jobledger/jobledger/internal/run/replicating"
)

// source is where a process that does not lead gets the records of the leader's log from. When the process holds the
// Lease, source makes it the log's writer.
type source interface {
	// Own returns the description of this process's log for the Lease: l, and what the source knows in addition.
	Own(l lease.Log) lease.Log
	// Saw is called each time that the Lease of another process is read.
	Saw(said lease.Said)
	// Exchange sends the log to other processes until ctx ends.
	Exchange(ctx context.Context) error
	// Follow appends records to the log until ctx ends, and then returns nil.
	Follow(ctx context.Context) error
	// Watch calls say repeatedly until ctx ends, with the reason why this process is behind, or "" if it is not.
	Watch(ctx context.Context, say func(string)) error
	// Ready returns why the Lease may not be taken now, given the Lease's content and the state of this process's log.
	Ready(before lease.Said, own lease.Log) error
	// Take makes this process the log's only writer, and returns its term (the number of this time as writer). It is
	// called after Follow has returned. holds reports whether the Lease is still held.
	Take(ctx context.Context, holds func() bool) (term uint64, err error)
	// Write returns when this process must stop writing the log; an error ends the leadership.
	Write(ctx context.Context) error
	// Released returns a channel that receives a value when the leader is about to release the Lease; nil if the source
	// does not know.
	Released() <-chan struct{}
	// Release is called when this process has written its last record.
	Release(ctx context.Context) error
}

// mender is implemented by a source that can replace a damaged file of the log by a good one. first is the file's first
// record.
type mender interface {
	Mend(ctx context.Context, first events.Sequence) error
}

// replicated implements source for a log that a NATS stream replicates.
type replicated struct{ *replicating.Member }

// refiller is implemented by a source that may have stored records in the log's stream again, after the stream had lost
// them (a refill).
type refiller interface {
	// Refilled returns which records were stored again, if the log has no record of this yet; nil for none. Recorded
	// forgets them.
	Refilled() *events.StreamRefilled
	Recorded() error
}

var (
	_ source   = replicated{}
	_ mender   = replicated{}
	_ refiller = replicated{}
)

// Own implements source: it adds the names of the NATS stream and of this replica (one of the logs that the stream
// replicates) to the description of the log.
func (r replicated) Own(l lease.Log) lease.Log {
	l.Stream, l.Replica = r.Named(), r.Replica()
	return l
}

// Saw implements source: if the Lease names this log, it passes on which NATS stream the Lease names.
func (r replicated) Saw(said lease.Said) {
	if said.LogID == r.LogID() {
		r.Member.Saw(said.Stream)
	}
}

// Ready implements source: it returns why the Lease must not be taken. The stream must be read to its end, and the log
// must have the record that the Lease names, because taking the Lease overwrites the proof of that record. If the
// stream lost records, this log must also have all records on which the previous holder acted.
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

// hadAll reports whether own, this process's log, has every record on which the holder of the Lease acted. It does if
// it is the holder's own log, or if the holder released the Lease and own has the record that the Lease then named. A
// holder acts only on records that are on its disk.
func hadAll(before lease.Said, own lease.Log) bool {
	same := before.LogID == own.LogID && !lacks(before, own)
	return same && (before.Holder == "" || before.Replica != "" && before.Replica == own.Replica ||
		before.Lock != "" && before.Lock == own.Lock)
}

// lackError says that the log lacks records that the Lease names.
type lackError struct{ error }
