package projector

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// World is everything that one log says: its Jobs, the pods without an owner, and what the controller went through.
type World struct {
	Identity events.Identity
	Head     events.Sequence
	Now      events.Time

	Settings events.Settings
	Program  string      // version of the program that works, or worked last
	Rules    uint32      // its rules version
	Fold     uint32      // its fold version; 0 for one that did not say
	Key      string      // ID of the key with which it hashes specs and templates
	Listing  bool        // the view of the cluster is being built again: nothing is decided
	Rival    Rival       // another controller at work on the same Jobs
	Lost     events.Loss // records that the log is known to have lost; zero when there are none. Nothing is decided then

	previous events.Sequence            // the controller stream's newest record
	pending  []events.Resource          // resources that the open listing still waits for
	newest   map[events.Resource]uint64 // newest resourceVersion known of each resource
	specs    specs
	jobs     map[events.Stream]*Job
	stubs    map[types.UID]Stub
	homes    map[types.UID]events.Stream       // of each pod
	floors   map[events.Stream]events.Sequence // while recovering: through which record a snapshot has each stream

	shares     shares // of namespaces in the log
	sharesKept int    // how many there may be before those that are empty are forgotten
}

// Stub is what is kept of a finished Job until its object is gone (design §3).
type Stub struct {
	Ref      events.JobRef
	Version  uint64
	Finished events.Time
	TTL      int32 // seconds; events.Unset for none
	Head     events.Sequence
}

// NewWorld is what an empty log says.
func NewWorld() *World {
	return &World{
		Settings: events.DefaultSettings(),
		newest:   map[events.Resource]uint64{},
		specs:    newSpecs(),
		jobs:     map[events.Stream]*Job{},
		stubs:    map[types.UID]Stub{},
		homes:    map[types.UID]events.Stream{},
		shares:   shares{},
	}
}

// Job is what the log says about a stream; nil when it holds nothing of it, or no more than a stub.
func (w *World) Job(stream events.Stream) *Job { return w.jobs[stream] }

// whereIs finds the pod that the log knows under that UID, and the Job, placeholder or namespace that holds it; nil for none.
func (w *World) whereIs(uid types.UID) (*Job, *Pod) {
	j := w.jobs[w.homes[uid]]
	if j == nil {
		return nil, nil
	}
	return j, j.pods[uid]
}

// Jobs are all of them, placeholders and namespaces too, in the order in which their streams began.
func (w *World) Jobs() []*Job {
	out := make([]*Job, 0, len(w.jobs))
	for _, j := range w.jobs {
		out = append(out, j)
	}
	slices.SortFunc(out, func(a, b *Job) int { return cmp.Compare(a.first, b.first) })
	return out
}

// Stub is what is kept of a finished Job; ok is false when there is no stub of it.
func (w *World) Stub(uid types.UID) (s Stub, ok bool) {
	s, ok = w.stubs[uid]
	return s, ok
}

// Len is the number of Jobs, placeholders and namespaces; Stubs that of stubs.
func (w *World) Len() int { return len(w.jobs) }

// Stubs is the number of finished Jobs that are kept as stubs.
func (w *World) Stubs() int { return len(w.stubs) }

// Newest is the newest resourceVersion known of a resource; 0 for none. It costs what there are Jobs, or pods: the answers
// to our own writes count, which are known of each object alone.
func (w *World) Newest(r events.Resource) uint64 {
	newest := w.newest[r]
	for _, j := range w.jobs {
		switch r {
		case events.Jobs:
			newest = max(newest, j.Version)
		case events.Pods:
			for _, p := range j.pods {
				newest = max(newest, p.Newest())
			}
		case events.CronJobs:
		}
	}
	return newest
}

// Previous is the newest record of a stream that this world holds; 0 when it holds none.
func (w *World) Previous(s events.Stream) events.Sequence {
	if s == events.Controller {
		return w.previous
	}
	if j := w.jobs[s]; j != nil {
		return j.Head
	}
	return w.stubs[types.UID(s.ID)].Head
}

// Apply folds rec. It cannot fail: records are validated when they are decoded.
func (w *World) Apply(rec *events.Record) {
	w.Head, w.Now = rec.Sequence, rec.Time
	switch {
	case rec.Stream == events.Controller:
		w.applyToController(rec) // also one that a snapshot has: it says the same again
		if rec.Kind == events.KindControllerStarted || rec.Kind == events.KindClockStepped {
			w.broadcast(rec)
		}
		if rec.Sequence > w.floors[events.Controller] {
			w.chargeController(rec)
		}
	default:
		namespace := w.namespaceOf(rec) // before the record ends what is known of the stream
		w.Learn(rec)
		if rec.Sequence > w.floors[rec.Stream] {
			w.applyToJob(rec)
		}
		if rec.Sequence > w.floors[events.Controller] {
			w.charge(rec, namespace)
		}
	}
}

func (w *World) applyToController(rec *events.Record) {
	w.previous = rec.Sequence
	switch f := rec.Facts.(type) {
	case *events.LogCreated:
		w.Identity = events.Identity{LogID: f.LogID, Epoch: f.Epoch}
	case *events.EpochChanged:
		w.Identity.Epoch, w.Lost = f.Epoch, events.Loss{}
		w.rewind(rec.Sequence)
	case *events.LossFound:
		w.Lost = f.Loss
	case *events.ControllerStarted:
		w.Settings, w.Program, w.Rules, w.Fold, w.Key = f.Settings, f.Version, f.RulesVersion, f.FoldVersion, f.Key
		w.Rival.restarted(rec.Time)
	case *events.ClockStepped:
		w.Rival.shift(f.Step)
	case *events.RivalFound:
		w.Rival = Rival{Found: true}
	case *events.RivalGone:
		w.Rival = Rival{}
	case *events.StoredState:
		if w.Identity == (events.Identity{}) { // a reader that begins with this file
			_ = w.restoreController(f.Encoded, rec.Sequence) // DecodeRecord has checked it
			w.previous = rec.Sequence
		}
		w.specs.filed(rec.Sequence)
	case *events.ControllerStopped:
		w.Listing = true // nothing is decided until another start has listed
	case *events.ListingStarted:
		w.Listing = true
		w.pending = union(w.pending, f.Resources)
	case *events.Synced:
		for i, r := range f.Resources {
			w.newest[r] = max(w.newest[r], f.Versions[i])
		}
		w.pending = slices.DeleteFunc(w.pending, func(r events.Resource) bool { return slices.Contains(f.Resources, r) })
		w.Listing = len(w.pending) > 0
	}
}

// broadcast folds a record of the controller's stream that concerns every Job. A start leaves nothing in flight, which may have
// been all that was left of a Job whose object is gone.
func (w *World) broadcast(rec *events.Record) {
	for _, j := range w.jobs {
		if rec.Sequence > w.floors[j.Stream] {
			j.Apply(rec)
			w.close(j)
		}
	}
}

// Learn keeps what a record of a Job's stream says to all: the specs to which other streams may refer, and how new the objects
// are that were seen. Apply does that too; alone it is for a reader that folds a part of the log, and meets a spec of before.
func (w *World) Learn(rec *events.Record) {
	switch f := rec.Facts.(type) {
	case *events.JobSpec:
		w.specs.store(f, rec.Sequence)
	case *events.JobTemplate:
		w.specs.templates[f.Hash] = rec.Sequence
	case *events.JobPolicies:
		w.specs.storePolicies(f, rec.Sequence)
	case *events.JobGone:
		w.newest[events.Jobs] = max(w.newest[events.Jobs], f.Version)
	case *events.JobSeen:
		w.newest[events.Jobs] = max(w.newest[events.Jobs], f.Version)
	case *events.PodSeen:
		w.newest[events.Pods] = max(w.newest[events.Pods], f.Version)
	case *events.PodGone:
		w.newest[events.Pods] = max(w.newest[events.Pods], f.Version)
	}
}

func (w *World) applyToJob(rec *events.Record) {
	j := w.jobs[rec.Stream]
	switch f := rec.Facts.(type) {
	case *events.StoredState:
		if j == nil { // a reader that begins with this file, or a stub; DecodeRecord has checked the state
			_ = w.RestoreStream(rec.Stream, f.Encoded, rec.Evidence.State)
		}
		return // the stream's head is the record that follows: a state is stored only before one
	case *events.JobGone:
		if j == nil {
			delete(w.stubs, types.UID(rec.Stream.ID))
			return
		}
	}
	if j == nil {
		if !opens(rec.Kind) {
			return // about a Job that is over
		}
		j = w.open(rec.Stream, rec.Sequence)
	}
	if f, ok := rec.Facts.(*events.JobSeen); ok {
		if spec := w.specs.use(f.Spec, j.Spec); spec != nil {
			j.rekey(j.Spec, spec)
			j.Spec, j.policies = spec, w.specs.byHash[f.Spec].policies
		}
	}
	j.Apply(rec)
	for _, a := range j.rivalry.acts {
		w.rivalActed(a)
	}
	j.rivalry.acts = nil
	w.close(j)
}

// opens reports whether a record of that kind can be a stream's first.
func opens(k events.Kind) bool {
	switch k {
	case events.KindTemplateStored, events.KindPoliciesStored, events.KindSpecStored, events.KindJobAdded, events.KindPodAdded:
		return true
	default:
		return false
	}
}

func (w *World) open(s events.Stream, at events.Sequence) *Job {
	delete(w.stubs, types.UID(s.ID)) // it has more to say than its stub
	j := newJob(s, &w.Settings, w.homes)
	j.first = at
	w.jobs[s] = j
	return j
}

// close drops what is no longer needed: a Job whose object and pods are gone, wholly; a retired one
// but for its stub.
func (w *World) close(j *Job) {
	if !j.Retired && !j.over() {
		return
	}
	for uid := range j.pods {
		delete(w.homes, uid)
	}
	if j.Spec != nil {
		w.specs.release(j.Spec.Hash)
	}
	delete(w.jobs, j.Stream)
	if j.Retired {
		w.stubs[j.Ref.UID] = j.stub()
	}
}

// over reports whether the Job's account is closed: its object is gone, or never was there, and nothing is left to do.
func (j *Job) over() bool {
	switch {
	case j.Gone:
		return j.Quiet()
	case !j.Known():
		return len(j.pods) == 0 && !j.Busy() && j.arrival > 0
	}
	return false
}

func (j *Job) stub() Stub {
	s := Stub{Ref: j.Ref, Version: j.Version, TTL: events.Unset, Head: j.Head}
	if j.Spec != nil && j.Spec.TTLSecondsAfterFinished != nil {
		s.TTL = *j.Spec.TTLSecondsAfterFinished
	}
	for _, kind := range []string{Complete, Failed} {
		if c := j.Base.Condition(kind); c != nil && c.Status == "True" {
			s.Finished = c.Since
		}
	}
	return s
}

func union(a, b []events.Resource) []events.Resource {
	out := slices.Clone(a)
	for _, r := range b {
		if !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}
