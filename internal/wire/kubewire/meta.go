package kubewire

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Numbers of protobuf fields in metadata that are not decoded like the others.
const (
	metaLabels        = 11
	metaAnnotations   = 12
	metaManagedFields = 17
)

// annotations lists the names of the annotations that a decoder keeps; it skips all others.
type annotations []string

// read decodes metadata from protobuf, with only the annotations in want, and without managed fields.
func (want annotations) read(m *metav1.ObjectMeta, b []byte) (err error) {
	for f := (fields{rest: b}); f.next(&err); {
		switch f.number {
		case 1:
			m.Name = f.text()
		case 2:
			m.GenerateName = f.text()
		case 3:
			m.Namespace = f.text()
		case 5:
			m.UID = types.UID(f.bytes)
		case 6:
			m.ResourceVersion = f.text()
		case 7:
			m.Generation = int64(f.value)
		case 8:
			m.CreationTimestamp = f.time(&err)
		case 9:
			t := f.time(&err)
			m.DeletionTimestamp = &t
		case 10:
			m.DeletionGracePeriodSeconds = number[int64](&f)
		case metaLabels:
			key, value := f.pair(&err)
			if m.Labels == nil {
				m.Labels = make(map[string]string, 8)
			}
			m.Labels[known(key)] = string(value)
		case metaAnnotations:
			key, value := f.pair(&err)
			want.keep(m, key, value)
		case 13:
			m.OwnerReferences = append(m.OwnerReferences, ownerReference(f.bytes, &err))
		case 14:
			m.Finalizers = append(m.Finalizers, f.known())
		}
	}
	return err
}

func (want annotations) keep(m *metav1.ObjectMeta, key, value []byte) {
	for _, name := range want {
		if name == string(key) {
			if m.Annotations == nil {
				m.Annotations = make(map[string]string, 4)
			}
			m.Annotations[name] = string(value)
		}
	}
}

func ownerReference(b []byte, err *error) (o metav1.OwnerReference) {
	for f := (fields{rest: b}); f.next(err); {
		switch f.number {
		case 1:
			o.Kind = f.known()
		case 3:
			o.Name = f.text()
		case 4:
			o.UID = types.UID(f.bytes)
		case 5:
			o.APIVersion = f.known()
		case 6:
			o.Controller = flag(&f)
		case 7:
			o.BlockOwnerDeletion = flag(&f)
		}
	}
	return o
}
