package informer

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"github.com/jobledger/jobledger/internal/wire/kubewire"
	"github.com/jobledger/jobledger/internal/wire/kubewire/request"
)

// access holds the API calls for the objects of a resource.
type access struct {
	example runtime.Object // an empty object of the resource's type
	list    func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch   func(context.Context, metav1.ListOptions) (watch.Interface, error)
	read    func(runtime.Object) (runtime.Object, error) // converts an object from the watch; nil for no conversion
}

// accessTo returns the access through the methods of a typed client.
func accessTo[L runtime.Object](
	example runtime.Object,
	list func(context.Context, metav1.ListOptions) (L, error),
	watch func(context.Context, metav1.ListOptions) (watch.Interface, error),
) access {
	return access{example: example, watch: watch, list: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return list(ctx, o)
	}}
}

// reading returns the access to a resource whose objects are decoded only partly, directly from the response. A client
// that sends no requests, such as a fake, returns whole objects, which are converted afterwards.
func reading[O kubewire.Object](r *kubewire.Resource[O], client rest.Interface, namespace, resource string, whole access) access {
	if a, ok := request.To(r, client, namespace, resource); ok {
		return accessTo(r.Empty(), a.List, a.Watch)
	}
	list := whole.list
	whole.read = r.Object
	whole.list = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		listed, err := list(ctx, o)
		if err != nil {
			return nil, err
		}
		return r.Object(listed)
	}
	return whole
}
