package kubewire

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// CronJob is a CronJob of the API server: its fields as far as this program knows them, and the bytes that the server
// sent. The bytes are needed to send the CronJob back, and to make Jobs of it, without losing unknown fields.
type CronJob struct {
	batchv1.CronJob
	Sent Sent
}

// Sent has parts of a CronJob as the server sent them. They include fields that this program does not know. They are
// never changed.
type Sent struct {
	Metadata []byte // without managed fields
	Spec     []byte
	JSON     bool // the parts are JSON; otherwise they are protobuf
}

// JobTemplate has the parts of a CronJob's jobTemplate that go into its Jobs.
type JobTemplate struct {
	Labels, Annotations map[string]string
	Spec                []byte // as the server sent it
}

// Numbers of protobuf fields in a CronJob's spec and in its jobTemplate.
const (
	cronJobTemplate = 5
	templateMeta    = 1
	templateSpec    = 2
)

// GetObjectKind implements runtime.Object. The kind is empty.
func (*CronJob) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject implements runtime.Object. The copy shares memory with the CronJob, so neither may be changed.
func (c *CronJob) DeepCopyObject() runtime.Object {
	copied := *c
	return &copied
}

// read decodes a CronJob from protobuf. It keeps all annotations, unlike the decoders of Jobs and pods.
func (c *CronJob) read(b []byte, _ annotations) error {
	err := c.CronJob.Unmarshal(b)
	for f := (fields{rest: b}); f.next(&err); {
		switch f.number {
		case 1:
			c.Sent.Metadata, _, err = apart(f.bytes)
		case 2:
			c.Sent.Spec = append([]byte{}, f.bytes...)
		}
	}
	return err
}

// JobTemplate decodes the jobTemplate, including fields that this program does not know.
func (c *CronJob) JobTemplate() (t JobTemplate, err error) {
	if c.Sent.JSON {
		return c.templateOfJSON()
	}
	var meta metav1.ObjectMeta
	for f := (fields{rest: c.Sent.Spec}); f.next(&err); {
		if f.number != cronJobTemplate {
			continue
		}
		for in := (fields{rest: f.bytes}); in.next(&err); {
			switch in.number {
			case templateMeta:
				err = meta.Unmarshal(in.bytes)
			case templateSpec:
				t.Spec = in.bytes
			}
		}
	}
	if err != nil {
		return t, fmt.Errorf("read the jobTemplate of CronJob %s/%s: %w", c.Namespace, c.Name, err)
	}
	t.Labels, t.Annotations = meta.Labels, meta.Annotations
	return t, nil
}

// Body is the body of a request to the API server.
type Body struct {
	Type  string // content type
	Bytes []byte
}

// NewJob returns a Job to create: with the given metadata, and the spec of a CronJob's template. It has the encoding
// (JSON or protobuf) in which the server sent the CronJob.
func (c *CronJob) NewJob(meta *metav1.ObjectMeta, t *JobTemplate) (Body, error) {
	if c.Sent.JSON {
		return jsonBody("Job", meta, t.Spec, nil)
	}
	m, err := meta.Marshal()
	if err != nil {
		return Body{}, fmt.Errorf("encode the metadata of Job %s/%s: %w", meta.Namespace, meta.Name, err)
	}
	b := make([]byte, 0, len(m)+len(t.Spec)+16)
	return batchBody("Job", appendBytes(appendBytes(b, 1, m), 2, t.Spec)), nil
}

// WithStatus returns the CronJob with another status, for a write of the status. The body has all metadata as it was
// read: the API server removes what such a write leaves out.
func (c *CronJob) WithStatus(status *batchv1.CronJobStatus) (Body, error) {
	if c.Sent.JSON {
		return jsonBody("CronJob", c.Sent.Metadata, c.Sent.Spec, status)
	}
	s, err := status.Marshal()
	if err != nil {
		return Body{}, fmt.Errorf("encode the status of CronJob %s/%s: %w", c.Namespace, c.Name, err)
	}
	b := make([]byte, 0, len(c.Sent.Metadata)+len(c.Sent.Spec)+len(s)+16)
	return batchBody("CronJob", appendBytes(appendBytes(appendBytes(b, 1, c.Sent.Metadata), 2, c.Sent.Spec), 3, s)), nil
}

func batchBody(kind string, object []byte) Body {
	return Body{runtime.ContentTypeProtobuf, Wrap(batchv1.SchemeGroupVersion.String(), kind, object)}
}
