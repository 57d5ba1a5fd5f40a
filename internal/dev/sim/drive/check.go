package drive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/reconciler/replay"
	"github.com/jobledger/jobledger/reconciler/rules"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// CheckLog checks that the log agrees with itself and with the loop:
//
//   - A replay of the log makes the same decisions. Deciding again right after a decision yields nothing.
//   - Folding from a snapshot gives the same state as folding from the first record, and as the loop has in memory.
//   - The records that the loop appended and folded are the stored ones.
//   - The log of the other controller, after a handover, replays too.
func (d *Driver) CheckLog() error {
	if d.resting != nil {
		if _, err := replayed(d.resting, nil); err != nil {
			return fmt.Errorf("the log that rests: %w", err)
		}
	}
	folded, err := replayed(d.log, newFiles())
	if err != nil {
		return err
	}
	if err := d.checkTail(); err != nil {
		return err
	}
	if err := same("the loop", d.process.Loop.World(), "a replay", folded); err != nil {
		return err
	}
	return d.checkSnapshot(folded)
}

// replayed replays the log (makes all decisions again, and compares them), and returns the state at its end. If f is
// not nil, it also checks that the log may begin with any of its files.
func replayed(log *memlog.Log, f *files) (*projector.World, error) {
	log.Commit(1 << 30)
	r := replay.New()
	refs := references{specs: map[events.Sequence]string{}, parts: map[events.Sequence]string{}, ended: map[events.CommandID]events.Sequence{}}
	for rec, err := range log.Read(context.Background(), 1) {
		if err != nil {
			return nil, err
		}
		if err := refs.check(&rec); err != nil {
			return nil, err
		}
		found, err := r.Record(rec)
		if err != nil {
			return nil, err
		}
		for _, divergence := range found {
			return nil, fmt.Errorf("replay: %s", divergence)
		}
		if rec.Last {
			if err := decidesNothing(r.World(), rec.Stream); err != nil {
				return nil, fmt.Errorf("after record %d: %w", rec.Sequence, err)
			}
		}
		if f != nil {
			if err := f.follow(&rec); err != nil {
				return nil, err
			}
		}
	}
	if f != nil {
		return r.World(), f.end()
	}
	return r.World(), nil
}

// checkTail checks that the copy of the newest records that the loop keeps in memory (livetail) equals the stored
// records.
func (d *Driver) checkTail() error {
	from := d.log.Head().Sequence
	from -= min(from-1, 1000)
	next, stop := iter.Pull2(d.log.Read(context.Background(), from))
	defer stop()
	for kept, err := range d.process.Tail.Read(context.Background(), from) {
		if err != nil {
			return err
		}
		stored, _, _ := next()
		a, err1 := events.AppendRecord(nil, &kept)
		b, err2 := events.AppendRecord(nil, &stored)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		if !bytes.Equal(a, b) {
			return fmt.Errorf("record %d in the live tail is not the one that was stored", kept.Sequence)
		}
	}
	return nil
}

// references is what later records may refer to: specs of Jobs, large parts of specs that are stored in records of
// their own, and commands.
type references struct {
	specs, parts map[events.Sequence]string
	// for each command that was done or withdrawn: the record that says so
	ended map[events.CommandID]events.Sequence
	file  events.Sequence // first record of the newest file
}

// check checks what a record refers to. If it names a record as the one with a Job's spec, that record stores this
// spec. The parts of a spec are stored in the same file, by causes of the record with the spec. A command ends only
// once.
func (r *references) check(rec *events.Record) error {
	switch f := rec.Facts.(type) {
	case *events.JobTemplate:
		r.parts[rec.Sequence] = f.Hash
	case *events.JobPolicies:
		r.parts[rec.Sequence] = f.Hash
	case *events.JobSpec:
		r.specs[rec.Sequence] = f.Hash
		for _, part := range []string{f.Redacted, f.Policies} {
			if part != "" && !slices.ContainsFunc(rec.Causes, func(at events.Sequence) bool { return at >= r.file && r.parts[at] == part }) {
				return fmt.Errorf("record %d stores a spec that has %s, which none of its causes %v stores in the same file", rec.Sequence, part, rec.Causes)
			}
		}
		if f.Policies != "" && f.Selector+f.PodFailurePolicy+f.SuccessPolicy != "" {
			return fmt.Errorf("record %d stores policies that are stored apart", rec.Sequence)
		}
	case *events.StoredState:
		if rec.Stream == events.Controller {
			r.file = rec.Sequence
		}
		if rec.Stream.Kind == events.StreamJob && rec.Evidence.State != nil && rec.Evidence.Namespace == "" {
			return fmt.Errorf("record %d stores the state of %s and does not name it", rec.Sequence, rec.Stream)
		}
	case *events.CommandEnded:
		if at := r.ended[f.Command]; at != 0 {
			return fmt.Errorf("record %d says that command %d/%d ended %s, and record %d that it had ended", rec.Sequence, f.Command.Decided, f.Command.Place, f.Ending, at)
		}
		if f.Ending == events.Done || f.Ending == events.Withdrawn {
			r.ended[f.Command] = rec.Sequence
		}
	case *events.JobSeen:
		if r.specs[f.SpecAt] != f.Spec {
			return fmt.Errorf("record %d says that spec %s is stored in record %d, which has %q", rec.Sequence, f.Spec, f.SpecAt, r.specs[f.SpecAt])
		}
	}
	return nil
}

// decidesNothing checks that the last decision about a Job or CronJob (stream) was complete. It decides again, at the
// same time; this must give no further command.
func decidesNothing(w *projector.World, stream events.Stream) error {
	s := w.Subject(stream)
	if s == nil || w.Listing || s.Observed() {
		return nil
	}
	if decision := rules.Decide(s); decision.Commands() {
		return fmt.Errorf("deciding again for %s yields %s", stream, decision.Steps[0].Sentence)
	}
	return nil
}

// checkSnapshot makes a snapshot (stored state), lets a process start from it, and compares that process's state with
// folded, the state after a replay from the first record.
func (d *Driver) checkSnapshot(folded *projector.World) error {
	d.process.Loop.Snapshot()
	snapshot, ok := d.process.Loop.TakeSnapshot()
	if !ok {
		return fmt.Errorf("a snapshot at record %d is not ready", d.log.Head().Sequence)
	}
	if err := d.log.SaveSnapshot(context.Background(), snapshot); err != nil {
		return err
	}
	recovered, err := loop.Recover(context.Background(), d.log)
	if err != nil {
		return err
	}
	return same("a snapshot", recovered, "a replay", folded)
}

func same(whose string, a *projector.World, other string, b *projector.World) error {
	if a.Len() != b.Len() || a.Stubs() != b.Stubs() {
		return fmt.Errorf("%s holds %d Jobs and %d stubs, %s %d and %d", whose, a.Len(), a.Stubs(), other, b.Len(), b.Stubs())
	}
	for _, s := range a.Streams() {
		x, xn, _ := a.StreamState(s)
		y, yn, ok := b.StreamState(s)
		if !ok || !bytes.Equal(x, y) || !bytes.Equal(xn, yn) {
			return fmt.Errorf("%s and %s hold different states of %s", whose, other, s)
		}
	}
	if !bytes.Equal(a.ControllerState(), b.ControllerState()) {
		return fmt.Errorf("%s and %s hold different states of the controller", whose, other)
	}
	return nil
}

// Records returns the newest n records of the log as text, durable or not, one on a line. After a handover, the records
// of the other controller's log come first.
func (d *Driver) Records(n int) string {
	text := records(d.log, n)
	if d.resting != nil {
		text = records(d.resting, n) + "\nof the controller whose turn it is:\n" + text
	}
	return text
}

func records(log *memlog.Log, n int) string {
	log.Commit(1 << 30)
	from := log.Head().Sequence - min(log.Head().Sequence, events.Sequence(n)) + 1
	var b strings.Builder
	for rec, err := range log.Read(context.Background(), from) {
		if err != nil {
			fmt.Fprintln(&b, err)
			break
		}
		fmt.Fprintf(&b, "%s %d %s %s/%s ", rec.Time.Go().Format("04:05"), rec.Sequence, rec.Kind, rec.Stream, rec.Evidence.Name)
		switch f := rec.Facts.(type) {
		case *events.Decision:
			for _, s := range f.Steps {
				for _, c := range s.Commands {
					fmt.Fprintf(&b, "\n    %s", events.Describe(c))
				}
			}
		case *events.PodSeen:
			fmt.Fprintf(&b, "%s v%d deleted=%v tracked=%v", f.Phase, f.Version, f.Deleted != 0, f.Tracked)
		case *events.JobSeen:
			fmt.Fprintf(&b, "v%d status=%v confirms=%v deleted=%v", f.Version, f.Status != nil, f.Confirms, f.Deleted != 0)
		case *events.RunSeen:
			fmt.Fprintf(&b, "%s v%d %s deleted=%v", f.Name, f.Version, f.Result, f.Deleted != 0)
		case *events.CronJobSeen:
			fmt.Fprintf(&b, "v%d %q %s suspended=%v active=%d", f.Version, f.Schedule, f.Policy, f.Suspend, len(f.Active))
		case *events.CommandEnded:
			fmt.Fprintf(&b, "%v %s %s v%d", f.Command, f.Ending, f.Class, f.Version)
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}
