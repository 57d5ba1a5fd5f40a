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

	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/internal/deployed"
)

// Environment variables of the test's kubectl.
const (
	envKubeconfig = "TEST_KUBECTL_KUBECONFIG"
	envLogs       = "TEST_KUBECTL_LOGS" // the output file of the controller
)

// kubectl does what the real one does, as far as docs/uninstall.md needs it.
func kubectl(ctx context.Context, args []string) error {
	k, err := newKube(os.Getenv(envKubeconfig))
	if err != nil {
		return err
	}
	if len(args) > 2 && args[0] == "-n" {
		k.namespace, args = args[1], args[2:]
	}
	sets := k.client.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}).Namespace(k.namespace)
	switch line := strings.Join(args, " "); {
	case line == "apply -k deploy":
		return k.each(ctx, false, k.create)
	case line == "delete -k deploy":
		return k.each(ctx, true, k.delete)
	case len(args) == 3 && strings.HasPrefix(line, "apply -f deploy/"):
		return k.eachOf(ctx, args[2:], false, k.create)
	case len(args) > 3 && strings.HasPrefix(line, "delete -f deploy/") && args[len(args)-1] == "--ignore-not-found":
		return k.eachOf(ctx, args[2:len(args)-1], true, k.deleteIfThere)
	case len(args) == 4 && strings.HasPrefix(line, "label namespace"):
		return k.label(ctx, args[2], args[3])
	case len(args) == 6 && strings.HasPrefix(line, "patch statefulset ") && args[3] == "--type=json" && args[4] == "-p":
		_, err := sets.Patch(ctx, args[2], types.JSONPatchType, []byte(args[5]), metav1.PatchOptions{})
		return err
	case len(args) == 4 && strings.HasPrefix(line, "scale statefulset ") && strings.HasPrefix(args[3], "--replicas="):
		patch := `{"spec":{"replicas":` + strings.TrimPrefix(args[3], "--replicas=") + `}}`
		_, err := sets.Patch(ctx, args[2], types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "scale")
		return err
	case line == "rollout status statefulset jobledger":
		return nil // the test starts it before it goes on
	case line == "logs jobledger-0":
		text, err := os.ReadFile(os.Getenv(envLogs))
		if err == nil {
			_, err = os.Stdout.Write(text)
		}
		return err
	}
	return fmt.Errorf("this test does not know how to do %q", args)
}

func newKube(kubeconfig string) (*kube, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	k := &kube{}
	if k.client, err = dynamic.NewForConfig(config); err != nil {
		return nil, err
	}
	finder, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	k.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(finder))
	return k, nil
}

type kube struct {
	client    dynamic.Interface
	mapper    *restmapper.DeferredDiscoveryRESTMapper
	namespace string
}

// doing is an action on an object.
type doing func(context.Context, dynamic.ResourceInterface, *unstructured.Unstructured) error

// each calls do for each object of deploy/.
func (k *kube) each(ctx context.Context, backwards bool, do doing) error {
	objects, err := deployed.Base()
	if err != nil {
		return err
	}
	return k.eachIn(ctx, objects, backwards, do)
}

// eachOf calls do for each object of the files.
func (k *kube) eachOf(ctx context.Context, files []string, backwards bool, do doing) error {
	for _, file := range files {
		if file == "-f" {
			continue
		}
		objects, err := deployed.File(strings.TrimPrefix(file, "deploy/"))
		if err != nil {
			return err
		}
		if err := k.eachIn(ctx, objects, backwards, do); err != nil {
			return err
		}
	}
	return nil
}

func (k *kube) eachIn(ctx context.Context, objects []unstructured.Unstructured, backwards bool, do doing) error {
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

// forget deletes an object, without waiting until it is gone.
func (k *kube) forget(ctx context.Context, client dynamic.ResourceInterface, o *unstructured.Unstructured) error {
	background := metav1.DeletePropagationBackground
	err := client.Delete(ctx, o.GetName(), metav1.DeleteOptions{PropagationPolicy: &background})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) { // a namespace that is being deleted is a conflict
		return nil
	}
	return err
}

func (k *kube) createIfAbsent(ctx context.Context, client dynamic.ResourceInterface, o *unstructured.Unstructured) error {
	if err := k.create(ctx, client, o); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

func (k *kube) deleteIfThere(ctx context.Context, client dynamic.ResourceInterface, o *unstructured.Unstructured) error {
	if err := k.delete(ctx, client, o); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	return nil
}

// label sets (KEY=VALUE) or removes (KEY-) a label of a namespace; with --all, of all namespaces.
func (k *kube) label(ctx context.Context, name, label string) error {
	namespaces := k.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	list, err := namespaces.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	key, value, set := strings.Cut(label, "=")
	for i := range list.Items {
		o := &list.Items[i]
		labels := o.GetLabels()
		switch {
		case name != "--all" && name != o.GetName():
			continue
		case set:
			labels[key] = value
		default:
			delete(labels, strings.TrimSuffix(key, "-"))
		}
		o.SetLabels(labels)
		if _, err := namespaces.Update(ctx, o, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	return nil
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
