package integration

import (
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// O-044: some API servers check who creates an object that blocks the deletion of its owner
// (OwnerReferencesPermissionEnforcement). There the rights of deploy/ suffice, because of jobs/finalizers.
//
// TestPodsMayBlockTheDeletionOfTheirJob runs a Job on such a server.
func TestPodsMayBlockTheDeletionOfTheirJob(t *testing.T) {
	effort.Whole(t)
	t.Parallel()
	cp := controlplane.ForTest(t, controlplane.Options{
		APIServerArgs: []string{"--enable-admission-plugins=OwnerReferencesPermissionEnforcement"},
	})
	w := newWorldOn(t, cp)
	w.run("")
	w.create(newJob("demo"))
	w.finishes("demo")

	rights, err := controller.Rights()
	if err != nil {
		t.Fatal(err)
	}
	lesser := slices.DeleteFunc(slices.Clone(rights), func(r rbacv1.PolicyRule) bool { return slices.Contains(r.Resources, "jobs/finalizers") })
	if len(lesser) == len(rights) {
		t.Fatal("deploy/ does not give the right jobs/finalizers")
	}
	const name = "without-finalizers"
	roles := w.client.RbacV1()
	if _, err := roles.Roles(w.namespace).Create(t.Context(), &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: lesser}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
	}
	if _, err := roles.RoleBindings(w.namespace).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	job := w.job("demo")
	pod := &corev1.Pod{ObjectMeta: *job.Spec.Template.ObjectMeta.DeepCopy(), Spec: *job.Spec.Template.Spec.DeepCopy()}
	pod.Name = "blocks"
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
	createAs := func(user string) error {
		config, err := cp.UserConfig(user)
		if err != nil {
			t.Fatal(err)
		}
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.CoreV1().Pods(w.namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	if err := createAs(w.namespace); err != nil { // the controller's user
		t.Errorf("with the rights of deploy/: %v", err)
	}
	w.eventually("a user without jobs/finalizers is refused for that alone", func() (bool, error) {
		err := createAs(name)
		return err != nil && strings.Contains(err.Error(), "blockOwnerDeletion"), nil
	})
}
