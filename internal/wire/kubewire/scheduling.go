package kubewire

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// Numbers of fields that say how a Job's pods are scheduled together. Those of a policy and of a gang are the same in a
// Job, in a template of a Workload and in a PodGroup.
const (
	specScheduling = 17 // of a Job's spec

	schedulingPolicy = 1 // of spec.scheduling

	policyBasic  = 1
	policyGang   = 2
	gangMinCount = 1
)

// Scheduling is what a Job's spec.scheduling says.
type Scheduling struct {
	Basic, Gang bool   // its policy; neither where it names none
	MinCount    *int32 // of a gang
	// Rest is spec.scheduling as the server sent it, without MinCount.
	Rest []byte
}

// Scheduling reads spec.scheduling; nil for none.
func (j *Job) Scheduling() (*Scheduling, error) {
	var s *Scheduling
	var err error
	for f := (fields{rest: j.Spec}); f.next(&err); {
		if f.number == specScheduling {
			s = &Scheduling{}
			s.read(f.bytes, &err)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read spec.scheduling of Job %s/%s: %w", j.Namespace, j.Name, err)
	}
	return s, nil
}

func (s *Scheduling) read(b []byte, err *error) {
	s.Rest = changed(b, err, func(rest []byte, f *fields) []byte {
		if f.number != schedulingPolicy {
			return nil
		}
		return appendBytes(rest, f.number, s.policy(f.bytes, err))
	})
}

// policy reads a policy, and is the policy without the gang's minCount.
func (s *Scheduling) policy(b []byte, err *error) []byte {
	return changed(b, err, func(rest []byte, f *fields) []byte {
		switch f.number {
		case policyBasic:
			s.Basic = true
		case policyGang:
			s.Gang = true
			var gang []byte
			gang, s.MinCount = withoutMinCount(f.bytes, err)
			return appendBytes(rest, f.number, gang)
		}
		return nil
	})
}

// withoutMinCount is a gang without its minCount, and that; nil for none.
func withoutMinCount(b []byte, err *error) (rest []byte, count *int32) {
	for f := (fields{rest: b}); ; {
		from := f.rest
		if !f.next(err) {
			return rest, count
		}
		if f.number == gangMinCount {
			count = number[int32](&f)
			continue
		}
		rest = append(rest, from[:len(from)-len(f.rest)]...)
	}
}

// changed is a message in which some fields are others. change appends what stands in the place of a field; nil keeps
// the field.
func changed(b []byte, err *error, change func(to []byte, f *fields) []byte) []byte {
	out := make([]byte, 0, len(b))
	for f := (fields{rest: b}); ; {
		from := f.rest
		if !f.next(err) {
			return out
		}
		if with := change(out, &f); with != nil {
			out = with
			continue
		}
		out = append(out, from[:len(from)-len(f.rest)]...)
	}
}

func appendNumber(b []byte, number protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), v)
}
