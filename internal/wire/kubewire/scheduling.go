package kubewire

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// Numbers of protobuf fields in spec.scheduling of a Job. Those of a policy and of a gang are the same in the template
// of a Workload and in a PodGroup.
const (
	specScheduling = 17 // of a Job's spec

	schedulingPolicy = 1 // in spec.scheduling

	policyBasic  = 1
	policyGang   = 2
	gangMinCount = 1
)

// Scheduling is spec.scheduling of a Job: its pods are scheduled one by one (Basic), or all or none (Gang).
type Scheduling struct {
	Basic, Gang bool   // which of the two policies it has; both false for none
	MinCount    *int32 // minCount of the gang: as many pods must fit; nil if unset
	// Rest has spec.scheduling as the server sent it, but without minCount.
	Rest []byte
}

// Scheduling decodes spec.scheduling of the Job; it returns nil if that is unset.
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

// policy decodes a scheduling policy. It returns the bytes of the policy without the minCount of its gang.
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

// withoutMinCount returns the bytes of a gang without its minCount, and the minCount; nil if that is unset.
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

// changed returns a copy of the message b. It calls change for each field: change appends the field's replacement to
// to, or returns nil to keep the field.
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
