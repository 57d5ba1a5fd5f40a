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

// FoldVersion is the version of the code that computes states from records (the "fold") and encodes them. Raise it
// whenever the same records may give a state with other bytes. A stored state is compared with the computed state only
// if both have the same version.
const FoldVersion = 1

// LeastFold is the oldest FoldVersion of a program that may read this program's records. Raise it to FoldVersion with
// each change that an older program would get wrong, such as a new critical record kind or a new field that states
// depend on.
const LeastFold = 1

// Readable returns an error that matches events.ErrNewer if this program is too old for rec: rec is of an unknown
// critical kind, or says that a newer FoldVersion is needed. Call it before applying each record.
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

// Check validates rec as the next record to apply: everything that rec refers to must be in earlier records. A log that
// a controller wrote always passes. A log that was altered together with its checksums may fail. After an error, the
// controller must not decide anything from the log.
func (w *World) Check(rec *events.Record) error {
	if err := Readable(rec); err != nil {
		return err
	}
	if rec.Sequence <= w.floors[rec.Stream] {
		return nil // the snapshot already includes the record
	}
	j := w.Job(rec.Stream)
	switch f := rec.Facts.(type) {
	case *events.TermStarted:
		if f.Term <= w.Term {
			return fmt.Errorf("record %d starts term %d, but term %d started before it", rec.Sequence, f.Term, w.Term)
		}
	case *events.JobSeen:
		known := f.Spec != "" && w.specs.Spec(f.Spec) != nil || j != nil && j.Spec != nil && (f.Spec == "" || f.Spec == j.Spec.Hash)
		if !known && (f.Managed || f.Spec != "") {
			return fmt.Errorf("record %d, %s of %s, has the spec %q, which no record before it stores", rec.Sequence, rec.Kind, rec.Stream, f.Spec)
		}
	case *events.JobSpec:
		if f.Policies != "" && !w.specs.KnowsPolicies(f.Policies) && *f == *f.Apart() {
			return fmt.Errorf("record %d stores a spec with the policies %q, which no record before it stores", rec.Sequence, f.Policies)
		}
	case *events.StoredState:
		if rec.Stream == events.Controller || w.Subject(rec.Stream) != nil {
			return nil // the state is known already, so the stored one is not used
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

// Differs compares a stored state of a Job, CronJob or namespace (stream s names which) with the state that w computed.
// It returns the names of the differing fields; none if they are equal. facts and names are the two encoded halves of
// the stored state; if names is nil, the names of objects are not compared. snapshot says that the stored state comes
// from a snapshot; otherwise it comes from a StateStored record.
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

// differing returns the names of the fields in which the encoded messages own and stored differ. a and b are empty
// messages to decode them into.
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
