package apiserver

import (
	"fmt"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/wire/v1alpha2"
)

// Kind is a kind of object that this server knows, by its plural name.
type Kind string

// The resources.
const (
	Namespaces Kind = "namespaces"
	Jobs       Kind = "jobs"
	CronJobs   Kind = "cronjobs"
	Pods       Kind = "pods"
	Workloads  Kind = "workloads"
	PodGroups  Kind = "podgroups"
	Leases     Kind = "leases"
)

// kinds lists all kinds of objects that the server has.
var kinds = []Kind{Namespaces, CronJobs, Jobs, Pods, Workloads, PodGroups, Leases}

// Object is a stored object: a *corev1.Namespace, *batchv1.CronJob, *batchv1.Job, *corev1.Pod, *coordinationv1.Lease,
// or a Workload or PodGroup.
type Object interface {
	metav1.Object
	runtime.Object
}

// Key names an object of one kind; Namespace is empty for namespaces.
type Key struct{ Namespace, Name string }

func (k Key) String() string {
	if k.Namespace == "" {
		return k.Name
	}
	return k.Namespace + "/" + k.Name
}

func keyOf(o Object) Key { return Key{o.GetNamespace(), o.GetName()} }

// KindOf returns the resource of o.
func KindOf(o Object) Kind {
	k, ok := modelled(o)
	if !ok {
		panic(fmt.Sprintf("object of type %T is not modelled", o))
	}
	return k
}

// modelled returns the kind of o. The result is false if this server does not have that kind.
func modelled(o runtime.Object) (Kind, bool) {
	switch o.(type) {
	case *corev1.Namespace:
		return Namespaces, true
	case *batchv1.CronJob:
		return CronJobs, true
	case *batchv1.Job:
		return Jobs, true
	case *corev1.Pod:
		return Pods, true
	case *v1alpha2.Workload, *schedulingv1beta1.Workload:
		return Workloads, true
	case *v1alpha2.PodGroup, *schedulingv1beta1.PodGroup:
		return PodGroups, true
	case *coordinationv1.Lease:
		return Leases, true
	}
	return "", false
}

// VersionOf returns o's resource version, 0 when it has none.
func VersionOf(o metav1.Object) uint64 {
	v, err := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return v
}

// ControllerOf returns the UID of o's controller owner, empty when it has none.
func ControllerOf(o metav1.Object) types.UID {
	if ref := metav1.GetControllerOfNoCopy(o); ref != nil {
		return ref.UID
	}
	return ""
}

func (k Kind) resource() schema.GroupResource {
	return schema.GroupResource{Group: k.groupKind().Group, Resource: string(k)}
}

func (k Kind) groupKind() schema.GroupKind {
	switch k {
	case CronJobs:
		return schema.GroupKind{Group: batchv1.GroupName, Kind: "CronJob"}
	case Jobs:
		return schema.GroupKind{Group: batchv1.GroupName, Kind: "Job"}
	case Pods:
		return schema.GroupKind{Kind: "Pod"}
	case Workloads:
		return schema.GroupKind{Group: v1alpha2.GroupVersion.Group, Kind: "Workload"}
	case PodGroups:
		return schema.GroupKind{Group: v1alpha2.GroupVersion.Group, Kind: "PodGroup"}
	case Leases:
		return schema.GroupKind{Group: coordinationv1.GroupName, Kind: "Lease"}
	default:
		return schema.GroupKind{Kind: "Namespace"}
	}
}

func clone[T Object](o T) T { return o.DeepCopyObject().(T) }

// message is a type that can be encoded as protobuf.
type message interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// wire copies in to out as if it had been sent over the network: encoded as protobuf, with times in whole seconds,
// and without TypeMeta.
func wire[T message](in, out T) T {
	raw, err := in.Marshal()
	if err == nil {
		err = out.Unmarshal(raw)
	}
	if err != nil {
		panic(fmt.Sprintf("encode %T: %v", in, err)) // no error is possible for these types
	}
	return out
}

func wireJob(in *batchv1.Job) *batchv1.Job { return wire(in, &batchv1.Job{}) }
func wirePod(in *corev1.Pod) *corev1.Pod   { return wire(in, &corev1.Pod{}) }
