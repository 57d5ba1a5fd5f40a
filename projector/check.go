package projector

import (
	"bytes"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// FoldVersion counts the versions of the fold and of the form in which states are stored. It is raised whenever the
// same records may give a state of other bytes than before. A stored state is compared with the fold only when a
// program of this version stored it.
const FoldVersion = 1

// LeastFold is the oldest version of the fold that may fold what this program writes. It is raised to FoldVersion with
// each change by which an older fold would give another state: a kind of record that is critical, a field that the fold
// reads.
const LeastFold = 1

// Readable says so when rec stands for what this program cannot fold: a record of a critical kind that it does not
// know, or the start of a program whose records need a newer fold. The error is events.ErrNewer. Whoever folds asks
// before each record.
func Readable(rec *events.Record) error {
	newer := &events.NewerError{Has: events.ReaderVersion{Format: events.Format, Fold: FoldVersion}}
	if rec.Critical && !rec.Kind.Known() {
		newer.What = fmt.Sprintf("record %d is of %s", rec.Sequence, rec.Kind)
		return newer
	}
	if f, ok := rec.Facts.(*events.ControllerStarted); ok && !newer.Has.Reads(f.Least) {
		newer.Writer, newer.Needs = f.Version, f.Least
		return newer
	}
	return nil
}

// Check says what is wrong with rec as the next record that is applied: it must not refer to what no record before it
// says. A log that a controller wrote always passes; one whose checksums are right and whose contents were changed may
// not, and cannot be decided on.
func (w *World) Check(rec *events.Record) error {
	if err := Readable(rec); err != nil {
		return err
	}
	if rec.Sequence <= w.floors[rec.Stream] {
		return nil // a snapshot has it
	}
	j := w.Job(rec.Stream)
	switch f := rec.Facts.(type) {
	case *events.TermStarted:
		if f.Term <= w.Term {
			return fmt.Errorf("record %d starts term %d, but term %d started before it", rec.Sequence, f.Term, w.Term)
		}
	case *events.JobSeen:
		known := f.Spec != "" && w.specs.byHash[f.Spec].spec != nil || j != nil && j.Spec != nil && (f.Spec == "" || f.Spec == j.Spec.Hash)
		if !known && (f.Managed || f.Spec != "") {
			return fmt.Errorf("record %d, %s of %s, has the spec %q, which no record before it stores", rec.Sequence, rec.Kind, rec.Stream, f.Spec)
		}
	case *events.JobSpec:
		if _, known := w.specs.policies[f.Policies]; f.Policies != "" && !known && *f == *f.Apart() {
			return fmt.Errorf("record %d stores a spec with the policies %q, which no record before it stores", rec.Sequence, f.Policies)
		}
	case *events.StoredState:
		if rec.Stream == events.Controller || w.Subject(rec.Stream) != nil {
			return nil // it is not taken over
		}
		if !w.stated.parts.follows(rec.Stream, f) {
			return fmt.Errorf("record %d is a part of a state, and the part before it is missing", rec.Sequence)
		}
		facts, names := f.Encoded, rec.Evidence.State
		if part, last := partOf(facts); part != 0 && !last {
			if _, _, err := readState(facts, names); err != nil {
				return fmt.Errorf("record %d: %w", rec.Sequence, err)
			}
			return nil
		}
		facts, names = w.stated.parts.with(rec.Stream, facts, names)
		if err := NewWorld().RestoreStream(rec.Stream, facts, names); err != nil {
			return fmt.Errorf("record %d: %w", rec.Sequence, err)
		}
	}
	return nil
}

// Differs compares a stored state of a stream with what the records before it give: which fields are not the same; none
// when all are. It is for the state of record StateStored (names are nil where they are not to be compared), and for
// that of a snapshot.
func (w *World) Differs(s events.Stream, facts, names []byte, snapshot bool) []string {
	if s == events.Controller {
		own := w.ControllerFacts()
		if snapshot {
			own = w.ControllerState()
		}
		return differing(own, facts, &pb.WorldState{}, &pb.WorldState{})
	}
	own, called, _ := w.StreamState(s)
	facts, names = whole(facts, names)
	fields := differing(own, facts, &pb.JobState{}, &pb.JobState{})
	if names != nil {
		fields = append(fields, differing(called, names, &pb.StateNames{}, &pb.StateNames{})...)
	}
	return fields
}

// differing names the fields in which two encoded messages differ, in the order of the message.
func differing(own, stored []byte, a, b proto.Message) []string {
	if bytes.Equal(own, stored) {
		return nil
	}
	if proto.Unmarshal(own, a) != nil || proto.Unmarshal(stored, b) != nil {
		return []string{"its form"}
	}
	var fields []string
	x, y := a.ProtoReflect(), b.ProtoReflect()
	all := x.Descriptor().Fields()
	for i := range all.Len() {
		f := all.Get(i)
		if !sameField(x, y, f) {
			fields = append(fields, string(f.Name()))
		}
	}
	if len(fields) == 0 {
		return []string{"its encoding"}
	}
	return slices.Clip(fields)
}

func sameField(x, y protoreflect.Message, f protoreflect.FieldDescriptor) bool {
	return x.Has(f) == y.Has(f) && x.Get(f).Equal(y.Get(f))
}
