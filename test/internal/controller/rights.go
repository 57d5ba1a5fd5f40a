package controller

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/jobledger/jobledger/test/binaries"
	"github.com/jobledger/jobledger/test/controlplane"
)

// Rights returns exactly the rights that a deployment gives the controller: those of the ClusterRole and of the Role
// for the Lease in deploy/. Discovery is open to every authenticated user.
func Rights() ([]rbacv1.PolicyRule, error) {
	role, err := ClusterRole()
	if err != nil {
		return nil, err
	}
	var forLease rbacv1.Role
	if err := deployed("base/role.yaml", &forLease); err != nil {
		return nil, err
	}
	return slices.Concat(role.Rules, forLease.Rules), nil
}

// ClusterRole returns the ClusterRole in deploy/base.
func ClusterRole() (*rbacv1.ClusterRole, error) {
	var role rbacv1.ClusterRole
	if err := deployed("base/clusterrole.yaml", &role); err != nil {
		return nil, err
	}
	if len(role.Rules) == 0 {
		return nil, errors.New("the ClusterRole of deploy/ gives no rights")
	}
	return &role, nil
}

// CreateClusterRole creates the ClusterRole of deploy/base and returns its name. It adds the right to watch nodes and
// namespaces, because 'kubectl apply -k deploy' gives both.
func CreateClusterRole(ctx context.Context, cp *controlplane.ControlPlane) (name string, err error) {
	role, err := ClusterRole()
	if err != nil {
		return "", err
	}
	return create(ctx, cp, role)
}

// CreateCronJobRole creates the additional ClusterRole that a controller needs to run CronJobs, and returns its name.
func CreateCronJobRole(ctx context.Context, cp *controlplane.ControlPlane) (name string, err error) {
	var role rbacv1.ClusterRole
	if err := deployed("cronjobs/clusterrole.yaml", &role); err != nil {
		return "", err
	}
	return create(ctx, cp, &role)
}

// CreateReaderRole creates the ClusterRole for --manage=observe, and returns its name.
func CreateReaderRole(ctx context.Context, cp *controlplane.ControlPlane) (name string, err error) {
	var role rbacv1.ClusterRole
	if err := deployed("observe/clusterrole.yaml", &role); err != nil {
		return "", err
	}
	return create(ctx, cp, &role)
}

func create(ctx context.Context, cp *controlplane.ControlPlane, role *rbacv1.ClusterRole) (name string, err error) {
	var watch rbacv1.ClusterRole
	if err := deployed("watch-cluster/clusterrole.yaml", &watch); err != nil {
		return "", err
	}
	role.Rules = slices.Concat(role.Rules, watch.Rules)
	client, err := kubernetes.NewForConfig(cp.RESTConfig())
	if err != nil {
		return "", err
	}
	if _, err := client.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return "", fmt.Errorf("create the ClusterRole %s: %w", role.Name, err)
	}
	return role.Name, nil
}

// deployed reads an object from the file name in deploy/ into into.
func deployed(name string, into any) error {
	root, err := binaries.FindRoot()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(root, "deploy", name))
	if err != nil {
		return err
	}
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		return fmt.Errorf("read deploy/%s: %w", name, err)
	}
	return nil
}

// ttlRights are the rights that --manage=all needs in addition: to delete Jobs after their TTL.
var ttlRights = []rbacv1.PolicyRule{{APIGroups: []string{"batch"}, Resources: []string{"jobs"}, Verbs: []string{"delete"}}}

// NewUser creates a user with exactly the rights that a deployment for one namespace gives the controller (J-249,
// J-250), and writes its kubeconfig into dir. The audit log shows the name of the user with the controller's requests.
func NewUser(ctx context.Context, cp *controlplane.ControlPlane, name, namespace, dir string) (kubeconfig string, err error) {
	rights, err := Rights()
	if err != nil {
		return "", err
	}
	if err := grant(ctx, cp, name, namespace, name, rights); err != nil {
		return "", err
	}
	if err := seeLeases(ctx, cp, name); err != nil {
		return "", err
	}
	return writeKubeconfig(cp, name, dir)
}

// seeLeases lets a user read the Lease of a controller for all namespaces, as deploy/overlays/namespace/rights.yaml
// does.
func seeLeases(ctx context.Context, cp *controlplane.ControlPlane, user string) error {
	client, err := kubernetes.NewForConfig(cp.RESTConfig())
	if err != nil {
		return err
	}
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "jobledger-leases"},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, ResourceNames: []string{LeaseName}, Verbs: []string{"get"},
		}},
	}
	if _, err := client.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("make the role to see Leases: %w", err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name + "-" + user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	if _, err := client.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("let %s see Leases: %w", user, err)
	}
	return awaitRight(ctx, client, user, "kube-system", role.Rules[0])
}

// NewReader creates a user like NewUser, but with the rights for --manage=observe: the user may write nothing.
func NewReader(ctx context.Context, cp *controlplane.ControlPlane, name, namespace, dir string) (kubeconfig string, err error) {
	var role rbacv1.ClusterRole
	if err := deployed("observe/clusterrole.yaml", &role); err != nil {
		return "", err
	}
	if err := grant(ctx, cp, name, namespace, name, role.Rules); err != nil {
		return "", err
	}
	return writeKubeconfig(cp, name, dir)
}

func writeKubeconfig(cp *controlplane.ControlPlane, name, dir string) (path string, err error) {
	config, err := cp.UserConfig(name)
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, name+".kubeconfig")
	return path, controlplane.WriteKubeconfig(config, path)
}

// GrantGangs gives a user that NewUser created the rights of deploy/gang, to create Workloads and PodGroups.
func GrantGangs(ctx context.Context, cp *controlplane.ControlPlane, name, namespace string) error {
	var role rbacv1.ClusterRole
	if err := deployed("gang/clusterrole.yaml", &role); err != nil {
		return err
	}
	return grant(ctx, cp, name, namespace, name+"-gangs", role.Rules)
}

// GrantTTL gives a user that NewUser created the right to delete Jobs after their TTL.
func GrantTTL(ctx context.Context, cp *controlplane.ControlPlane, name, namespace string) error {
	return grant(ctx, cp, name, namespace, name+"-ttl", ttlRights)
}

// CreateCronJobsRole creates the ClusterRole of deploy/cronjobs and returns its name.
func CreateCronJobsRole(ctx context.Context, cp *controlplane.ControlPlane) (name string, err error) {
	var role rbacv1.ClusterRole
	if err := deployed("cronjobs/clusterrole.yaml", &role); err != nil {
		return "", err
	}
	return create(ctx, cp, &role)
}

// GrantCronJobs gives a user that NewUser created the rights of deploy/cronjobs.
func GrantCronJobs(ctx context.Context, cp *controlplane.ControlPlane, name, namespace string) error {
	var role rbacv1.ClusterRole
	if err := deployed("cronjobs/clusterrole.yaml", &role); err != nil {
		return err
	}
	return grant(ctx, cp, name, namespace, name+"-cronjobs", role.Rules)
}

// GrantWatch gives a user the rights for --watch-cluster: to read nodes and namespaces.
func GrantWatch(ctx context.Context, cp *controlplane.ControlPlane, user string) error {
	var role rbacv1.ClusterRole
	if err := deployed("watch-cluster/clusterrole.yaml", &role); err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(cp.RESTConfig())
	if err != nil {
		return err
	}
	if _, err := client.RbacV1().ClusterRoles().Create(ctx, &role, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("make the role of watch-cluster: %w", err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name + "-" + user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	if _, err := client.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("let %s watch nodes and namespaces: %w", user, err)
	}
	return nil
}

// GrantEverywhere gives a user, in all namespaces, the ClusterRoles in the named directories of deploy/.
func GrantEverywhere(ctx context.Context, cp *controlplane.ControlPlane, user string, names ...string) error {
	client, err := kubernetes.NewForConfig(cp.RESTConfig())
	if err != nil {
		return err
	}
	for _, name := range names {
		var role rbacv1.ClusterRole
		if err := deployed(name+"/clusterrole.yaml", &role); err != nil {
			return err
		}
		if _, err := client.RbacV1().ClusterRoles().Create(ctx, &role, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create the ClusterRole %s: %w", role.Name, err)
		}
		if err := cp.Bind(ctx, user, role.Name); err != nil {
			return err
		}
		if err := awaitRight(ctx, client, user, metav1.NamespaceAll, role.Rules[0]); err != nil {
			return err
		}
	}
	return nil
}

// grant gives the user rights in a namespace, by a Role with the given name.
func grant(ctx context.Context, cp *controlplane.ControlPlane, user, namespace, name string, rules []rbacv1.PolicyRule) error {
	client, err := kubernetes.NewForConfig(cp.RESTConfig())
	if err != nil {
		return err
	}
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
	if _, err := client.RbacV1().Roles(namespace).Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("make the rights of %s: %w", user, err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	if _, err := client.RbacV1().RoleBindings(namespace).Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("give %s its rights: %w", user, err)
	}
	return awaitRight(ctx, client, user, namespace, rules[0])
}

// awaitRight returns when the API server grants a new right. Until its own watches have shown it the new roles, it
// refuses such requests.
func awaitRight(ctx context.Context, client kubernetes.Interface, user, namespace string, rule rbacv1.PolicyRule) error {
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user,
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: namespace, Group: rule.APIGroups[0], Resource: rule.Resources[0], Verb: rule.Verbs[0],
		},
	}}
	if len(rule.ResourceNames) > 0 {
		review.Spec.ResourceAttributes.Name = rule.ResourceNames[0]
	}
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		answer, err := client.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("ask for the rights of %s: %w", user, err)
		}
		if answer.Status.Allowed {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait until %s has its rights: %w", user, context.Cause(ctx))
		}
	}
}
