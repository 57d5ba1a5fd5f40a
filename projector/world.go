package projector

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/budget"
	"github.com/jobledger/jobledger/internal/subject/cronjob"
	"github.com/jobledger/jobledger/internal/subject/specs"
	"github.com/jobledger/jobledger/internal/subject/surroundings"
)

// World is the state of one log: the state of each Job, CronJob and namespace with orphan pods, and the controller's
// own state. Each part updates itself by the records that concern it, and encodes itself.
type World struct {
	Head events.Sequence
	Now  events.Time
	life
	view
	Rival  Rival                     // another controller at work on the same Jobs
	Around surroundings.Surroundings // nodes and namespaces

	specs    specs.Specs
	zones    *cronjob.Zones              // rules of the time zones that CronJobs name
	watch    cronjob.Watch               // times in which nobody watched CronJobs
	budgets  budget.Buckets              // bytes of log written per namespace
	subjects map[events.Stream]Subject   // all but retired Jobs
	retired  map[types.UID]*Retired      // finished Jobs without work left; apart, as there may be many
	runs     map[types.UID]events.Stream // from each Job of a CronJob to the stream of that CronJob
	named    map[cronName]events.Stream  // from the name of a CronJob to its stream
	homes    map[types.UID]events.Stream // from a pod to the stream that it belongs to
	stated   statement                   // which streams have their state stored in the newest file

	floors map[events.Stream]events.Sequence // in a recovery: last record of each stream in the snapshot
}

// NewWorld returns the state of an empty log.
func NewWorld() *World {
	return &World{
		life:     life{Settings: events.DefaultSettings()},
		view:     newView(),
		specs:    specs.New(),
		zones:    cronjob.NewZones(),
		Around:   surroundings.New(),
		budgets:  budget.New(),
		subjects: map[events.Stream]Subject{},
		retired:  map[types.UID]*Retired{},
		runs:     map[types.UID]events.Stream{},
		named:    map[cronName]events.Stream{},
		homes:    map[types.UID]events.Stream{},
		stated:   newStatement(),
	}
}

// Len returns the number of Jobs, CronJobs and namespaces with orphan pods, without Jobs that are retired (finished,
// without work left).
func (w *World) Len() int { return len(w.subjects) }

// Stubs returns the number of retired Jobs (finished, without work left).
func (w *World) Stubs() int { return len(w.retired) }

// Newest returns the newest known resourceVersion of a resource; 0 for none. It includes versions from answers to our
// own writes. These are kept only with each object, so Newest scans all Jobs, and for pods all pods.
func (w *World) Newest(r events.Resource) uint64 {
	newest := w.newest[r]
	for _, subject := range w.subjects {
		j := HolderOf(subject)
		if j == nil {
			if c, ok := subject.(*CronJob); ok && r == events.CronJobs {
				newest = max(newest, c.Seen.Version)
			}
			continue
		}
		switch r {
		case events.Jobs:
			newest = max(newest, j.Version)
		case events.Pods:
			for _, p := range j.byUID {
				newest = max(newest, p.Newest())
			}
		case events.CronJobs:
		}
	}
	return newest
}

// Previous returns the newest known record of a stream, which names a Job, CronJob, namespace or the controller; 0 for
// none.
func (w *World) Previous(s events.Stream) events.Sequence {
	if s == events.Controller {
		return w.previous
	}
	if subject := w.Subject(s); subject != nil {
		return subject.Last()
	}
	return 0
}

// Apply updates the world by one record of the log. It cannot fail: records are validated when they are decoded.
func (w *World) Apply(rec *events.Record) {
	w.Head, w.Now = rec.Sequence, rec.Time
	switch {
	case rec.Stream == events.Controller:
		namespace := w.Settings.Namespace
		w.applyToController(rec) // also if the snapshot includes the record: to apply it twice changes nothing
		if rec.Kind == events.KindControllerStarted || rec.Kind == events.KindClockStepped {
			w.broadcast(rec)
		}
		if rec.Sequence > w.floors[events.Controller] {
			w.watch.Apply(rec, namespace, w.Settings.CronJobs, w.Listing)
			w.budgets.ApplyToController(rec, w.Settings.NamespaceBudget)
		}
	default:
		s := w.subjects[rec.Stream]
		namespace := w.namespaceOf(rec, s) // asked before the record is applied, which may end the subject
		w.Learn(rec)
		if rec.Sequence > w.floors[rec.Stream] {
			w.applyToSubject(rec, s)
		}
		if rec.Sequence > w.floors[events.Controller] {
			w.budgets.Apply(rec, namespace, w.Settings.NamespaceBudget)
		}
	}
}

func (w *World) applyToController(rec *events.Record) {
	w.life.apply(rec)
	w.view.apply(rec, w.Settings.CronJobs)
	w.Rival.apply(rec, w.stated.passed)
	w.Around.Apply(rec)
	switch f := rec.Facts.(type) {
	case *events.EpochChanged:
		w.rewind(rec.Sequence)
	case *events.StoredState:
		w.beginFile(rec, f)
	case *events.FileRestated:
		w.stated.restated, w.stated.passed = f.File, false
	}
}

// broadcast applies a controller record that concerns every Job and CronJob: a start of the process, or a clock step. A
// start ends all commands in flight. A Job whose object is gone, and that was kept only for those commands, is dropped.
// A Job that is retired (finished, without work left) takes part only if it had a record since.
func (w *World) broadcast(rec *events.Record) {
	for stream, s := range w.subjects {
		if rec.Sequence > w.floors[stream] {
			fold(s, rec)
			w.close(s)
		}
	}
	for uid, r := range w.retired {
		if r.followUp != nil && rec.Sequence > w.floors[events.JobStream(uid)] {
			r.Apply(rec)
		}
	}
}

// Learn takes from a record what is needed also for other Jobs: the specs that they may refer to, and the newest object
// versions. Apply calls it. A reader of only a part of the log calls Learn alone for the records before that part.
func (w *World) Learn(rec *events.Record) {
	switch f := rec.Facts.(type) {
	case *events.JobSpec:
		w.specs.Store(f, rec.Sequence)
	case *events.JobTemplate:
		w.specs.StoreTemplate(f.Hash, rec.Sequence)
	case *events.JobPolicies:
		w.specs.StorePolicies(f, rec.Sequence)
	case *events.ZoneRules:
		w.zones.Store(f, rec.Sequence)
	default:
		w.view.learn(f)
	}
}

// learn updates the newest known version of a resource by the version of the object that the facts show.
func (v *view) learn(facts events.Facts) {
	switch f := facts.(type) {
	case *events.JobGone:
		v.see(events.Jobs, f.Version)
	case *events.JobSeen:
		v.see(events.Jobs, f.Version)
	case *events.CronJobSeen:
		v.see(events.CronJobs, f.Version)
	case *events.CronJobGone:
		v.see(events.CronJobs, f.Version)
	case *events.PodSeen:
		v.see(events.Pods, f.Version)
	case *events.PodGone:
		v.see(events.Pods, f.Version)
	}
}

// applyToSubject applies a record of a Job, CronJob or namespace. s is its state; nil if there is none or the Job is
// retired (finished, without work left). If s is nil, only some kinds of records begin a new state; any other record is
// about a Job that is over, and is ignored.
func (w *World) applyToSubject(rec *events.Record, s Subject) {
	var retired *Retired
	if s == nil {
		retired = w.Retired(rec.Stream)
	}
	switch f := rec.Facts.(type) {
	case *events.StoredState:
		w.stored(rec, f, s == nil && retired == nil)
		return
	case *events.JobGone:
		if retired != nil {
			w.dropRetired(retired)
			return
		}
	case *events.RunSeen:
		w.runs[f.Job] = rec.Stream
	case *events.RunGone:
		if w.runs[f.Job] == rec.Stream {
			delete(w.runs, f.Job)
		}
	}
	if w.stated.parts[rec.Stream] != nil {
		w.stated.passed = true
		return
	}
	// If the Job is retired, a record only updates the few fields that are kept of it. But a new pod makes it a Job
	// again, as a placeholder
	if retired != nil && rec.Kind != events.KindPodAdded {
		w.followRetired(retired, rec)
		return
	}
	if s == nil && !opens(rec.Kind) {
		return
	}
	if s == nil {
		s = w.open(rec.Stream, rec.Sequence)
	}
	switch s := s.(type) {
	case *Job:
		w.applyToJob(rec, s)
	case *CronJob:
		fold(s, rec)
		w.followRuns(s, rec)
	default:
		fold(s, rec)
	}
	w.close(s)
}

// stored handles a StateStored record, which has the encoded state of a Job, CronJob or namespace, or a part of it.
// isNew says that no state is known, because the reader starts at this file: the stored state is then restored. Check
// has validated it.
func (w *World) stored(rec *events.Record, f *events.StoredState, isNew bool) {
	if isNew {
		facts, names, whole := w.stated.parts.Add(rec, f)
		if !whole {
			return
		}
		_ = w.RestoreStream(rec.Stream, facts, names)
	}
	w.stateAgain(rec, f)
}

// applyToJob applies a record to Job j. It also updates what the World has of the Job: its spec, how its pods ended,
// and acts of another controller.
func (w *World) applyToJob(rec *events.Record, j *Job) {
	if f, ok := rec.Facts.(*events.JobSeen); ok {
		was := j.standing()
		w.useSpec(j, f)
		fold(j, rec)
		j.Tries.observed(j, was)
	} else {
		fold(j, rec)
		j.Tries.tell(j, rec)
	}
	for _, a := range j.rivalry.acts {
		w.rivalActed(a)
	}
	j.rivalry.acts = nil
}

// followRetired applies a record to a retired Job (finished, without work left). If the record shows the Job's object,
// the TTL comes from its spec.
func (w *World) followRetired(r *Retired, rec *events.Record) {
	if f, ok := rec.Facts.(*events.JobSeen); ok && f.Version >= r.Version {
		if spec := w.specs.Spec(f.Spec); spec != nil {
			r.TTL = ttlOf(spec)
		}
	}
	r.Apply(rec)
}

// fold calls s.Apply through the concrete type: a call through the interface would allocate the record on the heap.
func fold(s Subject, rec *events.Record) {
	switch s := s.(type) {
	case *Job:
		s.Apply(rec)
	case *Strays:
		s.Apply(rec)
	case *Retired:
		s.Apply(rec)
	case *CronJob:
		s.Apply(rec)
	}
}

// useSpec sets the Job's spec to the one that the observation names.
func (w *World) useSpec(j *Job, f *events.JobSeen) {
	if spec := w.specs.Use(f.Spec, j.Spec); spec != nil {
		j.rekey(j.Spec, spec)
		j.useSpec(spec, w.specs.Policies(f.Spec))
	}
}

// opens reports whether a record of that kind can be the first record about a Job, CronJob or namespace.
func opens(k events.Kind) bool {
	switch k {
	case events.KindTemplateStored, events.KindPoliciesStored, events.KindSpecStored, events.KindJobAdded, events.KindPodAdded:
		return true
	case events.KindZoneStored, events.KindCronJobAdded, events.KindRunSeen:
		return true
	default:
		return false
	}
}

// open adds an empty state for a Job, CronJob or namespace whose first record, at, is being applied. If the stream is
// that of a retired Job (finished, without work left), that one is dropped.
func (w *World) open(stream events.Stream, at events.Sequence) Subject {
	if r := w.Retired(stream); r != nil {
		w.dropRetired(r)
	}
	if stream.Kind == events.StreamCronJob {
		c := newCronJob(stream, w)
		c.First = at
		return w.holdCron(c)
	}
	j := newJob(stream, w)
	j.first = at
	return w.hold(j)
}

// hold adds the Job j to the World. If j stands for a namespace, it adds a Strays (orphan pods) that keeps its pods in
// j.
func (w *World) hold(j *Job) Subject {
	s := Subject(j)
	if j.Stream.Kind == events.StreamNamespace {
		s = newStrays(j)
	}
	if known := w.subjects[j.Stream]; known != nil {
		w.stated.jobs.Remove(HolderOf(known))
	}
	w.subjects[j.Stream] = s
	w.stated.jobs.ToEnd(j)
	return s
}

// close drops a Job, CronJob or Strays that has no work left. A Job that retires is replaced by its Retired.
func (w *World) close(s Subject) {
	j := HolderOf(s)
	retires := j != nil && j.Retired
	if !retires && (!s.over() || j != nil && j.division.open) {
		return
	}
	delete(w.subjects, s.ID())
	if c, ok := s.(*CronJob); ok {
		w.dropCron(c)
	}
	if j == nil {
		return
	}
	w.stated.jobs.Remove(j)
	for uid := range j.byUID {
		delete(w.homes, uid)
	}
	if j.Spec != nil {
		w.specs.Release(j.Spec.Hash)
	}
	if retires {
		w.keepRetired(j.retire())
	}
}

// over reports whether the Job can be forgotten: its object is gone or never existed, and no work is left. Garbage
// collection deletes the pods of a deleted Job, so the Job is kept until they have ended.
func (j *Job) over() bool {
	switch j.Phase() {
	case PhaseGone:
		return j.Quiet() && j.tally.Active+j.tally.Terminating == 0
	case PhaseUnknown:
		return len(j.byUID) == 0 && !j.Busy() && j.arrival > 0
	default:
		return false
	}
}
