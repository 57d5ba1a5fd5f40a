package copying

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/follow"
	"github.com/jobledger/jobledger/internal/run/backup"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/copylog"
)

// Consumer is the name under which the log keeps the copy's offset.
const Consumer = "copy"

const (
	every       = 5 * time.Second        // from the first record that the copy lacks to a pass
	look        = 500 * time.Millisecond // between checks whether enough bytes wait to begin a pass earlier
	enough      = 1 << 20                // bytes of records with which a pass does not wait
	uploadEvery = 5 * time.Second        // between checks whether a sealed file is packed
	lookAgain   = 30 * time.Second       // longest backoff while the place fails
)

// Config says what to copy, and where.
type Config struct {
	Dir      string                               // the log's directory
	Log      store.Log                            // the log, which this process writes
	Durable  func() (events.Identity, store.Head) // the log's durable head, and its identity there
	Written  func() uint64                        // bytes of records appended since the log was opened
	Place    copylog.Place                        // destination of the copy
	Unfenced bool                                 // continue even if the place cannot keep two writers apart
	Writer   string                               // version of this program
	Logger   *slog.Logger

	// Ahead is called once if the copy has records that the log does not have; may be nil.
	Ahead func(*backup.AheadError)
}

// Copier copies a log. Make it with New, and call Run once.
type Copier struct {
	Config
	offset  follow.Offset
	session *backup.Session
	state   state
	known   bool          // the place was tried
	put     chan struct{} // has a token when a pass must name a newly written sealed file
	written uint64        // Config.Written at the beginning of the last pass
}

// New returns a copier that does nothing until Run.
func New(c Config) (*Copier, error) {
	offset := follow.Offset{Log: c.Log, Consumer: Consumer}
	through, err := offset.Load()
	if err != nil {
		return nil, err
	}
	place := copylog.Place(timely{c.Place})
	if c.Unfenced {
		place = copylog.Unfenced{Place: place}
	}
	k := &Copier{Config: c, offset: offset, put: make(chan struct{}, 1)}
	k.Place = place
	k.state.init(&k.Config, through)
	k.session = backup.NewSession(&backup.Config{
		Dir: c.Dir, Place: place, Live: live{c.Log, c.Durable}, Temp: c.Dir, Writer: c.Writer, Tell: k.state.step,
	})
	return k, nil
}

// live is the log of this process, for a backup.Session.
type live struct {
	store.Reader
	durable func() (events.Identity, store.Head)
}

// Head is described by beside.Live.
func (l live) Head(context.Context) (events.Identity, store.Head, error) {
	id, head := l.durable()
	return id, head, nil
}

// Read is described by beside.Live.
func (l live) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return l.Reader.Read(ctx, from)
}

// Run copies records as they become durable, until ctx ends or the log closes. No failure of the place ends it.
func (k *Copier) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { // ends with ctx
		defer close(ended)
		k.upload(ctx)
	}()
	defer func() {
		stop()
		<-ended
	}()
	for failures := 0; k.wait(ctx, failures); {
		err := k.pass(ctx)
		var ahead *backup.AheadError
		switch {
		case ctx.Err() != nil || errors.Is(err, store.ErrClosed):
			return nil
		case errors.As(err, &ahead):
			k.state.fail(err)
			if k.Ahead != nil {
				k.Ahead(ahead)
			}
			<-ctx.Done()
			return nil
		case err != nil:
			failures++
			k.state.fail(err)
		default:
			failures = 0
		}
	}
	return nil
}

// wait waits until a pass is due. It returns false if no further pass is due.
func (k *Copier) wait(ctx context.Context, failures int) bool {
	if failures > 0 {
		return pause(ctx, min(time.Second<<min(failures-1, 10), lookAgain))
	}
	copied, begun := k.state.through()
	if !begun {
		return ctx.Err() == nil // the first pass reads the copy even if nothing is new
	}
	if !k.newRecord(ctx, copied) {
		return false
	}
	for began := time.Now(); time.Since(began) < every; {
		if k.Written()-k.written >= enough {
			break
		}
		if !pause(ctx, look) {
			return false
		}
	}
	return true
}

// newRecord waits until the log has a record that the copy lacks, or a sealed file was written.
func (k *Copier) newRecord(ctx context.Context, copied events.Sequence) bool {
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	put := make(chan struct{})
	go func() { // ends with this function
		defer close(put)
		select {
		case <-k.put:
			stop()
		case <-waiting.Done():
		}
	}()
	_, err := k.Log.Wait(waiting, copied)
	stop()
	<-put
	return ctx.Err() == nil && (err == nil || errors.Is(err, context.Canceled))
}

func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// pass copies the durable records. If another process has written the manifest meanwhile, it reads the copy again, up
// to 3 times.
func (k *Copier) pass(ctx context.Context) error {
	if err := k.try(ctx); err != nil {
		return err
	}
	const tries = 3
	for n := 1; ; n++ {
		written := k.Written()
		result, err := k.session.Pass(ctx)
		if errors.Is(err, copylog.ErrChanged) && n < tries {
			k.state.count(err)
			continue
		}
		if err != nil {
			return err
		}
		k.written = written
		k.state.copied(&result)
		return k.offset.Note(result.Head.Sequence)
	}
}

// try checks once whether the place can keep two writers apart.
func (k *Copier) try(ctx context.Context) error {
	if k.known || k.Unfenced {
		return nil
	}
	found, err := copylog.Try(ctx, k.Place)
	if err != nil {
		return err
	}
	if k.known = found.Fenced; !k.known {
		return ErrUnfenced
	}
	return nil
}

// ErrUnfenced: the place cannot keep two writers apart.
var ErrUnfenced = errors.New("the server of the copy knows no conditional writes (If-Match, If-None-Match), so a second controller, of an older " +
	"copy of the log, could overwrite the copy: use another server, or say --copy-unfenced and see to it that nothing else writes there")

// upload writes sealed files once they are packed.
func (k *Copier) upload(ctx context.Context) {
	for failures := 0; pause(ctx, cmp.Or(min(time.Duration(failures)*uploadEvery, lookAgain), uploadEvery)); {
		first, err := k.session.Upload(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			failures++
			k.state.count(err)
			k.Logger.Debug("a sealed file is not in the copy as a whole yet", "first", uint64(first), "error", err)
		case first != 0:
			failures = 0
			select {
			case k.put <- struct{}{}:
			default:
			}
		}
	}
}

// CatchUp copies the records that are durable now. Call it after Run has ended.
func (k *Copier) CatchUp(ctx context.Context) error {
	_, head := k.Durable()
	if copied, begun := k.state.through(); begun && copied >= head.Sequence || k.state.ended() {
		return nil
	}
	return k.pass(ctx)
}
