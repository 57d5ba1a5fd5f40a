package release

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
)

// ServedGroups returns a function that reports whether the API server serves a version of an API group. The function is
// nil if the server does not say so; the caller then tries every version.
func ServedGroups(client kubernetes.Interface) (func(schema.GroupVersion) bool, error) {
	groups, err := client.Discovery().ServerGroups()
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("ask the API server which groups it has: %w", err)
	}
	has := map[string]bool{"v1": true}
	for _, g := range groups.Groups {
		for _, v := range g.Versions {
			has[v.GroupVersion] = true
		}
	}
	return func(g schema.GroupVersion) bool { return has[g.String()] }, nil
}
