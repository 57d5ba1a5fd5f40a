package apiserver

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// actorLoad is the name that the log of writes gives to objects that a test loads into the server.
const actorLoad = "loader"

// Load stores an object as if it had existed before the test. Its UID, times, finalizers and status stay as given, and
// nothing is validated. Load adds only what every stored object has: a UID, a creation time, the defaults of its kind,
// and its namespace. It returns an error for a kind that the server does not know, a name that exists, and unknown
// faults.
func (s *Server) Load(in runtime.Object) error {
	kind, ok := modelled(in)
	if !ok {
		return fmt.Errorf("objects of type %T are not modelled", in)
	}
	o := in.DeepCopyObject().(Object)
	if err := checkAnnotatedFaults(o); err != nil {
		return fmt.Errorf("%s %s: %w", kind, keyOf(o), err)
	}
	if _, taken := s.tables[kind].live[keyOf(o)]; taken {
		return apierrors.NewAlreadyExists(kind.resource(), o.GetName())
	}
	if namespace := o.GetNamespace(); s.tables[Namespaces].live[Key{Name: namespace}] == nil && namespace != "" {
		if _, err := s.createNamespace(actorLoad, namespace); err != nil {
			return err
		}
	}
	o = withDefaults(o)
	if o.GetUID() == "" {
		o.SetUID(s.newUID())
	}
	if at := o.GetCreationTimestamp(); at.IsZero() {
		o.SetCreationTimestamp(s.now())
	}
	s.commit(request{actor: actorLoad, verb: "create"}, nil, o)
	return nil
}

// Overwrite replaces the spec of a CronJob without validation, as an API server with fewer rules might. It raises the
// generation if the spec changes. It does nothing if the CronJob does not exist.
func (s *Server) Overwrite(in *batchv1.CronJob) {
	stored, ok := s.tables[CronJobs].live[keyOf(in)].(*batchv1.CronJob)
	if !ok {
		return
	}
	after := stored.DeepCopy()
	after.Spec = wireCronJob(in).Spec
	defaultCronJob(after)
	if !equality.Semantic.DeepEqual(after.Spec, stored.Spec) {
		after.Generation++
	}
	s.update(request{actor: actorLoad, verb: "update"}, stored, after)
}

// withDefaults returns an object as it would arrive over the network, with the defaults of its kind.
func withDefaults(o Object) Object {
	switch o := o.(type) {
	case *batchv1.CronJob:
		cronJob := wireCronJob(o)
		defaultCronJob(cronJob)
		return cronJob
	case *batchv1.Job:
		job := wireJob(o)
		defaultJob(job)
		return job
	case *corev1.Pod:
		pod := wirePod(o)
		defaultPodSpec(&pod.Spec)
		if pod.Status.Phase == "" {
			pod.Status.Phase = corev1.PodPending
		}
		return pod
	}
	// Remove the TypeMeta, because stored objects have none
	o.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return o
}
