package kubewire

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Object is a pod, a Job or a CronJob in the form that this package reads.
type Object interface {
	metav1.Object
	runtime.Object
	read(b []byte, want annotations) error
}

// List is a list of pods, Jobs or CronJobs, as the API server sends it.
type List[O Object] struct {
	metav1.ListMeta
	Items []O
}

// GetObjectKind implements runtime.Object. The kind is empty.
func (*List[O]) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject implements runtime.Object. The copy shares the objects with the list.
func (l *List[O]) DeepCopyObject() runtime.Object {
	c := *l
	return &c
}

// read decodes a list from protobuf. r decodes each of its items.
func (l *List[O]) read(b []byte, r *Resource[O]) (err error) {
	items := 0
	for f := (fields{rest: b}); f.next(&err); {
		if f.number == 2 {
			items++
		}
	}
	l.Items = make([]O, 0, items)
	for f := (fields{rest: b}); f.next(&err); {
		switch f.number {
		case 1:
			err = l.ListMeta.Unmarshal(f.bytes)
		case 2:
			o := r.empty()
			err = o.read(f.bytes, r.annotations)
			l.Items = append(l.Items, o)
		}
	}
	return err
}
