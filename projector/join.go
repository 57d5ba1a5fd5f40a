package projector

import (
	"cmp"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// Parts collects the parts of states that are stored in several records, until the last part arrives. The key names the
// Job, or the namespace, that the state is about.
type Parts map[events.Stream]*parts

// parts holds what has arrived of one state that is stored in several records. n is the number of the newest part; 0 if
// one is missing.
type parts struct {
	ref          events.JobRef
	n            uint64
	facts, names []byte
}

// Add takes a StateStored record, which has a whole state or one part. If the record completes a state, whole is true,
// and facts and names are the complete encoded state.
func (c Parts) Add(rec *events.Record, f *events.StoredState) (facts, names []byte, whole bool) {
	s, more := rec.Stream, rec.Evidence.State
	part, last := partOf(f.Encoded)
	if part == 0 {
		delete(c, s)
		return f.Encoded, more, true
	}
	ref := refOf(s, rec.Evidence.Namespace, rec.Evidence.Name)
	p := c[s]
	switch {
	case part == 1: // the first part, or a new first part after a process ended between two parts
		p = &parts{ref: ref}
		c[s] = p
	case p == nil:
		p = &parts{ref: ref}
		c[s] = p
		return nil, nil, false
	case p.n == 0 || p.n+1 != part: // an earlier part is missing: ignore this part, and all until a new first part
		p.n = 0
		return nil, nil, false
	}
	p.n, p.facts, p.names = part, append(p.facts, f.Encoded...), append(p.names, more...)
	if !last {
		return nil, nil, false
	}
	delete(c, s)
	return p.facts, p.names, true
}

// follows reports whether the part in f may come next: it is a whole state, a first part, or the part after the newest.
func (c Parts) follows(s events.Stream, f *events.StoredState) bool {
	part, _ := partOf(f.Encoded)
	p := c[s]
	return part <= 1 || p != nil && p.n != 0 && p.n+1 == part
}

// with returns the complete state of s (a Job, or a namespace with orphan pods), given its last part as facts and
// names: it puts the earlier parts before them. If facts is a whole state, it is returned unchanged.
func (c Parts) with(s events.Stream, facts, names []byte) (f, n []byte) {
	part, _ := partOf(facts)
	p := c[s]
	if part <= 1 || p == nil {
		return facts, names
	}
	return slices.Concat(p.facts, facts), slices.Concat(p.names, names)
}

// Collecting reports whether the world has only parts of the state of s (a Job, or a namespace with orphan pods) so
// far. That happens when a reader begins with a file of the log, until it reaches the file's last part of that state.
// Until then the world skips the other records of s, because the later parts include their effect.
func (w *World) Collecting(s events.Stream) bool { return w.stated.parts[s] != nil }

// Collected returns the parts of the state of s (a Job, or a namespace with orphan pods) so far, concatenated; nil if
// Collecting is false. RestoreStream can restore them into another world.
func (w *World) Collected(s events.Stream) (facts, names []byte) {
	if p := w.stated.parts[s]; p != nil {
		return p.facts, p.names
	}
	return nil, nil
}

// collect stores facts and names as the first parts of the state of s, up to the part with number part. It clones them,
// because the caller may reuse them.
func (w *World) collect(s events.Stream, part uint64, facts, names []byte) error {
	_, called, err := readState(facts, names)
	if err != nil {
		return fmt.Errorf("%s: %w", s, err)
	}
	w.stated.parts[s] = &parts{ref: refOf(s, called.GetNamespace(), called.GetName()), n: part, facts: slices.Clone(facts), names: slices.Clone(names)}
	return nil
}

func refOf(s events.Stream, namespace, name string) events.JobRef {
	ref := events.JobRef{Namespace: namespace, Name: name}
	if s.Kind == events.StreamJob {
		ref.UID = types.UID(s.ID)
	}
	return ref
}

// readState decodes a state, whole or in parts. If several parts contain the same pod, the last one counts.
func readState(facts, names []byte) (*pb.JobState, *pb.StateNames, error) {
	s, called := &pb.JobState{}, &pb.StateNames{}
	if err := proto.Unmarshal(facts, s); err != nil {
		return nil, nil, fmt.Errorf("decode state: %w", err)
	}
	if err := proto.Unmarshal(names, called); err != nil {
		return nil, nil, fmt.Errorf("decode names: %w", err)
	}
	if s.GetPart() == 0 {
		return s, called, nil
	}
	type pod struct {
		state *pb.PodState
		names *pb.PodNames
	}
	at := make(map[string]int, len(s.GetPods()))
	pods := make([]pod, 0, len(s.GetPods()))
	for i, p := range s.GetPods() {
		uid := string(p.GetFacts().GetUid())
		k, ok := at[uid]
		if !ok {
			k = len(pods)
			at[uid] = k
			pods = append(pods, pod{})
		}
		if pods[k].state = p; i < len(called.GetPods()) {
			pods[k].names = called.GetPods()[i]
		}
	}
	pods = slices.DeleteFunc(pods, func(p pod) bool { return p.state.GetForgotten() })
	slices.SortFunc(pods, func(a, b pod) int { return cmp.Compare(a.state.GetArrived(), b.state.GetArrived()) })
	hasNames := len(called.GetPods()) > 0
	s.Pods, called.Pods, s.Part, s.LastPart = nil, nil, 0, false
	for _, p := range pods {
		s.Pods = append(s.Pods, p.state)
		if hasNames {
			called.Pods = append(called.Pods, p.names)
		}
	}
	return s, called, nil
}

// whole combines a state in parts into one state. A state that is not divided, or cannot be decoded, is returned
// unchanged.
func whole(facts, names []byte) (f, n []byte) {
	if part, _ := partOf(facts); part == 0 {
		return facts, names
	}
	s, called, err := readState(facts, names)
	if err != nil {
		return facts, names
	}
	if f, n = encode(s, called); names == nil {
		n = nil
	}
	return f, n
}

// stateField returns the protobuf field number of the JobState field with that name.
func stateField(name protoreflect.Name) protowire.Number {
	return (&pb.JobState{}).ProtoReflect().Descriptor().Fields().ByName(name).Number()
}

// RestoreStream restores the state of a Job, CronJob or namespace that was encoded by StreamState, or by StatePart if
// all parts are concatenated. It returns an error if the bytes cannot be decoded.
func (w *World) RestoreStream(s events.Stream, facts, names []byte) error {
	if part, last := partOf(facts); part != 0 && !last {
		return w.collect(s, part, facts, names)
	}
	state, called, err := readState(facts, names)
	if err != nil {
		return fmt.Errorf("%s: %w", s, err)
	}
	ref := events.JobRef{Namespace: called.GetNamespace(), Name: called.GetName(), UID: types.UID(s.ID)}
	if stub := state.GetStub(); stub != nil {
		retired, err := retiredFromWire(ref, stub, &w.Settings)
		if err != nil {
			return fmt.Errorf("decode state of %s: %w", s, err)
		}
		w.keepRetired(retired)
		return nil
	}
	if cron := state.GetCronJob(); cron != nil {
		c, err := w.cronFromWire(s, ref, cron)
		if err != nil {
			return fmt.Errorf("decode state of %s: %w", s, err)
		}
		w.holdCron(c)
		return nil
	}
	j, err := w.jobFromWire(s, state, called)
	if err != nil {
		return fmt.Errorf("decode state of %s: %w", s, err)
	}
	w.hold(j)
	return nil
}
