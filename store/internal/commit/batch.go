package commit

import (
	"time"

	"github.com/jobledger/jobledger/store"
)

// Batch is a batch of records that was appended and is not durable yet. Work is what the backend needs to store it.
type Batch[W any] struct {
	Work W

	records  int
	bytes    int64
	soon     bool
	appended time.Time
	done     chan struct{}
	err      error // set before done is closed
}

// NewBatch returns a batch that is not in a queue yet.
func NewBatch[W any]() *Batch[W] { return &Batch[W]{done: make(chan struct{})} }

// Size sets the number of records in the batch, and their total size in stored form.
func (b *Batch[W]) Size(records int, bytes int64) { b.records, b.bytes = records, bytes }

// Done implements store.Commit: it returns a channel that is closed when the batch is durable or has failed.
func (b *Batch[W]) Done() <-chan struct{} { return b.done }

// Err implements store.Commit: it returns why the batch is not durable, nil if it is. It is valid once Done is closed.
func (b *Batch[W]) Err() error { return b.err }

// Bytes implements store.Commit: it returns the size of the batch's records in stored form.
func (b *Batch[W]) Bytes() int { return int(b.bytes) }

// End sets the outcome of a batch, nil if it is durable, and closes Done. The batch must not be in a queue. It may be
// called once.
func (b *Batch[W]) End(err error) {
	b.err = err
	close(b.done)
}

var _ store.Commit = (*Batch[struct{}])(nil)
