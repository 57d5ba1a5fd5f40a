package kubewire

import (
	"bytes"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Job is a Job of the API server: the fields that Jobledger reads, and the bytes that it sends back, or from which it
// makes pods.
type Job struct {
	// ObjectMeta has the managed fields, but FieldsV1 only of an entry that names fields of the spec.
	metav1.ObjectMeta
	ManagedBy *string
	Status    batchv1.JobStatus

	BackoffLimitPerIndex, TTLSecondsAfterFinished *int32

	// Metadata and Spec are the bytes that the server sent. They include fields that this program does not know;
	// managed fields are removed. They are never changed.
	Metadata, Spec []byte
}

// GetObjectKind implements runtime.Object. The kind is empty.
func (*Job) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject implements runtime.Object. The copy shares memory with the Job, so neither may be changed.
func (j *Job) DeepCopyObject() runtime.Object {
	c := *j
	return &c
}

// WholeSpec decodes the spec with all fields that this program knows.
func (j *Job) WholeSpec() (*batchv1.JobSpec, error) {
	spec := &batchv1.JobSpec{}
	if err := spec.Unmarshal(j.Spec); err != nil {
		return nil, fmt.Errorf("read the spec of Job %s/%s: %w", j.Namespace, j.Name, err)
	}
	return spec, nil
}

// read decodes a Job from protobuf. Of its annotations it keeps only those in want.
func (j *Job) read(b []byte, want annotations) (err error) {
	for f := (fields{rest: b}); f.next(&err); {
		switch f.number {
		case 1:
			if err = want.read(&j.ObjectMeta, f.bytes); err == nil {
				j.Metadata, j.ManagedFields, err = apart(f.bytes)
			}
		case 2:
			j.Spec = append([]byte{}, f.bytes...)
			j.readSpec(f.bytes, &err)
		case 3:
			err = j.Status.Unmarshal(f.bytes)
		}
	}
	return err
}

func (j *Job) readSpec(b []byte, err *error) {
	for f := (fields{rest: b}); f.next(err); {
		switch f.number {
		case 8:
			j.TTLSecondsAfterFinished = number[int32](&f)
		case 12:
			j.BackoffLimitPerIndex = number[int32](&f)
		case 15:
			by := f.text()
			j.ManagedBy = &by
		}
	}
}

// apart splits the bytes of metadata into the managed fields, which it decodes, and the rest, which it copies.
func apart(metadata []byte) (rest []byte, managed []metav1.ManagedFieldsEntry, err error) {
	rest = make([]byte, 0, len(metadata)/2)
	for f := (fields{rest: metadata}); ; {
		whole := f.rest
		if !f.next(&err) {
			return rest, managed, err
		}
		if f.number == metaManagedFields {
			managed = append(managed, managedFields(f.bytes, &err))
		} else {
			rest = append(rest, whole[:len(whole)-len(f.rest)]...)
		}
	}
}

var specFields = []byte(`"f:spec"`)

func managedFields(b []byte, err *error) (e metav1.ManagedFieldsEntry) {
	for f := (fields{rest: b}); f.next(err); {
		switch f.number {
		case 1:
			e.Manager = f.known()
		case 2:
			e.Operation = metav1.ManagedFieldsOperationType(f.known())
		case 4:
			t := f.time(err)
			e.Time = &t
		case 7:
			for in := (fields{rest: f.bytes}); in.next(err); {
				if in.number == 1 && bytes.Contains(in.bytes, specFields) {
					e.FieldsV1 = metav1.NewFieldsV1(in.text())
				}
			}
		case 8:
			e.Subresource = f.known()
		}
	}
	return e
}
