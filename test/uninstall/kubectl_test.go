package uninstall

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/jobledger/jobledger/internal/patience"
	"github.com/jobledger/jobledger/test/internal/deployed"
)

// The environment of the kubectl that this test plays.
const (
	envKubeconfig = "TEST_KUBECTL_KUBECONFIG"
	envLogs       = "TEST_KUBECTL_LOGS" // the file to which the controller writes
)

// kubectl does what the real one does, as far as docs/uninstall.md asks for it.
func kubectl(ctx context.Context, args []string) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv(envKubeconfig))
	if err != nil {
		return err
	}
	k := kube{}
	if k.client, err = dynamic.NewForConfig(config); err != nil {
		return err
	}
	finder, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	k.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(finder))
	if len(args) > 2 && args[0] == "-n" {
		k.namespace, args = args[1], args[2:]
	}
	sets := k.client.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}).Namespace(k.namespace)
	switch line := strings.Join(args, " "); {
	case line == "apply -k deploy":
		return k.each(ctx, false, k.create)
	case line == "delete -k deploy":
		return k.each(ctx, true, k.delete)
	case len(args) == 6 && strings.HasPrefix(line, "patch statefulset ") && args[3] == "--type=json" && args[4] == "-p":
		_, err := sets.Patch(ctx, args[2], types.JSONPatchType, []byte(args[5]), metav1.PatchOptions{})
		return err
	case len(args) == 4 && strings.HasPrefix(line, "scale statefulset ") && strings.HasPrefix(args[3], "--replicas="):
		patch := `{"spec":{"replicas":` + strings.TrimPrefix(args[3], "--replicas=") + `}}`
		_, err := sets.Patch(ctx, args[2], types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "scale")
		return err
	case line == "rollout status statefulset jobledger":
		return nil // the test has started it before it goes on
	case line == "logs jobledger-0":
		text, err := os.ReadFile(os.Getenv(envLogs))
		if err == nil {
			_, err = os.Stdout.Write(text)
		}
		return err
	}
	return fmt.Errorf("this test does not know how to do %q", args)
}

type kube struct {
	client    dynamic.Interface
	mapper    *restmapper.DeferredDiscoveryRESTMapper
	namespace string
}

// each does something with each object of deploy/.
func (k *kube) each(ctx context.Context, backwards bool, do func(context.Context, dynamic.ResourceInterface, *unstructured.Unstructured) error) error {
	objects, err := deployed.Base()
	if err != nil {
		return err
	}
	if backwards {
		slices.Reverse(objects)
	}
	for i := range objects {
		o := &objects[i]
		mapping, err := k.mapper.RESTMapping(o.GroupVersionKind().GroupKind(), o.GroupVersionKind().Version)
		if err != nil {
			return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
		}
		if err := do(ctx, k.client.Resource(mapping.Resource).Namespace(o.GetNamespace()), o); err != nil {
			return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}

func (k *kube) create(ctx context.Context, client dynamic.ResourceInterface, o *unstructured.Unstructured) error {
	_, err := client.Create(ctx, o, metav1.CreateOptions{})
	return err
}

// delete deletes an object and waits until it is gone.
func (k *kube) delete(ctx context.Context, client dynamic.ResourceInterface, o *unstructured.Unstructured) error {
	background := metav1.DeletePropagationBackground
	if err := client.Delete(ctx, o.GetName(), metav1.DeleteOptions{PropagationPolicy: &background}); err != nil {
		return err
	}
	ctx, cancel := patience.Context(ctx)
	defer cancel()
	return wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		_, err := client.Get(ctx, o.GetName(), metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
}
