package projector

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// FoldVersion counts the versions of the fold and of the form in which states are stored. It is raised whenever the same records may
// give a state of other bytes than before. A stored state is compared with the fold only under a version that [Compares] allows.
//
// Fold 4 folds states that are stored in parts, and says so of a Job of which the newest file has parts and not the last one
// (JobState.parted).
//
// Fold 3 adds the term to the controller's state, which records of before do not say. It tells how tries ended (StateNames.tries), and
// folds how the deletion of a finished Job ends that has not retired (JobState.deletion).
//
// Fold 2 folds the state of a stream as its newest record. It adds to the controller's state which file stands alone and what a rival
// did (restated, rival_acts), and says of a spec that only older files store that it is stored nowhere (specs.at is 0). It adds to that
// of a pod what it waits for, which records of before do not say. It folds what comes of a retired
// Job after its retirement (StubState.follow_up).
//
// Fold 5 folds CronJobs (JobState.cron_job), and the rules of the zones that they name (WorldState.zones).
//
// Fold 6 keeps a Job that is gone until its pods have ended. Of a Job that another controller runs it enters the end of a pod into the
// backoff record though the status has counted the pod before its end was seen. Records of programs of older folds are folded as those
// programs did: they do not tell how such pods ended.
//
// Fold 7 folds what another controller does with CronJobs (KindTicksObserved; CronJobState.observing and what follows it, RunState.seen),
// and when nobody watched them (WorldState.gaps). Programs of older folds told nothing of it.
//
// Fold 8 ends the start of a run at once when its Job was there and the ledger tells of that Job already. Programs of older folds told of it
// once more.
const FoldVersion = 8

// foldOfGone is since which fold that is so.
const foldOfGone = 6

// foldOfSight is since which fold what another controller makes of due times is folded, and told.
const foldOfSight = 7

// foldOfToldRuns is since which fold a Job that the ledger tells of is not told of again when a create finds it.
const foldOfToldRuns = 8

// oldestCompared is the oldest version of the fold whose stored states are compared. States of Jobs have had the same form since. The
// controller's has another one since foldOfFiles; asStoredBefore allows for it.
const (
	oldestCompared = 1
	foldOfFiles    = 2
)

// Compares reports whether states that were stored under that version of the fold can be compared with what this one gives.
func Compares(fold uint32) bool { return oldestCompared <= fold && fold <= FoldVersion }

// LeastFold is the oldest version of the fold that may fold what this program writes. It is raised to FoldVersion with each change by
// which an older fold would give another state: a kind of record that is critical, a field that the fold reads.
const LeastFold = 7

// Readable says so when rec stands for what this program cannot fold: a record of a critical kind that it does not know, or the start of
// a program whose records need a newer fold. The error is events.ErrNewer. Whoever folds asks before each record.
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

// Check says what is wrong with rec as the next record that is applied: it must not refer to what no record before it says. A log that
// a controller wrote always passes; one whose checksums are right and whose contents were changed may not, and cannot be decided on.
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
		if !w.parts.follows(rec.Stream, f) {
			return fmt.Errorf("record %d is a part of a state, and the part before it is missing", rec.Sequence)
		}
		facts, names := f.Encoded, rec.Evidence.State
		if part, last := partOf(facts); part != 0 && !last {
			if _, _, err := readState(facts, names); err != nil {
				return fmt.Errorf("record %d: %w", rec.Sequence, err)
			}
			return nil
		}
		facts, names = w.parts.with(rec.Stream, facts, names)
		if err := NewWorld().RestoreStream(rec.Stream, facts, names); err != nil {
			return fmt.Errorf("record %d: %w", rec.Sequence, err)
		}
	}
	return nil
}

// Differs compares a stored state of a stream with what the records before it give: which fields are not the same; none when all are.
// It is for the state of record StateStored (names are nil where they are not to be compared), and for that of a snapshot.
func (w *World) Differs(s events.Stream, facts, names []byte, snapshot bool) []string {
	if s == events.Controller {
		own := w.ControllerFacts()
		if snapshot {
			own = w.ControllerState()
		}
		if w.Fold < foldOfFiles {
			own, facts = asStoredBefore(own), asStoredBefore(facts)
		}
		return differing(own, facts, &pb.WorldState{}, &pb.WorldState{})
	}
	own, called, _ := w.StreamState(s)
	facts, names = whole(facts, names)
	fields := differing(own, facts, &pb.JobState{}, &pb.JobState{})
	if names != nil {
		called, names = sameTries(called, names)
		fields = append(fields, differing(called, names, &pb.StateNames{}, &pb.StateNames{})...)
	}
	return fields
}

// sameTries leaves the tries out of two states' names where one of the two does not tell them from the Job's first record on: the state
// was stored by an older fold, or goes on from one that was.
func sameTries(own, stored []byte) (a, b []byte) {
	var x, y pb.StateNames
	if bytes.Equal(own, stored) || proto.Unmarshal(own, &x) != nil || proto.Unmarshal(stored, &y) != nil {
		return own, stored
	}
	if x.Tries != nil && y.Tries != nil && !x.Tries.GetPartial() && !y.Tries.GetPartial() {
		return own, stored
	}
	x.Tries, y.Tries = nil, nil
	return marshal(&x), marshal(&y)
}

// asStoredBefore is a controller's state with what both forms of it say, the one of today and the one before foldOfFiles. Where a spec
// is stored is left out if only an older file stores it: the older form says which record did. Acts of a rival that prove nothing yet
// are left out: the older form has none. A state that cannot be decoded stays as it is.
func asStoredBefore(state []byte) []byte {
	var s pb.WorldState
	if err := proto.Unmarshal(state, &s); err != nil {
		return state
	}
	s.RivalActs = nil
	for _, k := range s.GetSpecs() {
		if k.GetAt() < s.GetFiled() {
			k.At = 0
		}
	}
	slices.SortFunc(s.GetSpecs(), func(a, b *pb.SpecState) int {
		return cmp.Or(cmp.Compare(a.GetAt(), b.GetAt()), cmp.Compare(a.GetSpec().GetHash(), b.GetSpec().GetHash()))
	})
	return marshal(&s)
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
