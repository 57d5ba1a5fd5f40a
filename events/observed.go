package events

import "k8s.io/apimachinery/pkg/types"

// Object identifies the Kubernetes object that an observation is about.
type Object struct {
	Resource ObjectResource
	UID      types.UID
	Version  uint64 // resourceVersion; 0 for nodes and namespaces
	Gone     bool   // the object no longer exists
}

// ObjectResource is the resource of an observed object. The numbers never change.
type ObjectResource uint8

// The resources of observed objects.
const (
	ObjectJob       ObjectResource = 1
	ObjectPod       ObjectResource = 2
	ObjectCronJob   ObjectResource = 3
	ObjectNode      ObjectResource = 4
	ObjectNamespace ObjectResource = 5
)

// String returns the resource in one word, such as "pod".
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

// Object returns the object that the observation is about. It is the zero Object for an observation of no object, such
// as the start of a listing.
func (o *Observation) Object() Object {
	if about, ok := o.Facts.(aboutObject); ok {
		return about.object(o.Job.UID)
	}
	return Object{}
}

// Object returns the object that the record observes. It is the zero Object for a record that observes none.
func (r *Record) Object() Object {
	if about, ok := r.Facts.(aboutObject); ok {
		return about.object(types.UID(r.Stream.ID))
	}
	return Object{}
}

// Subject returns the Job or CronJob of the record's stream, if the record observes it. ok is false for all other
// records, such as those of a Job's pods or of a CronJob's Jobs.
func (r *Record) Subject() (o Object, ok bool) {
	o = r.Object()
	return o, o.UID != "" && string(o.UID) == r.Stream.ID
}

// aboutObject is implemented by the facts that observe an object (FactTraits.About). of is the UID of the Job or
// CronJob that the observation belongs to; object returns it as the object's UID for facts that have none of their own.
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

// PodIn returns the pod that the facts observe, existing or deleted; false for all other facts.
func PodIn(f Facts) (types.UID, bool) {
	if t := TraitsOf(f); t == nil || t.About != ObjectPod {
		return "", false
	}
	return f.(aboutObject).object("").UID, true
}

// Namespace returns the namespace of the object. It is empty for a node or a namespace, and for an observation of no
// object.
func (o *Observation) Namespace() string {
	if o.Evidence.Namespace != "" {
		return o.Evidence.Namespace
	}
	return o.Job.Namespace
}

// PassedOver records that some versions of a namespace's objects were not recorded, and counts them. The first such
// record comes before any version is skipped; another follows each minute. Evidence.Namespace is the namespace; empty
// for nodes and namespaces.
type PassedOver struct {
	Since Time          // start of the time to which the counts apply
	Went  []ObjectsWent // objects that were created and deleted without a record of their own
	// Versions that were skipped and that no Evidence.PassedOver counts: those of the objects in Went, and a few others
	Versions uint64
	// More versions may be skipped after this record. A later record counts them, unless the controller is killed first
	Open bool
}

// ObjectsWent counts objects of one resource that were created and deleted without a record.
type ObjectsWent struct {
	Resource ObjectResource
	Objects  uint64
}

func (*PassedOver) facts() factType { return factPassedOver }
