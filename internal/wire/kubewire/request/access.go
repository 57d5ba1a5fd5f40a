package request

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// Access lists and watches the objects of one resource, such as pods, in one namespace or in all.
type Access[O kubewire.Object] struct {
	client    rest.Interface
	namespace string
	resource  string
}

// To returns an Access that sends requests with typed, the client of a typed API such as
// clientset.CoreV1().RESTClient(). ok is false for a fake client, which sends no requests.
func To[O kubewire.Object](r *kubewire.Resource[O], typed rest.Interface, namespace, resource string) (a Access[O], ok bool) {
	client, ok := typed.(*rest.RESTClient)
	if !ok || client == nil {
		return a, false
	}
	content := rest.ClientContentConfig{
		AcceptContentTypes: runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON,
		ContentType:        runtime.ContentTypeProtobuf, GroupVersion: client.APIVersion(),
		Negotiator: runtime.NewClientNegotiator(r, client.APIVersion()),
	}
	reading, err := rest.NewRESTClient(client.Get().URL(), "", content, nil, client.Client)
	return Access[O]{reading, namespace, resource}, err == nil
}

// List requests a list of the objects, or one page of it.
func (a Access[O]) List(ctx context.Context, o metav1.ListOptions) (*kubewire.List[O], error) {
	list := &kubewire.List[O]{}
	err := a.ask(&o).Do(ctx).Into(list)
	return list, err
}

// Watch requests the changes of the objects, from the resource version in o on.
func (a Access[O]) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	o.Watch = true
	return a.ask(&o).Watch(ctx)
}

func (a Access[O]) ask(o *metav1.ListOptions) *rest.Request {
	timeout := time.Duration(0)
	if o.TimeoutSeconds != nil {
		timeout = time.Duration(*o.TimeoutSeconds) * time.Second
	}
	return a.client.Get().Namespace(a.namespace).Resource(a.resource).VersionedParams(o, scheme.ParameterCodec).Timeout(timeout)
}
