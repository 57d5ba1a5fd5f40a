package projector

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/budget"
	"github.com/jobledger/jobledger/internal/subject/cronjob"
	"github.com/jobledger/jobledger/internal/subject/specs"
	"github.com/jobledger/jobledger/internal/subject/surroundings"
)

// World is the state of one log: its subjects by stream, and the controller's own state. Its parts are values: each
// folds the records that concern it, and encodes itself.
type World struct {
	Head events.Sequence
	Now  events.Time
	life
	view
	Rival  Rival                     // another controller at work on the same Jobs
	Around surroundings.Surroundings // nodes and namespaces

	specs    specs.Specs
	zones    *cronjob.Zones              // rules of the time zones that CronJobs name
	watch    cronjob.Watch               // gaps in the watch of CronJobs
	budgets  budget.Buckets              // log written per namespace
	subjects map[events.Stream]Subject   // all but retired Jobs
	retired  map[types.UID]*Retired      // in a map of their own, because there may be many
	runs     map[types.UID]events.Stream // from the Jobs of CronJobs to the CronJob
	named    map[cronName]events.Stream  // from the names of CronJobs
	homes    map[types.UID]events.Stream // from a pod to the stream that it belongs to
	stated   statement                   // which streams have a checkpoint in the newest file

	floors map[events.Stream]events.Sequence // during a recovery: last record of each stream in the snapshot
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

// Len returns the number of subjects, without retired Jobs.
func (w *World) Len() int { return len(w.subjects) }

// Stubs returns the number of retired Jobs.
func (w *World) Stubs() int { return len(w.retired) }

// Newest returns the newest known resourceVersion of a resource; 0 for none. Answers to our own writes count, too.
// These are known only per object, so Newest scans all subjects, and for pods all pods.
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

// Previous returns the newest known record of a stream; 0 for none.
func (w *World) Previous(s events.Stream) events.Sequence {
	if s == events.Controller {
		return w.previous
	}
	if subject := w.Subject(s); subject != nil {
		return subject.Last()
	}
	return 0
}

// Apply folds rec. It cannot fail: records are validated when they are decoded.
func (w *World) Apply(rec *events.Record) {
	w.Head, w.Now = rec.Sequence, rec.Time
	switch {
	case rec.Stream == events.Controller:
		namespace := w.Settings.Namespace
		w.applyToController(rec) // also if the snapshot includes the record: folding it twice changes nothing
		if rec.Kind == events.KindControllerStarted || rec.Kind == events.KindClockStepped {
			w.broadcast(rec)
		}
		if rec.Sequence > w.floors[events.Controller] {
			w.watch.Apply(rec, namespace, w.Settings.CronJobs, w.Listing)
			w.budgets.ApplyToController(rec, w.Settings.NamespaceBudget)
		}
	default:
		s := w.subjects[rec.Stream]
		namespace := w.namespaceOf(rec, s) // while the subject exists: the record may end it
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

// broadcast folds a controller record that concerns every subject: a start, or a clock step. A start ends all commands
// in flight. If a Job whose object is gone was kept only for these, it is dropped. A retired Job takes part only if it
// had a record since its retirement.
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

// Learn folds what other streams need of a record: the specs that they may refer to, and the newest object versions.
// Apply calls it. A reader that folds only a part of the log calls Learn alone for the records before that part.
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

// learn updates the newest known version of a resource by the object that the facts observe.
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

// applyToSubject folds a record of a subject's stream. s is the stream's subject if it exists and is not retired, else
// nil. If s is nil, a record that can be the first of a stream begins a new subject. Any other record is about a Job
// that is over, and is ignored.
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
	if retired != nil && rec.Kind != events.KindPodAdded { // a pod starts the Job again, as a placeholder
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

// stored folds a StateStored record. If the stream is unknown, because the reader starts at this file, it restores the
// state. Check has validated the state.
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

// applyToJob folds a record of a Job's stream. It also updates what the World has of the Job: its spec, how its pods
// ended, and acts of another controller.
func (w *World) applyToJob(rec *events.Record, j *Job) {
	if f, ok := rec.Facts.(*events.JobSeen); ok {
		was := j.suspension()
		w.useSpec(j, f)
		fold(j, rec)
		j.Tries.suspend(j, was)
	} else {
		fold(j, rec)
		j.Tries.tell(j, rec)
	}
	for _, a := range j.rivalry.acts {
		w.rivalActed(a)
	}
	j.rivalry.acts = nil
}

// followRetired folds a record of a retired Job. The TTL comes from the observed spec.
func (w *World) followRetired(r *Retired, rec *events.Record) {
	if f, ok := rec.Facts.(*events.JobSeen); ok && f.Version >= r.Version {
		if spec := w.specs.Spec(f.Spec); spec != nil {
			r.TTL = ttlOf(spec)
		}
	}
	r.Apply(rec)
}

// fold calls s.Apply. It switches on the type: calling Apply through the interface would allocate the record on the
// heap.
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

// opens reports whether a record of that kind can be the first of a stream.
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

// open adds a subject for a stream that has its first record. A retired Job of the stream is dropped.
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

// hold adds a subject with pods, which j folds: j itself, or the Strays of a namespace.
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

// close drops a subject without work left. A Job that retires is replaced by its Retired.
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
