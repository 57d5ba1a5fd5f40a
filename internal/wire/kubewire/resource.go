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

// Resource reads the objects of one resource, such as pods. It is a runtime.NegotiatedSerializer: a REST client that
// uses it returns Pods, Jobs and CronJobs of this package.
type Resource[O Object] struct {
	kind        string // kind of the objects, such as "Pod"
	annotations annotations
	empty       func() O
	of          func(runtime.Object) (message, bool) // returns the object as a whole, if its kind is that of the resource
	// Copies parts of an object's JSON into it, for later; nil if nothing is kept
	sent func(O, []byte) error
}

// Pods reads pods, with the annotations that Jobledger uses. The last one is on the watch event that follows the
// objects which existed when the watch began.
var Pods = &Resource[*Pod]{
	kind: "Pod", empty: func() *Pod { return &Pod{} },
	of: func(o runtime.Object) (message, bool) { pod, ok := o.(*corev1.Pod); return pod, ok },
	annotations: annotations{
		events.CommandAnnotation, events.SealAnnotation, batchv1.JobCompletionIndexAnnotation, batchv1.JobIndexFailureCountAnnotation,
		batchv1.JobIndexIgnoredFailureCountAnnotation, metav1.InitialEventsAnnotationKey,
	},
}

// Annotations of Jobs that are read, besides the one with the due time of a CronJob's Job.
const (
	TraceAnnotation  = "traceparent"                       // trace context, as in the HTTP header traceparent of the W3C
	ManualAnnotation = "cronjob.kubernetes.io/instantiate" // kubectl sets it on a Job that a user creates from a CronJob
)

// Jobs reads Jobs, with the annotations that Jobledger uses.
var Jobs = &Resource[*Job]{
	kind: "Job", empty: func() *Job { return &Job{} },
	of: func(o runtime.Object) (message, bool) { job, ok := o.(*batchv1.Job); return job, ok },
	annotations: annotations{
		TraceAnnotation, ManualAnnotation, GroupTemplateAnnotation, batchv1.CronJobScheduledTimestampAnnotation, metav1.InitialEventsAnnotationKey,
	},
}

// CronJobs reads CronJobs with all fields. It also keeps the bytes of fields that this program does not know.
var CronJobs = &Resource[*CronJob]{
	kind: "CronJob", empty: func() *CronJob { return &CronJob{} },
	of:   func(o runtime.Object) (message, bool) { c, ok := o.(*batchv1.CronJob); return c, ok },
	sent: (*CronJob).sentJSON,
}

// message is an object with a protobuf encoding.
type message interface{ Marshal() ([]byte, error) }

// Of reads an object that is not bytes from a server but a value in memory, for example of a fake client.
func (r *Resource[O]) Of(o message) (O, error) {
	read := r.empty()
	b, err := o.Marshal()
	if err != nil {
		return read, fmt.Errorf("encode a %s: %w", r.kind, err)
	}
	return read, read.read(b, r.annotations)
}

// Empty returns a new object without content.
func (r *Resource[O]) Empty() O { return r.empty() }

// Read decodes one object from an answer of the API server, in protobuf or JSON.
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

// prefix is the four bytes with which each protobuf answer of the API server begins.
var prefix = []byte("k8s\x00")

// Decode implements runtime.Decoder: it decodes an object, a list of objects, an event of a watch, or a Status.
func (r *Resource[O]) Decode(data []byte, _ *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	// An event of a watch comes without the envelope that objects have.
	if event, ok := into.(*metav1.WatchEvent); ok {
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

// unwrap removes the envelope of an object in protobuf, and returns the kind that it names, and the bytes of the
// object.
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

// readEvent decodes an event of a watch, but not its object. The bytes of the object share memory with b, so they must
// be decoded before the next event is read.
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

// Encode implements runtime.Encoder. It always returns an error, because a Resource cannot write.
func (r *Resource[O]) Encode(o runtime.Object, _ io.Writer) error {
	return fmt.Errorf("a %T is only read: %w", o, errUnexpected)
}

// Identifier implements runtime.Encoder: it returns a text that differs between resources.
func (r *Resource[O]) Identifier() runtime.Identifier {
	return runtime.Identifier("kubewire/" + r.kind)
}

// SupportedMediaTypes implements runtime.NegotiatedSerializer: protobuf, and JSON for a server that has no protobuf.
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

// codecs decodes objects from JSON, with all their fields.
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

// EncoderForVersion implements runtime.NegotiatedSerializer: it returns e, because there is only one version.
func (r *Resource[O]) EncoderForVersion(e runtime.Encoder, _ runtime.GroupVersioner) runtime.Encoder {
	return e
}

// DecoderToVersion implements runtime.NegotiatedSerializer: it returns d, because there is only one version.
func (r *Resource[O]) DecoderToVersion(d runtime.Decoder, _ runtime.GroupVersioner) runtime.Decoder {
	return d
}
