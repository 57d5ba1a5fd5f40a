package dump

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// Dump has every object of a cluster as JSON. Its keys consist of resource, namespace and name.
type Dump map[string]string

// Of returns a dump of the cluster: every object of every resource that can be listed, except Events. It leaves out
// fields that the cluster changes by itself: versions, statuses, and the renew times of Leases.
func Of(ctx context.Context, config *rest.Config) (Dump, error) {
	config = rest.CopyConfig(config)
	config.WarningHandler = rest.NoWarnings{} // without it, each read of a deprecated resource would print a warning
	finder, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	lists, err := finder.ServerPreferredResources()
	if err != nil {
		return nil, fmt.Errorf("dump the cluster: %w", err)
	}
	all := Dump{}
	for _, list := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "get"}}, lists) {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, resource := range list.APIResources {
			// Events come and go by themselves, and componentstatuses are not stored.
			if resource.Name == "events" || resource.Name == "componentstatuses" {
				continue
			}
			objects, err := client.Resource(version.WithResource(resource.Name)).List(ctx, metav1.ListOptions{})
			if err != nil {
				return nil, fmt.Errorf("dump the cluster: list %s: %w", resource.Name, err)
			}
			for i := range objects.Items {
				o := &objects.Items[i]
				all[fmt.Sprintf("%s.%s %s/%s", resource.Name, version.Group, o.GetNamespace(), o.GetName())] = constant(o)
			}
		}
	}
	if len(all) < 50 {
		return nil, fmt.Errorf("a dump of %d objects is none", len(all))
	}
	return all, nil
}

// constant returns an object as JSON, without the fields that the cluster changes by itself.
func constant(o *unstructured.Unstructured) string {
	delete(o.Object, "status")
	for _, field := range []string{"resourceVersion", "managedFields", "generation"} {
		unstructured.RemoveNestedField(o.Object, "metadata", field)
	}
	if o.GetKind() == "Lease" {
		unstructured.RemoveNestedField(o.Object, "spec", "renewTime")
	}
	text, err := json.Marshal(o.Object)
	if err != nil {
		panic(err) // no error is possible: the API server sent the object as JSON
	}
	return string(text)
}

// Since returns how d differs from an earlier dump, with one line for each object that is new (+), gone (-) or changed
// (~).
func (d Dump) Since(before Dump) []string {
	var lines []string
	for key, text := range d {
		switch old, ok := before[key]; {
		case !ok:
			lines = append(lines, "+ "+key)
		case old != text:
			lines = append(lines, "~ "+key+"\n    "+old+"\n    "+text)
		}
	}
	for key := range before {
		if _, ok := d[key]; !ok {
			lines = append(lines, "- "+key)
		}
	}
	slices.Sort(lines)
	return lines
}

// Settle returns a dump once two dumps in a row are equal. A cluster that has just started still creates its own
// objects.
func Settle(ctx context.Context, config *rest.Config) (Dump, error) {
	last, err := Of(ctx, config)
	if err != nil {
		return nil, err
	}
	var lines []string
	err = wait.PollUntilContextCancel(ctx, 100*time.Millisecond, false, func(ctx context.Context) (bool, error) {
		now, err := Of(ctx, config)
		if err != nil {
			return false, err
		}
		lines = now.Since(last)
		last = now
		return len(lines) == 0, nil
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the cluster does not stand still: %w", err), errors.New(strings.Join(lines, "\n")))
	}
	return last, nil
}
