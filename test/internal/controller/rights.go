package controller

import (
	"context"
	"fmt"
	"path/filepath"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/test/controlplane"
)

// rights are those of section 18 of the Job contract, and no more (J-249), with the Lease of a stand-alone process
// (J-250). Discovery is open to every authenticated user.
var rights = []rbacv1.PolicyRule{
	{APIGroups: []string{"batch"}, Resources: []string{"jobs"}, Verbs: []string{"get", "list", "watch", "update", "patch"}},
	{APIGroups: []string{"batch"}, Resources: []string{"jobs/status"}, Verbs: []string{"update"}},
	{APIGroups: []string{"batch"}, Resources: []string{"jobs/finalizers"}, Verbs: []string{"update"}},
	{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list", "watch", "create", "delete", "patch"}},
	{APIGroups: []string{"", "events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"create", "patch", "update"}},
	{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"get", "create", "update"}},
}

// NewUser makes a user of that name that may do in the namespace what a Job controller must be able to do, and nothing
// else, and writes its kubeconfig into dir. The audit log knows the controller by the user's name.
func NewUser(ctx context.Context, cp *controlplane.ControlPlane, name, namespace, dir string) (kubeconfig string, err error) {
	client, err := kubernetes.NewForConfig(cp.RESTConfig())
	if err != nil {
		return "", err
	}
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rights}
	if _, err := client.RbacV1().Roles(namespace).Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return "", fmt.Errorf("make the rights of %s: %w", name, err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
	}
	if _, err := client.RbacV1().RoleBindings(namespace).Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return "", fmt.Errorf("give %s its rights: %w", name, err)
	}
	config, err := cp.UserConfig(name)
	if err != nil {
		return "", err
	}
	kubeconfig = filepath.Join(dir, name+".kubeconfig")
	return kubeconfig, controlplane.WriteKubeconfig(config, kubeconfig)
}
