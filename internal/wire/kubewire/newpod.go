package kubewire

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Pair is a label or an annotation.
type Pair struct{ Name, Value string }

// Template has the parts of a Job's pod template that go into its pods.
type Template struct {
	Labels, Annotations []Pair
	Finalizers          []string
	Spec                []byte // spec of a pod as the server sent it; shares memory with Job.Spec
}

// Template decodes the pod template of the Job. Its spec stays as bytes, with fields that this program does not know.
func (j *Job) Template() (t Template, err error) {
	for f := (fields{rest: j.Spec}); f.next(&err); {
		if f.number != 6 {
			continue
		}
		for in := (fields{rest: f.bytes}); in.next(&err); {
			switch in.number {
			case 1:
				t.readMeta(in.bytes, &err)
			case 2:
				t.Spec = in.bytes
			}
		}
	}
	return t, err
}

func (t *Template) readMeta(b []byte, err *error) {
	for f := (fields{rest: b}); f.next(err); {
		switch f.number {
		case metaLabels:
			t.Labels = append(t.Labels, pairOf(&f, err))
		case metaAnnotations:
			t.Annotations = append(t.Annotations, pairOf(&f, err))
		case 14:
			t.Finalizers = append(t.Finalizers, f.known())
		}
	}
}

func pairOf(f *fields, err *error) Pair {
	name, value := f.pair(err)
	return Pair{known(name), string(value)}
}

// NewPod is a pod to create from the template of its Job.
type NewPod struct {
	Namespace, Name, GenerateName string
	Labels, Annotations           []Pair // if a name occurs more than once, the last pair counts
	Finalizers                    []string
	Owner                         metav1.OwnerReference
	Spec                          []byte
	Changes                       SpecChanges
}

// SpecChanges says how the spec of a new pod differs from its Job's template.
type SpecChanges struct {
	Index    bool    // add IndexVariable to containers that do not define it
	Hostname string  // host name of the pod; only used if Index is set
	PodGroup *string // name of the pod group that schedules the pod; nil to keep what the template says
}

// Encode returns the pod as protobuf. It has the whole spec of the template, including fields that this program does
// not know.
func (p *NewPod) Encode() ([]byte, error) {
	owner, err := p.Owner.Marshal()
	if err != nil {
		return nil, fmt.Errorf("encode the owner of pod %s: %w", p.Name, err)
	}
	meta := make([]byte, 0, 1024)
	meta = appendText(meta, 1, p.Name)
	meta = appendText(meta, 2, p.GenerateName)
	meta = appendText(meta, 3, p.Namespace)
	meta = appendPairs(meta, metaLabels, p.Labels)
	meta = appendPairs(meta, metaAnnotations, p.Annotations)
	meta = appendBytes(meta, 13, owner)
	for _, name := range p.Finalizers {
		meta = appendText(meta, 14, name)
	}
	spec, err := p.Changes.apply(p.Spec)
	if err != nil {
		return nil, fmt.Errorf("change the spec of pod %s: %w", p.Name, err)
	}
	b := make([]byte, 0, len(meta)+len(spec)+16)
	return appendBytes(appendBytes(b, 1, meta), 2, spec), nil
}

// appendPairs appends pairs to b, as a map with the given field number. If several pairs have the same name, it appends
// only the last one.
func appendPairs(b []byte, number protowire.Number, all []Pair) []byte {
	for i, p := range all {
		if slices.ContainsFunc(all[i+1:], func(later Pair) bool { return later.Name == p.Name }) {
			continue
		}
		size := protowire.SizeTag(1) + protowire.SizeBytes(len(p.Name)) + protowire.SizeTag(2) + protowire.SizeBytes(len(p.Value))
		b = protowire.AppendTag(b, number, protowire.BytesType)
		b = protowire.AppendVarint(b, uint64(size))
		b = appendText(appendText(b, 1, p.Name), 2, p.Value)
	}
	return b
}

func appendText(b []byte, number protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), s)
}

func appendBytes(b []byte, number protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), v)
}

// Numbers of protobuf fields in a pod's spec and in a container that SpecChanges changes.
const (
	specContainers      = 2
	specHostname        = 16
	specInitContainers  = 20
	specSchedulingGroup = 43
	containerEnv        = 7
)

// apply returns the bytes of a pod's spec with the changes c; without changes, spec itself.
func (c *SpecChanges) apply(spec []byte) (changed []byte, err error) {
	if *c == (SpecChanges{}) {
		return spec, nil
	}
	changed = make([]byte, 0, len(spec)+512)
	for f := (fields{rest: spec}); ; {
		from := f.rest
		if !f.next(&err) {
			break
		}
		switch {
		case c.Index && f.number == specHostname, c.PodGroup != nil && f.number == specSchedulingGroup:
		case c.Index && (f.number == specContainers || f.number == specInitContainers):
			changed = appendBytes(changed, f.number, withVariable(f.bytes, &err))
		default:
			changed = append(changed, from[:len(from)-len(f.rest)]...)
		}
	}
	if c.Index {
		changed = appendText(changed, specHostname, c.Hostname)
	}
	if c.PodGroup != nil && err == nil {
		var group []byte
		group, err = (&corev1.PodSchedulingGroup{PodGroupName: c.PodGroup}).Marshal()
		changed = appendBytes(changed, specSchedulingGroup, group)
	}
	return changed, err
}

// withVariable returns the bytes of a container with one more environment variable: the index of the pod. It changes
// nothing if the container defines this variable itself (J-066).
func withVariable(container []byte, err *error) []byte {
	for f := (fields{rest: container}); f.next(err); {
		if f.number == containerEnv && firstText(f.bytes, 1) == IndexVariable {
			return container
		}
	}
	return appendBytes(slices.Clip(container), containerEnv, indexVariable)
}

// indexVariable is the environment variable with the index of a pod, encoded as protobuf.
var indexVariable = func() []byte {
	b, err := (&corev1.EnvVar{Name: IndexVariable, ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['batch.kubernetes.io/job-completion-index']"},
	}}).Marshal()
	if err != nil {
		panic(err)
	}
	return b
}()

// WithStatus returns the Job with another status as protobuf, for a write of the status. It has all metadata as it was
// read: the API server removes what such a write leaves out (J-207).
func (j *Job) WithStatus(status message) ([]byte, error) {
	s, err := status.Marshal()
	if err != nil {
		return nil, fmt.Errorf("encode the status of Job %s/%s: %w", j.Namespace, j.Name, err)
	}
	b := make([]byte, 0, len(j.Metadata)+len(j.Spec)+len(s)+16)
	return appendBytes(appendBytes(appendBytes(b, 1, j.Metadata), 2, j.Spec), 3, s), nil
}

// Wrap puts an object in protobuf into the envelope that the API server expects, which names its kind.
func Wrap(apiVersion, kind string, object []byte) []byte {
	b := make([]byte, 0, len(prefix)+len(apiVersion)+len(kind)+len(object)+24)
	b = append(b, prefix...)
	size := protowire.SizeTag(1) + protowire.SizeBytes(len(apiVersion)) + protowire.SizeTag(2) + protowire.SizeBytes(len(kind))
	b = protowire.AppendVarint(protowire.AppendTag(b, 1, protowire.BytesType), uint64(size))
	b = appendText(appendText(b, 1, apiVersion), 2, kind)
	return appendBytes(b, 2, object)
}
