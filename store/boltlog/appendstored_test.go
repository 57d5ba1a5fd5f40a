package boltlog_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest"
)

// led writes a log of several files, and returns its commit groups.
func led(t *testing.T) (*boltlog.Log, []store.StoredBatches) {
	t.Helper()
	var groups []store.StoredBatches
	options := small
	options.LogID = "log-a"
	options.Before = func(g store.Group) error {
		b := store.StoredBatches{First: g.Before.Sequence + 1, After: g.After.Hash, BeginsFile: g.BeginsFile}
		for _, stored := range g.Stored {
			b.Records = append(b.Records, bytes.Clone(stored))
		}
		groups = append(groups, b)
		return nil
	}
	log := openLog(t, t.TempDir(), options)
	w := storetest.NewWriter(t, log)
	w.Durable(storetest.Created(log.Identity()), storetest.Item{
		Stream: events.Controller, Kind: events.KindTermStarted, Facts: &events.TermStarted{Term: log.Term()},
	})
	for n := 0; log.NextFile() < 30; n++ {
		w.Append(false, storetest.Text("job-a", 5000), storetest.Pod("job-b", n))
		w.Append(false, storetest.Pod("job-b", n))
		w.Durable(storetest.Text("job-a", 900))
	}
	return log, groups
}

// sameRecords checks that a log has the head, the identity and the files of another. The head's hash covers all
// records.
func sameRecords(t *testing.T, got, want *boltlog.Log) {
	t.Helper()
	if got.Head() != want.Head() || got.Identity() != want.Identity() {
		t.Errorf("the log ends with %+v of %s, want %+v of %s", got.Head(), got.Identity(), want.Head(), want.Identity())
	}
	ours, err1 := got.Files()
	theirs, err2 := want.Files()
	same := slices.EqualFunc(ours, theirs, func(a, b store.File) bool { return a.First == b.First && a.End == b.End })
	if err1 != nil || err2 != nil || !same {
		t.Errorf("files %v, %v; want %v, %v", ours, err1, theirs, err2)
	}
}

// TestAStoredGroupGivesTheSameLog: a follower that appends a leader's groups has the same log. It may be opened again
// after any group, and its own settings may ask for files of another size.
func TestAStoredGroupGivesTheSameLog(t *testing.T) {
	leader, groups := led(t)
	for name, rotate := range map[string]int64{"smaller files": 32 << 10, "larger files": 256 << 20} {
		t.Run(name, func(t *testing.T) {
			dir, options := t.TempDir(), store.Options{LogID: "log-a", RotateBytes: rotate}
			options.Before = func(store.Group) error { return errors.New("what is stored elsewhere is not shown") }
			log := openLog(t, dir, options)
			for i, g := range groups {
				storetest.Await(t, log.AppendStored(g, true))
				if i%3 == 0 {
					if err := log.Close(); err != nil {
						t.Fatal(err)
					}
					log = openLog(t, dir, options)
				}
			}
			sameRecords(t, log, leader)
			if err := log.Close(); err != nil {
				t.Fatal(err)
			}
			if report, err := boltlog.Verify(t.Context(), dir, nil); err != nil || report.Head != leader.Head() {
				t.Errorf("verify says %+v, %v", report, err)
			}
		})
	}
}

// TestAFollowerGoesOnAsTheWriter: it writes in the term that it is given, and its files end by size from then on.
func TestAFollowerGoesOnAsTheWriter(t *testing.T) {
	_, groups := led(t)
	dir, options := t.TempDir(), small
	options.LogID = "log-a"
	for range 5 { // each opening has a term of its own
		if err := openLog(t, dir, options).Close(); err != nil {
			t.Fatal(err)
		}
	}
	log := openLog(t, dir, options)
	for _, g := range groups {
		storetest.Await(t, log.AppendStored(g, false))
	}
	if err := log.SetTerm(1); err == nil {
		t.Error("the term of the log's own records is accepted")
	}
	if err := log.SetTerm(2); err != nil || log.Term() != 2 {
		t.Fatalf("term %d, %v; want 2", log.Term(), err)
	}
	w, file := storetest.NewWriter(t, log), log.NextFile()
	w.Durable(storetest.Item{
		Stream: events.Controller, Kind: events.KindTermStarted,
		Facts: &events.TermStarted{Term: 2, Previous: log.Head().Hash},
	})
	for log.NextFile() == file {
		w.Durable(storetest.Text("job-a", 5000))
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := boltlog.Verify(t.Context(), dir, nil); err != nil {
		t.Errorf("verify says %v", err)
	}
	if log = openLog(t, dir, options); log.Term() != 3 {
		t.Errorf("the next opening is in term %d, want 3", log.Term())
	}
}

// TestStoredRecordsThatDoNotFitAreRefused: whatever is wrong with a group, nothing of it is in the log, and the log has
// failed.
func TestStoredRecordsThatDoNotFitAreRefused(t *testing.T) {
	_, groups := led(t)
	unknown := protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 1)
	rows := []struct {
		sentence string
		spoil    func(b *store.StoredBatches)
		want     error // nil: any error
	}{
		{"no records", func(b *store.StoredBatches) { b.Records = nil }, store.ErrDiverged},
		{"a record later than the next one", func(b *store.StoredBatches) { b.First++ }, store.ErrDiverged},
		{"another chain value", func(b *store.StoredBatches) { b.After[0]++ }, store.ErrDiverged},
		{"a byte that is not one of a record", func(b *store.StoredBatches) {
			b.Records[0] = append(bytes.Clone(b.Records[0]), unknown...)
		}, nil},
		{"a batch without its end", func(b *store.StoredBatches) { b.Records = b.Records[:1] }, nil},
		{"a record of another place", func(b *store.StoredBatches) { b.Records[1] = b.Records[0] }, nil},
		{"a kind to come that could change decisions", func(b *store.StoredBatches) {
			b.Records[0] = ofKind(t, b.Records[0], 60_000, true)
		}, events.ErrNewer},
	}
	for _, row := range rows {
		t.Run(row.sentence, func(t *testing.T) {
			options := small
			options.LogID = "log-a"
			log := openLog(t, t.TempDir(), options)
			storetest.Await(t, log.AppendStored(groups[0], true))
			good, bad := log.Head(), groups[1]
			bad.Records = slices.Clone(bad.Records)
			row.spoil(&bad)
			err := storetest.Outcome(t, log.AppendStored(bad, true))
			if !errors.Is(err, store.ErrFailed) || row.want != nil && !errors.Is(err, row.want) {
				t.Errorf("the commit says %v, want ErrFailed and %v", err, row.want)
			}
			if log.Head() != good {
				t.Errorf("the head is %+v, want %+v", log.Head(), good)
			}
			if err := storetest.Outcome(t, log.AppendStored(groups[1], true)); !errors.Is(err, store.ErrFailed) {
				t.Errorf("the next commit says %v", err)
			}
		})
	}
}

// TestStoredRecordsKeepTheirBytes: a later program's kind that changes no decision, and its fields, are stored
// unchanged.
func TestStoredRecordsKeepTheirBytes(t *testing.T) {
	_, groups := led(t)
	options := small
	options.LogID = "log-a"
	dir := t.TempDir()
	log := openLog(t, dir, options)
	storetest.Await(t, log.AppendStored(groups[0], true))
	g, hash := groups[1], log.Head().Hash
	g.Records = slices.Clone(g.Records)
	g.Records[0] = ofKind(t, g.Records[0], 60_000, false)
	g.Records[1] = factsField(g.Records[1], 99)
	for _, stored := range g.Records {
		var err error
		if hash, err = hash.Next(stored); err != nil {
			t.Fatal(err)
		}
	}
	g.After = hash
	storetest.Await(t, log.AppendStored(g, true))
	if log.Head().Hash != hash {
		t.Errorf("the chain value is %s, want %s", log.Head().Hash, hash)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := boltlog.Verify(t.Context(), dir, nil, log.Head()); err != nil {
		t.Errorf("verify says %v", err)
	}
}

// ofKind gives a stored record another kind: it appends the header's field again, and the last one counts.
func ofKind(t *testing.T, stored []byte, kind uint64, critical bool) []byte {
	t.Helper()
	r, err := events.DecodeRecord(stored)
	if err != nil {
		t.Fatal(err)
	}
	r.Kind, r.Critical = events.Kind(kind), critical
	r.Facts, r.Evidence = &events.Unknown{Bytes: []byte{8, 1}}, events.Evidence{}
	out, err := events.AppendRecord(nil, &r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// factsField appends a field to the facts of a stored record.
func factsField(stored []byte, number protowire.Number) (out []byte) {
	for b := stored; len(b) > 0; {
		n, kind, size := protowire.ConsumeField(b)
		_, _, tag := protowire.ConsumeTag(b)
		if n == 2 && kind == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(b[tag:])
			value = protowire.AppendVarint(protowire.AppendTag(bytes.Clone(value), number, protowire.VarintType), 7)
			out = protowire.AppendBytes(append(out, b[:tag]...), value)
		} else {
			out = append(out, b[:size]...)
		}
		b = b[size:]
	}
	return out
}
