package controller

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/joblog"
	"github.com/jobledger/jobledger/internal/run/lease"
	"github.com/jobledger/jobledger/internal/run/replicating"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// TestWhoIsRefusedByTheLease: design §4, Identity. Another log is refused without --adopt, whether its controller runs
// or not; an older copy always.
func TestWhoIsRefusedByTheLease(t *testing.T) {
	named := func(id string, epoch uint64, head events.Sequence) lease.Log {
		return lease.Log{Identity: events.Identity{LogID: id, Epoch: epoch}, Head: head}
	}
	said := func(holder string, l lease.Log) lease.Said {
		return lease.Said{Lease: "jobledger/jobledger", Holder: holder, Renewed: time.Unix(60, 0), Scope: lease.Everywhere, Log: l}
	}
	ofBefore := said("host_a", named("one", 1, 7))
	ofBefore.Before = true
	for _, row := range []struct {
		sentence string
		before   lease.Said
		own      lease.Log
		adopt    bool
		says     []string // none: it is not refused
	}{
		{"there is no Lease", lease.Said{}, named("one", 1, 7), false, nil},
		{"a Lease that says nothing of a log", lease.Said{Holder: "a"}, named("one", 1, 7), false, nil},
		{"its own log", said("", named("one", 1, 7)), named("one", 1, 7), false, nil},
		{"its own log, which another process may have too", said("a", named("one", 1, 7)), named("one", 1, 7), false, nil},
		{"another log, whose controller has stopped", said("", named("one", 1, 7)), named("two", 1, 9), false,
			[]string{"the Lease jobledger/jobledger says that log one runs", "the one in LOG is log two", "--adopt"}},
		{"another log, whose controller runs", said("host_a", named("one", 1, 7)), named("two", 1, 9), false,
			[]string{"is held by host_a, renewed at 1970-01-01T00:01:00Z, with log one", "stop that controller first", "log two", "--adopt"}},
		{"no log", said("host_a", named("one", 1, 7)), lease.Log{}, false, []string{"host_a", "there is no log in LOG", "--adopt"}},
		{"another log that is to be taken", said("host_a", named("one", 1, 7)), named("two", 1, 9), true, nil},
		{"one of before the first release", ofBefore, named("two", 1, 9), false,
			[]string{"the Lease jobledger/jobledger was written by a jobledger of before the first release, and this one does not read it: " +
				"stop that controller, move its log away, and give --adopt to begin a new one"}},
		{"one of before the first release, and no log", ofBefore, lease.Log{}, false, []string{"give --adopt to begin a new one"}},
		{"one of before the first release, to be taken", ofBefore, named("two", 1, 9), true, nil},
		{"an older copy", said("", named("one", 1, 7)), named("one", 1, 6), true, []string{"ends with record 6", "record 7", "older copy"}},
		{"an older epoch", said("", named("one", 2, 7)), named("one", 1, 9), true, []string{"older copy"}},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			c := &controller{health: &Health{}, config: &Config{Log: "LOG", Lease: LeaseConfig{Adopt: row.adopt}}, logger: slog.New(slog.DiscardHandler)}
			err := c.refuse(row.before, row.own)
			if (err != nil) != (len(row.says) > 0) {
				t.Fatalf("refused: %v, want any: %t", err, len(row.says) > 0)
			}
			for _, text := range row.says {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("it says %q, without %q", err, text)
				}
			}
		})
	}
}

// TestAReplicaIsNotRefusedForWhatItLacks: it gets that from the stream. Another log, and other records than the Lease
// names, are refused as always.
func TestAReplicaIsNotRefusedForWhatItLacks(t *testing.T) {
	log := memlog.New(events.Identity{LogID: "log", Epoch: 1})
	if _, err := joblog.Write(log, joblog.Config{Seed: 1, Records: 100, Running: 2, Single: 500}); err != nil {
		t.Fatal(err)
	}
	head := log.Head()
	own := lease.Log{Identity: log.Identity(), Head: head.Sequence, Hash: head.Hash}
	later, epoch, fork, other := own, own, own, own
	later.Head++
	epoch.Epoch++
	fork.Hash[3]++
	other.LogID = "another"
	for _, row := range []struct {
		sentence      string
		says          lease.Log
		alone, member bool // refused
	}{
		{"its own head", own, false, false},
		{"a later record", later, true, false},
		{"a later epoch", epoch, true, false},
		{"another record in its place", fork, true, true},
		{"another log", other, true, true},
	} {
		for _, member := range []*replicating.Member{nil, {}} {
			c := &controller{
				health: &Health{}, config: &Config{Log: "LOG"}, logger: slog.New(slog.DiscardHandler), member: member,
			}
			want := member == nil && row.alone || member != nil && row.member
			if err := c.refuseSaid(lease.Said{Lease: "jobledger/jobledger", Log: row.says}, own, log); (err != nil) != want {
				t.Errorf("%s, of a replica: %t: %v, want it refused: %t", row.sentence, member != nil, err, want)
			}
		}
	}
}

// TestAForkIsRefused: the Lease names a head of this log's ID, and this log has other records there.
func TestAForkIsRefused(t *testing.T) {
	log := memlog.New(events.Identity{LogID: "log", Epoch: 1})
	if _, err := joblog.Write(log, joblog.Config{Seed: 1, Records: 100, Running: 2, Single: 500}); err != nil {
		t.Fatal(err)
	}
	c := &controller{health: &Health{}, config: &Config{Log: "LOG"}, logger: slog.New(slog.DiscardHandler)}
	hash, err := log.Chain(20)
	if err != nil {
		t.Fatal(err)
	}
	before := lease.Said{Lease: "jobledger/jobledger", Log: lease.Log{Identity: log.Identity(), Head: 20, Hash: hash}}
	if err := c.refuseFork(before, log); err != nil {
		t.Errorf("the head is on the log's chain: %v", err)
	}
	before.Hash[3]++
	if err := c.refuseFork(before, log); err == nil || !strings.Contains(err.Error(), "its hash behind record 20 is "+hash.String()) {
		t.Errorf("the head is on another chain: %v", err)
	}
	before.LogID = "another"
	if err := c.refuseFork(before, log); err != nil {
		t.Errorf("another log, of which the ID says enough: %v", err)
	}
}
