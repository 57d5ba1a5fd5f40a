package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/reconciler/replay"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// TestReplayOfOneJob: the replay of one Job covers all its decisions. It finds the same as a replay of the whole log
// finds for that Job, also in an altered log.
func TestReplayOfOneJob(t *testing.T) {
	log := memlog.New(events.Identity{LogID: testLogID, Epoch: 1})
	morning(t, log)
	var records []events.Record
	decisions := map[events.Stream]uint64{}
	for r, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind == events.KindDecided {
			decisions[r.Stream]++
		}
		records = append(records, r)
	}
	for alter := range records {
		if alter%7 != 0 && alter != len(records)-1 {
			continue
		}
		changed := altered(records, events.Sequence(alter))
		whole := map[events.Stream][]replay.Divergence{}
		src := history.Local{Log: logOf(t, changed)}
		for _, d := range play(t, replay.New(), oneByOne(changed)) {
			whole[d.Stream] = append(whole[d.Stream], d)
		}
		for stream, n := range decisions {
			player := replay.New()
			found := play(t, player, oneJob(t.Context(), src, stream, player))
			if got := player.Summary().Decisions; got != n {
				t.Errorf("%s: %d decisions, want %d", stream, got, n)
			}
			if len(found) != len(whole[stream]) {
				t.Fatalf("altered from %d: %s: %v, in the whole log %v", alter, stream, found, whole[stream])
			}
			for i, d := range found {
				if d.Recorded != nil && d.Sequence != whole[stream][i].Sequence {
					t.Errorf("altered from %d: %v, in the whole log %v", alter, d, whole[stream][i])
				}
			}
		}
	}
}

// altered changes the first decision at or after a record: its first create gets another ordinal, or its first command
// is removed.
func altered(records []events.Record, from events.Sequence) []events.Record {
	out := append([]events.Record(nil), records...)
	for i := range out {
		d, ok := out[i].Facts.(*events.Decision)
		if !ok || out[i].Sequence < from {
			continue
		}
		other := *d
		other.Steps = append([]events.Step(nil), d.Steps...)
		commands := append([]events.Command(nil), other.Steps[0].Commands...)
		if create, ok := commands[0].(*events.CreatePod); ok {
			changed := *create
			changed.Ordinal += 7
			commands[0] = &changed
		} else {
			commands = commands[1:]
		}
		other.Steps[0].Commands = commands
		out[i].Facts = &other
		break
	}
	return out
}

// forgedLog is a log with one record that was changed, or that cannot be read.
type forgedLog struct {
	store.Reader
	at     events.Sequence
	record events.Record
	err    error
}

func (l forgedLog) forge(all iter.Seq2[events.Record, error]) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r, err := range all {
			if err == nil && r.Sequence == l.at {
				if r, err = l.record, l.err; err != nil {
					yield(events.Record{}, err)
					return
				}
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

func (l forgedLog) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return l.forge(l.Reader.Read(ctx, from))
}

func (l forgedLog) ReadStream(ctx context.Context, s events.Stream, from events.Sequence, d store.Direction) iter.Seq2[events.Record, error] {
	return l.forge(l.Reader.ReadStream(ctx, s, from, d))
}

// TestReplayOfOneJobOfAForgedLog puts values that no controller writes into each number of each record of a Job. Either
// the replay of that Job ends with an error that names the record, or it can go on with the value.
func TestReplayOfOneJobOfAForgedLog(t *testing.T) {
	refused := map[string]int{}
	for _, l := range valuesLogs(t) {
		log := batchesOf(l.records)
		for at := range l.records {
			if l.records[at].Stream.Kind != events.StreamJob {
				continue
			}
			for field := range uint16(25) {
				for _, value := range []uint64{1 << 63, ^uint64(0), 77} {
					parts, name, ok := l.with(t, at, field, value)
					if !ok {
						break
					}
					forged := forgedLog{Reader: log, at: events.Sequence(at + 1)}
					forged.record, forged.err = events.DecodeParts(parts)
					player := replay.New()
					player.Partly()
					err := playErr(player, oneJob(t.Context(), history.Local{Log: forged}, l.records[at].Stream, player))
					var wrong *events.RangeError
					switch {
					case forged.err != nil && !errors.As(err, &wrong):
						t.Fatalf("record %d, %s of %d: %v, want that it is out of its range", at+1, name, value, err)
					case forged.err != nil:
						refused["range"]++
					case errors.Is(err, replay.ErrUnfounded):
						refused["unfounded"]++
					case err != nil && !strings.Contains(err.Error(), fmt.Sprintf("record %d ", at+1)):
						t.Fatalf("record %d, %s of %d: %v", at+1, name, value, err)
					}
				}
			}
		}
	}
	if refused["range"] < 100 || refused["unfounded"] < 5 {
		t.Errorf("refused are %v", refused)
	}
}

// playErr replays until there is an error.
func playErr(player *replay.Replay, records iter.Seq2[events.Record, error]) error {
	for r, err := range records {
		if err != nil {
			return err
		}
		if _, err := player.Record(r); err != nil {
			return err
		}
	}
	return nil
}

func play(t *testing.T, player *replay.Replay, records iter.Seq2[events.Record, error]) []replay.Divergence {
	t.Helper()
	var all []replay.Divergence
	for r, err := range records {
		if err != nil {
			t.Fatal(err)
		}
		found, err := player.Record(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	return all
}

// oneByOne gives records one by one.
func oneByOne(records []events.Record) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// logOf is a log of those records.
func logOf(t *testing.T, records []events.Record) store.Reader {
	t.Helper()
	log := memlog.New(events.Identity{LogID: testLogID, Epoch: 1})
	var batch events.Batch
	for _, r := range records {
		if batch.Records = append(batch.Records, r); r.Last {
			log.Append(batch, false)
			batch = events.Batch{}
		}
	}
	return log
}
