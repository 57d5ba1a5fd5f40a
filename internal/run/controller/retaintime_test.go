package controller

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats/publish"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/sidebyside"
	"github.com/jobledger/jobledger/internal/dev/sim/joblog"
	"github.com/jobledger/jobledger/reconciler/checkpoint"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/livetail"
)

// pace is how fast a log is written by the wall clock, and for how long. What its consumer writes to is away from the
// first third of that time to the second.
type pace struct {
	most     int64
	lasts    time.Duration
	a1second int           // records
	running  int           // Jobs that run at any time
	parked   int           // Jobs that are suspended all the time
	pause    time.Duration // between two turns, at least
	long     bool          // enough for its memory to be judged
	late     time.Duration // how late a turn of the loop may be
	apart    bool          // the consumer's server has a process of its own, so that the memory of this one can be judged
}

// thePace is half an hour of 500 records in a second with a cap of 40 MB, at length. In short it is some seconds of
// more records with 6 MiB: more than four times the states of fewer Jobs, as refuseStates asks for.
func thePace() pace {
	if effort.IsLong() {
		return pace{most: 40_000_000, lasts: 30 * time.Minute, a1second: 500, running: 200, parked: 200, pause: 10 * time.Millisecond, late: 2 * time.Second, long: true}
	}
	return pace{most: 6 << 20, lasts: 12 * time.Second, a1second: 4000, running: 60, parked: 20, pause: time.Millisecond, late: 10 * time.Second}
}

// The process may grow by 32 MiB in ten minutes: 300,000 records are 80 MB. It is looked at apart while the NATS server
// is away, and when it is back. The server has a process of its own.
const grown = 32 << 20

// TestALogStaysWithinItsSizeByTheClock: half an hour, by the wall clock, of a cluster that makes 500 records in a
// second, with a cap of 40 MB and 200 Jobs that are suspended from the first second on. What runs beside the loop in a
// controller runs as there: it lets files go, packs them, and publishes on NATS, whose server is away for ten minutes.
// At every second the log is within its size, the memory of the process does not grow, and no turn of the loop is late.
func TestALogStaysWithinItsSizeByTheClock(t *testing.T) {
	effort.Whole(t)
	p := thePace()
	p.apart = true
	k := keep(t, p.most, publish.Consumer)
	server := natstest.NewServer(t).Apart().Start()
	stream := natstest.Publish(t, server, livetail.New(k.log, 0))
	c := &clocked{keeping: k, pace: p, leaves: func() { stream.CaughtUp(t); server.Stop() }, returns: func() { server.Start() }}
	l := c.write(k.log)
	stream.CaughtUp(t)
	stream.Stop()
	if !k.streamLacks(server) && !p.long { // in half an hour the log keeps nearly all of ten minutes, and the publisher had read the rest ahead
		t.Error("the stream lacks nothing")
	}
	k.restart(l.World())
}

// write writes the log at its pace, through log, and judges what was seen. The caller reads its end.
func (c *clocked) write(log store.Log) *loop.Loop {
	t := c.t
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var beside sync.WaitGroup
	defer beside.Wait()
	defer cancel()
	beside.Go(func() { c.retainer.run(ctx) })
	packs := newPacker(c.log, c.lasts/30, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	beside.Go(func() { packs.run(ctx) })
	machine := &machine{}
	beside.Go(func() { machine.run(ctx, t) })

	c.began = time.Now()
	cfg := joblog.Busy(int(c.lasts.Seconds()) * c.a1second)
	cfg.Running, cfg.Parked = c.running, c.parked
	if c.long { // Jobs of one pod: of large ones more and more are alive for an hour, and their pods are memory of the test, too
		cfg.Single = 1000
	}
	cfg.Now = func() events.Time { return events.At(time.Now()) }
	cfg.Between = c.between
	before := sidebyside.Processor()
	l, err := joblog.Write(log, cfg)
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(c.began)
	cancel()
	beside.Wait()
	c.report(l, took, sidebyside.Processor()-before, machine)
	if len(c.missed) == 0 {
		t.Fatal("nothing was missed")
	}
	return l
}

// clocked is a log that is written at some pace.
type clocked struct {
	*keeping
	pace
	leaves  func() // takes away what the consumer writes to, once the consumer has got through all
	later   func() // lets it be away in another way, for the last fifth of that time; may be nil
	returns func() // gives it back

	began    time.Time
	idle     time.Time       // since when the next turn may have begun
	before   events.Sequence // the head of the log at the end of the turn before
	gulp     int64           // records of one turn, at most: a turn that came late has many, and a file ends behind a whole turn
	away     bool
	pending  []pending
	turns    []time.Duration // how long each took, until all of it was durable
	overdue  time.Duration   // how long after it was due something was looked at, at most
	waits    int             // how often something was due
	due      events.Time     // when the loop wants to make a turn, whatever comes
	dueSince events.Time     // when it said so first
	states   int64           // bytes that each file begins with, at most
	seconds  int             // at which the log was looked at
	file     int64           // the largest file of records
	grows    []int64         // memory of the process, at each thirtieth of the time
	sized    []int64         // bytes that a file would begin with, likewise
}

// machine is the control beside the log: it writes a page to a file and syncs it, again and again. How long that takes
// at most is how long the machine and its disk stood still.
type machine struct{ longest time.Duration }

// run ends with ctx.
func (m *machine) run(ctx context.Context, t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "beside"))
	if err != nil {
		t.Error(err)
		return
	}
	defer file.Close()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for page := make([]byte, 4096); ; {
		due := time.Now()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if _, err = file.WriteAt(page, 0); err == nil {
			err = file.Sync()
		}
		if err != nil {
			t.Error(err)
			return
		}
		m.longest = max(m.longest, time.Since(due)-100*time.Millisecond)
	}
}

// pending is a record that records go, which may not be durable yet.
type pending struct {
	at       events.Sequence
	recorded chan<- struct{}
}

// between is called between two turns.
func (c *clocked) between(now events.Time, l *loop.Loop) error {
	if !c.idle.IsZero() {
		c.turns = append(c.turns, time.Since(c.idle))
	}
	if c.due != 0 && now >= c.due {
		c.waits++
		c.overdue = max(c.overdue, now.Sub(max(c.due, c.dueSince)))
	}
	if wake := l.Wake(); wake != c.due {
		c.due, c.dueSince = wake, now
	}
	head := c.log.Head().Sequence
	c.gulp, c.before = max(c.gulp, int64(head-c.before)), head
	_, whole := l.World().Restated()
	c.retainer.whole.Store(uint64(whole))
	c.prune(now, l)
	c.meddle()
	// There is always a pause: what happens in a turn takes time in a cluster.
	wanted := float64(c.log.Head().Sequence) / float64(c.a1second) * float64(time.Second)
	pause := time.Until(c.began.Add(time.Duration(wanted)))
	if c.due != 0 { // what is due is no later for the pace that the test keeps
		pause = min(pause, c.due.Sub(now))
	}
	pause = max(pause, c.pause)
	<-time.After(pause)
	if err := c.look(l); err != nil {
		return err
	}
	c.idle = time.Now()
	return nil
}

// prune records what the retainer asks for, as the loop's runner does.
func (c *clocked) prune(now events.Time, l *loop.Loop) {
	for len(c.pending) > 0 && c.pending[0].at <= c.log.Head().Sequence {
		close(c.pending[0].recorded)
		c.pending = c.pending[1:]
	}
	select {
	case p := <-c.retainer.prunes:
		c.prunes++
		c.missed = append(c.missed, p.Facts.Missed...)
		c.pending = append(c.pending, pending{l.Prune(now, p.Facts), p.Recorded})
	default:
	}
}

// meddle takes away what the consumer writes to for a third of the time.
func (c *clocked) meddle() {
	written := float64(c.log.Head().Sequence) / c.lasts.Seconds() / float64(c.a1second) // of all, also when others keep the machine busy
	away := written > 1./3 && written < 2./3
	switch {
	case away && !c.away:
		c.leaves()
	case c.away && !away:
		c.returns()
	case away && written > 0.6 && c.later != nil:
		c.later()
		c.later = nil
	}
	c.away = away
}

// look looks at the size of the log at each second, and at the memory of the process now and then.
func (c *clocked) look(l *loop.Loop) error {
	passed := time.Since(c.began)
	if int(passed/time.Second) > c.seconds || c.seconds == 0 {
		c.seconds++
		size := c.size()
		if c.keeping.largest = max(c.keeping.largest, size); size > c.most {
			return fmt.Errorf("after %s the log has %d bytes, more than %d: %s", passed, size, c.most, c.files())
		}
		files, err := c.log.Files()
		if err != nil {
			return err
		}
		for _, f := range files {
			c.file = max(c.file, f.Bytes)
		}
		if c.seconds%max(1, int(c.lasts/(180*time.Second))) == 0 {
			c.states = max(c.states, checkpoint.StatesBytes(l.World()))
		}
	}
	if int(passed*30/c.lasts) > len(c.grows) {
		runtime.GC()
		c.grows = append(c.grows, resident())
		c.sized = append(c.sized, checkpoint.StatesBytes(l.World()))
	}
	return nil
}

// report says what was seen, and what of it may not be.
func (c *clocked) report(l *loop.Loop, took, processor time.Duration, beside *machine) {
	t, records := c.t, int(l.World().Head)
	slices.Sort(c.turns)
	longest := c.turns[len(c.turns)-1]
	t.Logf("%d records in %s, %.0f a second; %.0f %% of a processor; at %d seconds the log had %d bytes at most, a file %d, of which states %d; %d times records went",
		records, took.Round(time.Second), float64(records)/took.Seconds(), 100*processor.Seconds()/took.Seconds(), c.seconds, c.keeping.largest,
		c.file, c.states, c.prunes)
	t.Logf("%d turns, of %d records at most: half took %s or less, all but a thousandth %s or less, the longest %s; what was due was looked at %s late at most (%d times)",
		len(c.turns), c.gulp, c.turns[len(c.turns)/2], c.turns[len(c.turns)*999/1000], longest, c.overdue, c.waits)
	t.Logf("memory of the process: %d; states: %d", c.grows, c.sized)
	if c.prunes < 3 || c.log.First() == 1 {
		t.Errorf("records went %d times, and the log begins with record %d", c.prunes, c.log.First())
	}
	t.Logf("a write of a page beside it took %s at most", beside.longest)
	if worst := max(longest, c.overdue) - c.late; worst > 2*beside.longest {
		t.Errorf("a turn took %s, and something was %s late: more than %s and twice the %s of a write beside it", longest, c.overdue, c.late, beside.longest)
	}
	if c.waits == 0 {
		t.Error("nothing was ever due")
	}
	const record = 512                                                          // bytes; one of these Jobs has half of it
	if most := max(c.most/8, 2*c.states)*5/4 + 2*c.gulp*record; c.file > most { // in pages
		t.Errorf("a file has %d bytes, more than %d, two turns of %d records included, as a commit may have", c.file, most, c.gulp)
	}
	if c.seconds < int(took.Seconds())-2 {
		t.Errorf("the log was looked at %d times in %s", c.seconds, took)
	}
	if !c.long || !c.apart {
		return
	}
	for _, part := range [][]int64{c.grows[11:20], c.grows[22:]} {
		if first, last := part[0], part[len(part)-1]; last > first+grown {
			t.Errorf("the process grew from %d to %d bytes", first, last)
		}
	}
}
