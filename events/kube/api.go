package kube

import (
	"context"
	"errors"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/internal/wire/kubewire"
	"github.com/jobledger/jobledger/internal/wire/kubewire/request"
)

// api is the part of the API server that the writer of Events uses.
type api interface {
	create(ctx context.Context, e *corev1.Event) error
	patch(ctx context.Context, namespace, name string, patch []byte) error
}

// apiOf returns the API of a client. With a fake client, which sends no requests, it passes typed objects to the
// client.
func apiOf(client kubernetes.Interface) api {
	if s, ok := request.NewSender(client.CoreV1().RESTClient()); ok {
		return sending{s}
	}
	return typed{client}
}

// patience bounds the retries that the server asks for with a Retry-After, as in client-go.
const patience = 10

// sending implements api by HTTP requests. It does not decode the responses, which saves time.
type sending struct{ *request.Sender }

func (s sending) create(ctx context.Context, e *corev1.Event) error {
	body, err := e.Marshal()
	if err != nil {
		return err
	}
	return s.send(ctx, &request.Request{
		Verb: http.MethodPost, Namespace: e.Namespace, Resource: "events",
		ContentType: runtime.ContentTypeProtobuf, Body: kubewire.Wrap("v1", "Event", body),
	})
}

func (s sending) patch(ctx context.Context, namespace, name string, patch []byte) error {
	return s.send(ctx, &request.Request{
		Verb: http.MethodPatch, Namespace: namespace, Resource: "events", Name: name,
		ContentType: string(types.StrategicMergePatchType), Body: patch,
	})
}

func (s sending) send(ctx context.Context, r *request.Request) error {
	for tries := 0; ; tries++ {
		err := s.Send(ctx, r, func([]byte) error { return nil })
		later := wished(err)
		if later == 0 || tries == patience {
			return err
		}
		if err := wait(ctx, later); err != nil {
			return err
		}
	}
}

// wished returns the wait that the server asks for by Retry-After; 0 for none.
func wished(err error) time.Duration {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return 0
	}
	if s := status.Status(); s.Code == http.StatusTooManyRequests || s.Code >= http.StatusInternalServerError {
		return time.Duration(s.Details.RetryAfterSeconds) * time.Second
	}
	return 0
}

// typed implements api by the methods of a client.
type typed struct{ kubernetes.Interface }

func (t typed) create(ctx context.Context, e *corev1.Event) error {
	_, err := t.CoreV1().Events(e.Namespace).CreateWithEventNamespaceWithContext(ctx, e)
	return err
}

func (t typed) patch(ctx context.Context, namespace, name string, patch []byte) error {
	e := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	_, err := t.CoreV1().Events(namespace).PatchWithEventNamespaceWithContext(ctx, e, patch)
	return err
}
