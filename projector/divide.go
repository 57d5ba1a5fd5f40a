package projector

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// The state of a Job with many pods is made in parts, a few in each turn, while the Job goes on. The pods stand in a
// line. A part takes pods from its front and puts them into a second line. A pod that changes goes back into the first.
// When the first line is so short that its pods and the rest of the Job fit into one part, that is the last one. The
// parts are the state as of the last one.

// division is where the pods stand while the state is divided, and whether the newest file has parts of it.
type division struct {
	left  queue  // pods that are to be told
	told  queue  // pods that a part has as they are
	round uint32 // counts the divisions
	parts uint32 // that this division has
	open  bool   // the newest file has parts of the state, and not the last one: it is folded from the records, the rest is not
}

// A pod's line is the division in which a part last had it as it is: it is in the told line of that division, and in
// the other one from the next division on.
const (
	lineNone uint32 = 0
	lineLeft uint32 = math.MaxUint32
)

func newDivision() division {
	return division{left: queue{which: inLine}, told: queue{which: inLine}, round: 1}
}

// again begins another division: no part has any pod. Which pods an earlier one had that are known no longer may be
// told once more.
func (d *division) again() {
	d.left.join(&d.told)
	d.told = queue{which: inLine}
	d.parts = 0
	d.round++
}

// Parted reports whether the newest file has parts of a stream's state, and not the last one. Until then the subject is
// neither retired nor forgotten: a reader of the parts would not hear of it.
func (w *World) Parted(s events.Stream) bool {
	subject := w.subjects[s]
	return HolderOf(subject) != nil && HolderOf(subject).division.open
}

// Divides reports whether the state of a stream can be stored in parts: it holds pods. Others are stored whole, however
// large.
func (w *World) Divides(s events.Stream) bool {
	subject := w.subjects[s]
	return HolderOf(subject) != nil
}

// Divide begins to divide the state of a stream anew. StatePart makes the first part then.
func (w *World) Divide(s events.Stream) {
	if subject := w.subjects[s]; HolderOf(subject) != nil {
		HolderOf(subject).division.again()
	}
}

// StatePart makes the next part of a stream's state, of budget bytes at most, about; only what a Job has besides pods
// may be larger. The last part is as of now, and with it all of them. With no budget the part is empty, and is not the
// last. ok is false when the world holds no pods of the stream.
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

// take moves pods from the first line into a part until that has budget bytes. It returns how many it has then.
func (d *division) take(s *pb.JobState, names *pb.StateNames, size, budget int) int {
	for p := d.left.first; p != nil; p = d.left.first {
		state, name := d.toldAs(p, names)
		n := proto.Size(state) + proto.Size(name) + 8 // with their tags and lengths
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

// restBytes is about how many bytes the state takes besides pods.
func (j *Job) restBytes() int {
	const job, condition, create, flight, uid, failure, try, claim = 400, 100, 160, 80, 20, 9, 100, 60
	n := job + condition*len(j.Base.Conditions) + create*len(j.creates) + uid*len(j.uncounted) + try*len(j.Ends) + claim*len(j.claims)
	n += failure * (len(j.ends.failures) + len(j.ends.before) + len(j.ends.failed))
	if j.Spec != nil {
		n += len(j.Spec.Selector) + len(j.Spec.PodFailurePolicy) + len(j.Spec.SuccessPolicy)
	}
	return n + flight + uid*len(j.marked)
}

// partOf is which part of a state facts are; 0 for a whole state. It does not decode the rest.
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

// IsFirstPart reports whether facts are the first part of a state that is stored in several.
func IsFirstPart(facts []byte) bool {
	part, _ := partOf(facts)
	return part == 1
}
