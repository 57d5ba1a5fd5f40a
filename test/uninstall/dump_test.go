package uninstall

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
)

// dump is every object of the cluster, as JSON, by resource, namespace and name.
type dump map[string]string

// dump reads every object of every resource that can be listed, but Events. What the cluster itself goes on changing is left out:
// versions and statuses, and when the holders of Leases renewed them.
func (c *cluster) dump() dump {
	c.t.Helper()
	client, err := dynamic.NewForConfig(c.cp.RESTConfig())
	if err != nil {
		c.t.Fatal(err)
	}
	lists, err := c.client.Discovery().ServerPreferredResources()
	if err != nil {
		c.t.Fatal(err)
	}
	all := dump{}
	for _, list := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "get"}}, lists) {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			c.t.Fatal(err)
		}
		for _, resource := range list.APIResources {
			if resource.Name == "events" || resource.Name == "componentstatuses" { // those are no objects
				continue
			}
			objects, err := client.Resource(version.WithResource(resource.Name)).List(c.t.Context(), metav1.ListOptions{})
			if err != nil {
				c.t.Fatalf("list %s: %v", resource.Name, err)
			}
			for i := range objects.Items {
				o := &objects.Items[i]
				key := fmt.Sprintf("%s.%s %s/%s", resource.Name, version.Group, o.GetNamespace(), o.GetName())
				all[key] = constant(o)
			}
		}
	}
	if len(all) < 50 {
		c.t.Fatalf("a dump of %d objects is none", len(all))
	}
	return all
}

// constant is what only somebody who means it changes of an object.
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
		panic(err) // it came as JSON
	}
	return string(text)
}

// since are the differences, a line for each object: it is new, it is gone, or it is another one.
func (d dump) since(before dump) []string {
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

// settle returns a dump that does not change any more: a cluster that has just started goes on making objects of its own.
func (c *cluster) settle() dump {
	c.t.Helper()
	last := c.dump()
	c.await("the cluster to stand still", func() error {
		now := c.dump()
		lines := now.since(last)
		last = now
		if len(lines) > 0 {
			return errors.New(strings.Join(lines, "\n"))
		}
		return nil
	})
	return last
}
