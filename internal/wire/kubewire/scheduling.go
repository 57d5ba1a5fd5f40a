package kubewire

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers of a Job's spec.scheduling. In a policy and in a gang, the numbers are the same for a Job, a Workload's
// template and a PodGroup.
const (
	specScheduling = 17 // of a Job's spec

	schedulingPolicy = 1 // of spec.scheduling

	policyBasic  = 1
	policyGang   = 2
	gangMinCount = 1
)

// Scheduling is the content of a Job's spec.scheduling.
type Scheduling struct {
	Basic, Gang bool   // which policy it names; both false for none
	MinCount    *int32 // the gang's minCount
	// Rest has the bytes of spec.scheduling as the server sent them, without the minCount.
	Rest []byte
}

// Scheduling decodes spec.scheduling; it returns nil if it is unset.
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

// policy decodes a policy, and returns its bytes without the gang's minCount.
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

// withoutMinCount returns the bytes of a gang without its minCount, and the minCount; nil if it is unset.
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

// changed returns a copy of a message with some fields replaced. For each field, change appends a replacement; it
// returns nil to keep the field.
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
