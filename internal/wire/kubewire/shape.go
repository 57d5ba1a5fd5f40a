package kubewire

import "slices"

// Numbers of the fields of a Job's spec that an API server fills in for each Job of its own.
const (
	specSelector       = 4
	specManualSelector = 5
	specTemplate       = 6
)

// Generated names what an API server puts into each Job without manualSelector.
type Generated struct {
	Selector string   // the label by which the selector asks for the Job's UID
	Labels   []string // of the pod template
}

// Shape is the spec in protobuf without what is generated: Jobs of one shape have the same spec but for that. ok is
// false for a Job whose selector is not the generated one.
func (j *Job) Shape(g *Generated) (shape []byte, ok bool) {
	shape = make([]byte, 0, len(j.Spec))
	var err error
	for f := (fields{rest: j.Spec}); ; {
		from := f.rest
		if !f.next(&err) {
			return shape, ok && err == nil
		}
		switch {
		case f.number == specManualSelector && f.value != 0:
			return nil, false
		case f.number == specSelector:
			if ok = selectsUID(f.bytes, g.Selector, string(j.UID), &err); !ok {
				return nil, false
			}
		case f.number == specTemplate:
			shape = appendBytes(shape, f.number, g.without(f.bytes, &err))
		default:
			shape = append(shape, from[:len(from)-len(f.rest)]...)
		}
	}
}

// selectsUID reports whether a selector asks for that label with that UID, and for nothing else.
func selectsUID(selector []byte, label, uid string, err *error) (is bool) {
	for f := (fields{rest: selector}); f.next(err); {
		name, value := f.pair(err)
		if is || f.number != 1 || string(name) != label || string(value) != uid {
			return false
		}
		is = true
	}
	return is
}

// without is a pod template without the generated labels.
func (g *Generated) without(template []byte, err *error) []byte {
	kept := make([]byte, 0, len(template))
	for f := (fields{rest: template}); ; {
		from := f.rest
		if !f.next(err) {
			return kept
		}
		if f.number != 1 {
			kept = append(kept, from[:len(from)-len(f.rest)]...)
			continue
		}
		meta := make([]byte, 0, len(f.bytes))
		for in := (fields{rest: f.bytes}); ; {
			from := in.rest
			if !in.next(err) {
				break
			}
			if in.number == metaLabels {
				if name, _ := in.pair(err); slices.Contains(g.Labels, string(name)) {
					continue
				}
			}
			meta = append(meta, from[:len(from)-len(in.rest)]...)
		}
		kept = appendBytes(kept, f.number, meta)
	}
}
