package apiserver

import (
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (s *Server) createNamespace(actor, name string) (*corev1.Namespace, error) {
	if _, ok := s.tables[Namespaces].live[Key{Name: name}]; ok {
		return nil, apierrors.NewAlreadyExists(Namespaces.resource(), name)
	}
	ns := &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: s.newUID(), CreationTimestamp: s.now(), Labels: map[string]string{corev1.LabelMetadataName: name},
		},
		Status: corev1.NamespaceStatus{Phase: corev1.NamespaceActive},
	}
	s.commit(request{actor: actor, verb: "create"}, nil, ns)
	return ns.DeepCopy(), nil
}

// deleteNamespace marks the namespace as terminating; the namespace controller's steps empty and remove it.
func (s *Server) deleteNamespace(actor, name string) error {
	stored, err := s.get(Namespaces, Key{Name: name})
	if err != nil {
		return err
	}
	if stored.GetDeletionTimestamp() != nil {
		return nil
	}
	after := stored.(*corev1.Namespace).DeepCopy()
	now := s.now()
	after.DeletionTimestamp = &now
	after.Status.Phase = corev1.NamespaceTerminating
	s.commit(request{actor: actor, verb: "delete"}, stored, after)
	return nil
}

// admitInto returns an error for the creation of an object in a namespace that does not exist (404) or is being deleted
// (403 with the cause NamespaceTerminating).
func (s *Server) admitInto(k Kind, namespace, name string) error {
	stored, err := s.get(Namespaces, Key{Name: namespace})
	if err != nil {
		return err
	}
	if stored.GetDeletionTimestamp() == nil {
		return nil
	}
	refused := apierrors.NewForbidden(k.resource(), name, errText("unable to create new content in namespace "+namespace+" because it is being terminated"))
	refused.ErrStatus.Details.Causes = append(refused.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: corev1.NamespaceTerminatingCause, Message: "namespace " + namespace + " is being terminated", Field: "metadata.namespace",
	})
	return refused
}

// errText is an error with a text copied from the real server, so linters for error texts do not apply.
type errText string

func (e errText) Error() string { return string(e) }
