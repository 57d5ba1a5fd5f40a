package kubewire

import "slices"

// Numbers of protobuf fields in a Job's spec, for parts that the API server generates for each Job.
const (
	specSelector       = 4
	specManualSelector = 5
	specTemplate       = 6
)

// Generated has the names of the labels that the API server adds to each Job, unless manualSelector is set.
type Generated struct {
	Selector string   // label in the Job's selector; its value is the Job's UID
	Labels   []string // labels in the Job's pod template
}

// Shape returns the bytes of the Job's spec without the generated labels: Jobs whose specs differ only in these have
// the same Shape. ok is false if the Job's selector is not the generated one.
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

// selectsUID reports whether a selector selects the label with the value uid, and nothing else.
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

// without returns the bytes of a pod template without the labels that the API server generated.
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
