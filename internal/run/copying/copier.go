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

// Consumer is the name under which the log remembers the last record that was copied (the offset).
const Consumer = "copy"

const (
	every       = 5 * time.Second        // a new record waits at most this long for the next pass (round of copying)
	look        = 500 * time.Millisecond // time between checks whether so many bytes wait that a pass begins earlier
	enough      = 1 << 20                // bytes of new records at which a pass begins at once
	uploadEvery = 5 * time.Second        // time between checks for a complete file that is compressed and can be copied
	lookAgain   = 30 * time.Second       // longest backoff while the destination fails
)

// Config says what to copy, and where.
type Config struct {
	Dir string    // the log's directory
	Log store.Log // the log, which this process writes
	// returns the log's last durable record, and the log's identity (ID and epoch)
	Durable func() (events.Identity, store.Head)
	Written func() uint64 // bytes of records appended since the log was opened
	Place   copylog.Place // the directory or bucket of the copy
	// continue even if the destination cannot prevent two processes from writing
	Unfenced bool
	Writer   string // version of this program
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
	known   bool // a test has shown that the destination can prevent two processes from writing
	// receives a value when Upload wrote a complete file, which the next pass must add to the list of objects
	put     chan struct{}
	written uint64 // value of Config.Written when the last pass (round of copying) began
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

// live gives a backup.Session access to the log of this process.
type live struct {
	store.Reader
	durable func() (events.Identity, store.Head)
}

// Head implements beside.Live: it returns the log's last durable record.
func (l live) Head(context.Context) (events.Identity, store.Head, error) {
	id, head := l.durable()
	return id, head, nil
}

// Read implements beside.Live: it yields the log's records from record from on.
func (l live) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return l.Reader.Read(ctx, from)
}

// Run copies records as they become durable, until ctx ends or the log closes. If the destination fails, it tries
// again. If the copy has records that the log lacks, it copies nothing more and waits for the end of ctx.
func (k *Copier) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { // ends when ctx ends
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

// wait blocks until the next pass (round of copying) is due; after failures it waits longer. It returns false if
// copying is to end.
func (k *Copier) wait(ctx context.Context, failures int) bool {
	if failures > 0 {
		return pause(ctx, min(time.Second<<min(failures-1, 10), lookAgain))
	}
	copied, begun := k.state.through()
	if !begun {
		return ctx.Err() == nil // the first pass begins at once: it must read the copy
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

// newRecord blocks until the log has a record after copied, or Upload has written a complete file. It returns false if
// copying is to end.
func (k *Copier) newRecord(ctx context.Context, copied events.Sequence) bool {
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	put := make(chan struct{})
	go func() { // ends when this function returns
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

// pass copies all durable records that the copy lacks. If another process has replaced the manifest (the list of the
// copy's objects) in the meantime, it reads the copy again, up to 3 times.
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

// try tests that the destination can prevent two processes from writing the copy (by conditional writes). After one
// success it does nothing.
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

// ErrUnfenced is returned if the destination cannot prevent two processes from writing the copy.
var ErrUnfenced = errors.New("the server of the copy knows no conditional writes (If-Match, If-None-Match), so a second controller, of an older " +
	"copy of the log, could overwrite the copy: use another server, or say --copy-unfenced and see to it that nothing else writes there")

// upload copies complete files of the log as soon as they are compressed, until ctx ends.
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

// CatchUp copies the records that are durable now, in one pass. Call it after Run has ended.
func (k *Copier) CatchUp(ctx context.Context) error {
	_, head := k.Durable()
	if copied, begun := k.state.through(); begun && copied >= head.Sequence || k.state.ended() {
		return nil
	}
	return k.pass(ctx)
}
