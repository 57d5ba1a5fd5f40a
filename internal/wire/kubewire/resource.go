package kubewire

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/jobledger/jobledger/events"
)

// Resource says how to read the objects of one resource. It implements runtime.NegotiatedSerializer: a REST client with
// it returns Pods, Jobs and CronJobs as defined in this package.
type Resource[O Object] struct {
	kind        string // kind of the objects
	annotations annotations
	empty       func() O
	of          func(runtime.Object) (message, bool) // the whole object, if it is of this resource
	sent        func(O, []byte) error                // stores parts of an object's JSON in it; nil if none are kept
}

// Pods reads pods, with the annotations that Jobledger uses. The last annotation marks the watch event that follows the
// initial objects.
var Pods = &Resource[*Pod]{
	kind: "Pod", empty: func() *Pod { return &Pod{} },
	of: func(o runtime.Object) (message, bool) { pod, ok := o.(*corev1.Pod); return pod, ok },
	annotations: annotations{
		events.CommandAnnotation, events.SealAnnotation, batchv1.JobCompletionIndexAnnotation, batchv1.JobIndexFailureCountAnnotation,
		batchv1.JobIndexIgnoredFailureCountAnnotation, metav1.InitialEventsAnnotationKey,
	},
}

// Annotations of Jobs that are read, in addition to the scheduled time of a CronJob's Job.
const (
	TraceAnnotation  = "traceparent"                       // trace context, named like the HTTP header of the W3C
	ManualAnnotation = "cronjob.kubernetes.io/instantiate" // set by kubectl on a Job that a user creates from a CronJob
)

// Jobs reads Jobs, with the annotations that Jobledger uses.
var Jobs = &Resource[*Job]{
	kind: "Job", empty: func() *Job { return &Job{} },
	of: func(o runtime.Object) (message, bool) { job, ok := o.(*batchv1.Job); return job, ok },
	annotations: annotations{
		TraceAnnotation, ManualAnnotation, GroupTemplateAnnotation, batchv1.CronJobScheduledTimestampAnnotation, metav1.InitialEventsAnnotationKey,
	},
}

// CronJobs reads whole CronJobs, and also keeps the fields that this program does not know.
var CronJobs = &Resource[*CronJob]{
	kind: "CronJob", empty: func() *CronJob { return &CronJob{} },
	of:   func(o runtime.Object) (message, bool) { c, ok := o.(*batchv1.CronJob); return c, ok },
	sent: (*CronJob).sentJSON,
}

// message is a type with a protobuf encoding.
type message interface{ Marshal() ([]byte, error) }

// Of reads an object that is a value in memory, and did not come from a server as bytes.
func (r *Resource[O]) Of(o message) (O, error) {
	read := r.empty()
	b, err := o.Marshal()
	if err != nil {
		return read, fmt.Errorf("encode a %s: %w", r.kind, err)
	}
	return read, read.read(b, r.annotations)
}

// Empty returns an object without content.
func (r *Resource[O]) Empty() O { return r.empty() }

// Read decodes an object from a server's answer in protobuf or JSON.
func (r *Resource[O]) Read(answer []byte) (read O, err error) {
	decoder := runtime.Decoder(r)
	if !bytes.HasPrefix(answer, prefix) {
		json, _ := runtime.SerializerInfoForMediaType(r.SupportedMediaTypes(), runtime.ContentTypeJSON)
		decoder = json.Serializer
	}
	o, _, err := decoder.Decode(answer, nil, nil)
	if err != nil {
		return read, err
	}
	read, ok := o.(O)
	if !ok {
		return read, fmt.Errorf("the API server sent a %T, and was asked for a %s: %w", o, r.kind, errUnexpected)
	}
	return read, nil
}

var errUnexpected = errors.New("unexpected answer")

// prefix is the beginning of each protobuf message of an API server.
var prefix = []byte("k8s\x00")

// Decode implements runtime.Decoder. It decodes an object, a list of objects, an event of a watch, or a Status.
func (r *Resource[O]) Decode(data []byte, _ *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if event, ok := into.(*metav1.WatchEvent); ok { // this message has no envelope
		return event, nil, readEvent(event, data)
	}
	kind, raw, err := unwrap(data)
	if err != nil {
		return nil, nil, err
	}
	gvk := &schema.GroupVersionKind{Version: "v1", Kind: kind}
	switch kind {
	case r.kind:
		o := r.empty()
		return o, gvk, o.read(raw, r.annotations)
	case r.kind + "List":
		l, ok := into.(*List[O])
		if !ok {
			l = &List[O]{}
		}
		return l, gvk, l.read(raw, r)
	case "Status":
		status := &metav1.Status{}
		return status, gvk, status.Unmarshal(raw)
	}
	return nil, gvk, fmt.Errorf("the API server sent a %s, and was asked for a %s: %w", kind, r.kind, errUnexpected)
}

// unwrap returns the kind and the content of a protobuf envelope.
func unwrap(data []byte) (kind string, raw []byte, err error) {
	data, ok := bytes.CutPrefix(data, prefix)
	if !ok {
		return "", nil, fmt.Errorf("the API server sent something that is not protobuf: %w", errUnexpected)
	}
	for f := (fields{rest: data}); f.next(&err); {
		switch f.number {
		case 1:
			for in := (fields{rest: f.bytes}); in.next(&err); {
				if in.number == 2 {
					kind = in.known()
				}
			}
		case 2:
			raw = f.bytes
		}
	}
	return kind, raw, err
}

// readEvent decodes a watch event. Its object shares memory with b, and must be decoded before the next event is read.
func readEvent(e *metav1.WatchEvent, b []byte) (err error) {
	for f := (fields{rest: b}); f.next(&err); {
		switch f.number {
		case 1:
			e.Type = f.known()
		case 2:
			for in := (fields{rest: f.bytes}); in.next(&err); {
				if in.number == 1 {
					e.Object.Raw = in.bytes
				}
			}
		}
	}
	return err
}

// Encode implements runtime.Encoder. It always returns an error, because a Resource only reads.
func (r *Resource[O]) Encode(o runtime.Object, _ io.Writer) error {
	return fmt.Errorf("a %T is only read: %w", o, errUnexpected)
}

// Identifier implements runtime.Encoder.
func (r *Resource[O]) Identifier() runtime.Identifier {
	return runtime.Identifier("kubewire/" + r.kind)
}

// SupportedMediaTypes implements runtime.NegotiatedSerializer: protobuf, and JSON for a server without protobuf.
func (r *Resource[O]) SupportedMediaTypes() []runtime.SerializerInfo {
	info := []runtime.SerializerInfo{{
		MediaType: runtime.ContentTypeProtobuf, MediaTypeType: "application", MediaTypeSubType: "vnd.kubernetes.protobuf",
		Serializer: r, StreamSerializer: &runtime.StreamSerializerInfo{Serializer: r, Framer: protobuf.LengthDelimitedFramer},
	}}
	if json, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeJSON); ok {
		json.Serializer = &whole[O]{json.Serializer, r}
		info = append(info, json)
	}
	return info
}

// codecs decodes whole objects, from JSON.
var codecs = func() serializer.CodecFactory {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, batchv1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	return serializer.NewCodecFactory(scheme)
}()

// EncoderForVersion implements runtime.NegotiatedSerializer.
func (r *Resource[O]) EncoderForVersion(e runtime.Encoder, _ runtime.GroupVersioner) runtime.Encoder {
	return e
}

// DecoderToVersion implements runtime.NegotiatedSerializer. There is only one version.
func (r *Resource[O]) DecoderToVersion(d runtime.Decoder, _ runtime.GroupVersioner) runtime.Decoder {
	return d
}
