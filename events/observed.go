package events

import "k8s.io/apimachinery/pkg/types"

// Object is the object that an observation is about.
type Object struct {
	Resource ObjectResource
	UID      types.UID
	Version  uint64 // resourceVersion; 0 for nodes and namespaces
	Gone     bool   // its end
}

// ObjectResource says what an object is. The numbers are for ever.
type ObjectResource uint8

// The resources of objects that are observed.
const (
	ObjectJob       ObjectResource = 1
	ObjectPod       ObjectResource = 2
	ObjectCronJob   ObjectResource = 3
	ObjectNode      ObjectResource = 4
	ObjectNamespace ObjectResource = 5
)

// String is the resource in a word.
func (r ObjectResource) String() string {
	switch r {
	case ObjectJob:
		return "job"
	case ObjectPod:
		return "pod"
	case ObjectCronJob:
		return "cronjob"
	case ObjectNode:
		return "node"
	case ObjectNamespace:
		return "namespace"
	}
	return "object"
}

// Object is the object that the observation is about; the zero Object for an observation of none, such as the start of
// a listing.
func (o *Observation) Object() Object {
	if about, ok := o.Facts.(aboutObject); ok {
		return about.object(o.Job.UID)
	}
	return Object{}
}

// aboutObject is a fact with About in its row. The UID is that of the Job or CronJob that the observation names, for
// facts that do not say one.
type aboutObject interface{ object(of types.UID) Object }

func (f *JobSeen) object(of types.UID) Object     { return Object{ObjectJob, of, f.Version, false} }
func (f *JobGone) object(of types.UID) Object     { return Object{ObjectJob, of, f.Version, true} }
func (f *RunSeen) object(types.UID) Object        { return Object{ObjectJob, f.Job, f.Version, false} }
func (f *RunGone) object(types.UID) Object        { return Object{ObjectJob, f.Job, f.Version, true} }
func (f *PodSeen) object(types.UID) Object        { return Object{ObjectPod, f.UID, f.Version, false} }
func (f *PodGone) object(types.UID) Object        { return Object{ObjectPod, f.UID, f.Version, true} }
func (f *CronJobSeen) object(of types.UID) Object { return Object{ObjectCronJob, of, f.Version, false} }
func (f *CronJobGone) object(of types.UID) Object { return Object{ObjectCronJob, of, f.Version, true} }
func (f *NodeSeen) object(types.UID) Object       { return Object{ObjectNode, f.UID, 0, false} }
func (f *NodeGone) object(types.UID) Object       { return Object{ObjectNode, f.UID, 0, true} }
func (f *NamespaceSeen) object(types.UID) Object  { return Object{ObjectNamespace, f.UID, 0, f.Gone} }

// PodIn is the pod that the facts observe, there or gone; false for all other facts.
func PodIn(f Facts) (types.UID, bool) {
	if t := TraitsOf(f); t == nil || t.About != ObjectPod {
		return "", false
	}
	return f.(aboutObject).object("").UID, true
}

// Namespace is that of the object; empty for a node or a namespace, and for an observation of no object.
func (o *Observation) Namespace() string {
	if o.Evidence.Namespace != "" {
		return o.Evidence.Namespace
	}
	return o.Job.Namespace
}

// PassedOver says that not every version of a namespace's objects is recorded, and counts the versions without a
// record. The first such record comes before any version is left out; another follows each minute. Evidence.Namespace
// names the namespace; empty for nodes and namespaces.
type PassedOver struct {
	Since    Time          // from when on this record counts
	Went     []ObjectsWent // objects that came and went without a record of their own
	Versions uint64        // seen, and counted by no record of their object: those of the objects that went, and a few others
	Open     bool          // more may be passed over, which a later record counts; none does when the controller is killed before
}

// ObjectsWent is how many objects of one resource came and went.
type ObjectsWent struct {
	Resource ObjectResource
	Objects  uint64
}

func (*PassedOver) facts() factType { return factPassedOver }
