package projector

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// The state of a Job with many pods is stored in chunks ("parts"), a few per turn of the loop, while the Job goes on.
// The pods still to store wait in queue left. Each part takes pods from the front of left, and moves them to queue
// told. A pod that changes after that moves back to left. The last part has the rest of left, and the state without
// pods. All parts together are the state as of the last part. Example: 10,000 pods in parts of 1,000, of which 50
// change after they were stored, are stored 10,050 times.

// division is the progress of storing a Job's state in parts.
type division struct {
	left  queue  // pods to store
	told  queue  // pods stored in their current form
	round uint32 // number of this division; each division stores the whole state once
	parts uint32 // number of parts stored in this division
	open  bool   // the newest file has parts, but not yet the last one, which completes the state
}

// Values of Pod.line. A pod in queue told has the round of the current division. A pod in queue left has lineLeft, or
// the round of an earlier division. lineNone: the pod is in neither queue.
const (
	lineNone uint32 = 0
	lineLeft uint32 = math.MaxUint32
)

func newDivision() division {
	return division{left: queue{which: inLine}, told: queue{which: inLine}, round: 1}
}

// again starts a new division in which no pod is stored. Queue left may still hold pods that an earlier division stored
// and that are forgotten since: the next parts say so.
func (d *division) again() {
	d.left.join(&d.told)
	d.told = queue{which: inLine}
	d.parts = 0
	d.round++
}

// Parted reports whether the newest file has parts of a stream's state, but not the last one. Until it has the last
// part, the subject is neither retired nor forgotten, because a reader of the parts would miss that.
func (w *World) Parted(s events.Stream) bool {
	subject := w.subjects[s]
	return HolderOf(subject) != nil && HolderOf(subject).division.open
}

// Divides reports whether a stream's state can be stored in parts: it holds pods. Other states are always stored whole.
func (w *World) Divides(s events.Stream) bool {
	subject := w.subjects[s]
	return HolderOf(subject) != nil
}

// Divide starts a new division of a stream's state. The next StatePart returns its first part.
func (w *World) Divide(s events.Stream) {
	if subject := w.subjects[s]; HolderOf(subject) != nil {
		HolderOf(subject).division.again()
	}
}

// StatePart returns the next part of a stream's state, of about budget bytes at most. The last part completes the state
// as of now. It may be larger than budget, by the data of the Job besides pods. With budget <= 0 the part is empty and
// not the last. ok is false if the stream has no pods in memory.
func (w *World) StatePart(s events.Stream, budget int) (facts, names []byte, last, ok bool) {
	subject := w.subjects[s]
	if HolderOf(subject) == nil {
		return nil, nil, false, false
	}
	j := HolderOf(subject)
	d := &j.division
	d.parts++
	part, called := &pb.JobState{}, &pb.StateNames{Namespace: j.Ref.Namespace, Name: j.Ref.Name}
	rest := j.restBytes()
	size := d.take(part, called, 0, budget-min(rest, budget/2))
	if last = d.left.first == nil && budget > 0; last {
		pods, podNames := part.Pods, called.Pods
		part, called = j.restToWire()
		part.Pods, called.Pods, part.LastPart = pods, podNames, true
	} else {
		d.take(part, called, size, budget)
	}
	part.Part = d.parts
	if last {
		d.again()
	}
	facts, names = encode(part, called)
	return facts, names, last, true
}

// take moves pods from queue left into a part until the part has budget bytes. It returns the new size of the part.
func (d *division) take(s *pb.JobState, names *pb.StateNames, size, budget int) int {
	for p := d.left.first; p != nil; p = d.left.first {
		state, name := d.toldAs(p, names)
		n := proto.Size(state) + proto.Size(name) + 8 // including tags and lengths
		if size > 0 && size+n > budget || budget <= 0 {
			return size
		}
		size += n
		s.Pods, names.Pods = append(s.Pods, state), append(names.Pods, name)
		d.left.remove(p)
		if p.line = lineNone; !p.forgotten {
			d.told.push(p)
			p.line, p.told = d.round, d.round
		}
	}
	return size
}

func (d *division) toldAs(p *Pod, names *pb.StateNames) (*pb.PodState, *pb.PodNames) {
	if p.forgotten {
		return &pb.PodState{Facts: events.PodToWire(&events.PodSeen{UID: p.UID}), Forgotten: true}, &pb.PodNames{}
	}
	return p.toWire(names)
}

// restBytes estimates the size in bytes of the state without pods.
func (j *Job) restBytes() int {
	const job, condition, create, flight, uid, failure, try, claim = 400, 100, 160, 80, 20, 9, 100, 60
	n := job + condition*len(j.Base.Conditions) + create*len(j.creates) + uid*len(j.uncounted) + try*len(j.Ends) + claim*len(j.claims)
	n += failure * (len(j.ends.failures) + len(j.ends.before) + len(j.ends.failed))
	if j.Spec != nil {
		n += len(j.Spec.Selector) + len(j.Spec.PodFailurePolicy) + len(j.Spec.SuccessPolicy)
	}
	return n + flight + uid*len(j.marked)
}

// partOf returns the part number of an encoded state, and whether it is the last; 0 for a whole state. It does not
// decode the rest.
func partOf(facts []byte) (part uint64, last bool) {
	for len(facts) > 0 {
		field, kind, n := protowire.ConsumeTag(facts)
		if n < 0 {
			return 0, false
		}
		facts = facts[n:]
		if kind == protowire.VarintType && (field == fieldPart || field == fieldLastPart) {
			v, n := protowire.ConsumeVarint(facts)
			if n < 0 {
				return 0, false
			}
			if field == fieldPart {
				part = v
			} else {
				last = v != 0
			}
			facts = facts[n:]
			continue
		}
		if n = protowire.ConsumeFieldValue(field, kind, facts); n < 0 {
			return 0, false
		}
		facts = facts[n:]
	}
	return part, last
}

var (
	fieldPart     = stateField("part")
	fieldLastPart = stateField("last_part")
)

// IsFirstPart reports whether facts are the first part of a state that is stored in parts.
func IsFirstPart(facts []byte) bool {
	part, _ := partOf(facts)
	return part == 1
}
