package integration

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/jobledger/jobledger/test/controlplane"
)

// grant is one right of a role: a verb on a resource.
type grant struct {
	namespace             string // empty: all
	verb, resource, group string
	names                 []string // of the only allowed objects; empty: all
}

func (g grant) String() string {
	text := fmt.Sprintf("%s %s.%s", g.verb, g.resource, g.group)
	if len(g.names) > 0 {
		text += fmt.Sprintf(" %v", g.names)
	}
	if g.namespace == "" {
		return text + " in all namespaces"
	}
	return text + " in " + g.namespace
}

func (g grant) equal(o grant) bool { return g.String() == o.String() }

// covers reports whether the right allows a request.
func (g grant) covers(r controlplane.Write) bool {
	return (g.namespace == "" || g.namespace == r.Namespace) && g.verb == r.Verb && g.resource == r.Resource && g.group == r.Group &&
		(len(g.names) == 0 || slices.Contains(g.names, r.Name))
}

// granted returns the rights in the roles of an installation, each once.
func granted(t *testing.T, objects []unstructured.Unstructured) (all []grant) {
	t.Helper()
	for i := range objects {
		if kind := objects[i].GetKind(); kind != "ClusterRole" && kind != "Role" {
			continue
		}
		var role rbacv1.ClusterRole
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(objects[i].Object, &role); err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						all = append(all, grant{role.Namespace, verb, resource, group, rule.ResourceNames})
					}
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b grant) int { return cmp.Compare(a.String(), b.String()) })
	all = slices.CompactFunc(all, grant.equal)
	if len(all) < 4 {
		t.Fatalf("the roles give no more than %v", all)
	}
	return all
}
