package projector

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// This file stores the state of a Job with many pods in chunks ("parts"), a few per turn of the loop, while the Job
// goes on. The pods still to store wait in queue left. Each part takes pods from the front of left, and moves them to
// queue told. A pod that changes after that moves back to left. The last part has the rest of left, and the state
// without pods. All parts together are the state as of the last part. Example: 10,000 pods in parts of 1,000, of which
// 50 change after they were stored, are stored 10,050 times.

// division is the progress of storing a Job's state in parts: which pods are stored already.
type division struct {
	left  queue  // pods to store
	told  queue  // pods stored, and unchanged since
	round uint32 // number of this division, from 1; each division stores the whole state once
	parts uint32 // number of parts stored in this division
	open  bool   // the newest file has parts, but not yet the last one, which completes the state
}

// Values of Pod.line, which says in which of the two queues a pod is. A pod in queue told (stored) has the number of
// the current division (one round of storing all pods). A pod in queue left (to store) has lineLeft, or the number of
// an earlier division. lineNone: in neither queue.
const (
	lineNone uint32 = 0
	lineLeft uint32 = math.MaxUint32
)

func newDivision() division {
	return division{left: queue{which: inLine}, told: queue{which: inLine}, round: 1}
}

// again starts a new division: all pods are to be stored once more. Queue left may still hold pods that are gone but
// were stored by an earlier division. The next parts say that these pods are forgotten.
func (d *division) again() {
	d.left.join(&d.told)
	d.told = queue{which: inLine}
	d.parts = 0
	d.round++
}

// Parted reports whether the newest file of the log has parts of the state of s (a Job, or a namespace with orphan
// pods), but not the last part. Until it has the last part, the state is kept even if no work is left: a reader who
// begins with that file needs all parts.
func (w *World) Parted(s events.Stream) bool {
	subject := w.subjects[s]
	return HolderOf(subject) != nil && HolderOf(subject).division.open
}

// Divides reports whether the state of s can be stored in parts: s is a Job, or a namespace with orphan pods. Other
// states are always stored whole.
func (w *World) Divides(s events.Stream) bool {
	subject := w.subjects[s]
	return HolderOf(subject) != nil
}

// Divide starts to store the state of s (a Job, or a namespace with orphan pods) in parts, from the beginning. The next
// StatePart returns the first part.
func (w *World) Divide(s events.Stream) {
	if subject := w.subjects[s]; HolderOf(subject) != nil {
		HolderOf(subject).division.again()
	}
}

// StatePart returns the next part of the state of s (a Job, or a namespace with orphan pods), of about budget bytes at
// most, encoded as facts (what decisions read) and names. last says that this part completes the state as of now. The
// last part may exceed budget by the size of the data besides pods. With budget <= 0 the part is empty and not the
// last. ok is false if s has no pods in memory.
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

// take moves pods from queue left into the part s until the part has budget bytes. size is the part's size so far; take
// returns the new size.
func (d *division) take(s *pb.JobState, names *pb.StateNames, size, budget int) int {
	for p := d.left.first; p != nil; p = d.left.first {
		state, name := d.toldAs(p, names)
		n := proto.Size(state) + proto.Size(name) + 8 // 8 bytes for tags and lengths
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

// restBytes estimates the encoded size in bytes of the Job's state without pods.
func (j *Job) restBytes() int {
	const job, condition, create, flight, uid, failure, try, claim = 400, 100, 160, 80, 20, 9, 100, 60
	n := job + condition*len(j.Base.Conditions) + create*len(j.creates) + uid*len(j.uncounted) + try*len(j.Ends) + claim*len(j.claims)
	n += failure * (len(j.ends.failures) + len(j.ends.before) + len(j.ends.failed))
	for _, spec := range [...]*events.JobSpec{j.Spec, j.lastSpec} {
		if spec != nil {
			n += len(spec.Selector) + len(spec.PodFailurePolicy) + len(spec.SuccessPolicy)
		}
	}
	return n + flight + uid*len(j.marked)
}

// partOf returns the part number of an encoded state, from 1, and whether it is the last part. part is 0 for a state
// that is not divided. It decodes only these two fields.
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
