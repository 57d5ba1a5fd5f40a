package kubewire

import (
	"bytes"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Job has the fields of a Job that Jobledger reads. It also has the bytes that Jobledger sends back, or from which it
// makes pods.
type Job struct {
	metav1.ObjectMeta // FieldsV1 of a managed field is set only if it names fields of the spec
	ManagedBy         *string
	Status            batchv1.JobStatus

	BackoffLimitPerIndex, TTLSecondsAfterFinished *int32

	// Metadata and Spec are the bytes that the server sent, which include fields that this program does not know.
	// Metadata is without managed fields. They are never changed.
	Metadata, Spec []byte
}

// GetObjectKind implements runtime.Object.
func (*Job) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject implements runtime.Object. The copy shares memory with the Job, so neither may be changed.
func (j *Job) DeepCopyObject() runtime.Object {
	c := *j
	return &c
}

// WholeSpec decodes the whole spec, as far as this program knows its fields.
func (j *Job) WholeSpec() (*batchv1.JobSpec, error) {
	spec := &batchv1.JobSpec{}
	if err := spec.Unmarshal(j.Spec); err != nil {
		return nil, fmt.Errorf("read the spec of Job %s/%s: %w", j.Namespace, j.Name, err)
	}
	return spec, nil
}

// read decodes a Job.
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

// apart splits metadata into the managed fields and everything else.
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
