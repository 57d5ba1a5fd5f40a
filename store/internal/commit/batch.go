package commit

import (
	"time"

	"github.com/jobledger/jobledger/store"
)

// Batch is a batch on its way to be durable. Work is what the backend knows of it.
type Batch[W any] struct {
	Work W

	records  int
	bytes    int64
	soon     bool
	appended time.Time
	done     chan struct{}
	err      error // before done is closed
}

// NewBatch makes a batch that is not in a queue yet.
func NewBatch[W any]() *Batch[W] { return &Batch[W]{done: make(chan struct{})} }

// Size sets how many records the batch has, and how many bytes these have in stored form.
func (b *Batch[W]) Size(records int, bytes int64) { b.records, b.bytes = records, bytes }

// Done is described by store.Commit.
func (b *Batch[W]) Done() <-chan struct{} { return b.done }

// Err is described by store.Commit.
func (b *Batch[W]) Err() error { return b.err }

// Bytes is described by store.Commit.
func (b *Batch[W]) Bytes() int { return int(b.bytes) }

// End says what became of a batch that has left the queue, or was never in one. It is called once.
func (b *Batch[W]) End(err error) {
	b.err = err
	close(b.done)
}

var _ store.Commit = (*Batch[struct{}])(nil)
