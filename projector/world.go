package projector

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// World is everything that one log says: its subjects by their streams, and what the controller went through.
type World struct {
	Identity events.Identity
	Head     events.Sequence
	Now      events.Time

	Term     uint64 // of the process that works, or worked last; 0 before terms were recorded
	Settings events.Settings
	Program  string      // version of the program that works, or worked last
	Rules    uint32      // its rules version
	Fold     uint32      // its fold version
	Key      string      // ID of the key with which it hashes specs and templates
	Listing  bool        // the view of the cluster is being built again: nothing is decided
	Rival    Rival       // another controller at work on the same Jobs
	Lost     events.Loss // records that the log is known to have lost; zero when there are none. Nothing is decided then
	// Rewound is the newest record by which all was forgotten that was learnt of the cluster before; 0 when a snapshot is younger.
	Rewound events.Sequence

	restated events.Sequence            // the first record of the newest file that is known to stand alone; see Restated
	previous events.Sequence            // the controller stream's newest record
	pending  []events.Resource          // resources that the open listing still waits for
	newest   map[events.Resource]uint64 // newest resourceVersion known of each resource
	specs    specs
	subjects map[events.Stream]Subject         // all but retired Jobs
	retired  map[types.UID]*Retired            // apart, because they may be many
	stating  line[Job]                         // holders of the subjects, for the next file
	stubs    line[Retired]                     // likewise
	crons    line[CronJob]                     // likewise
	zones    *zones                            // that CronJobs name
	watch    watch                             // when CronJobs were not watched
	runs     map[types.UID]events.Stream       // of each Job that a CronJob has: the CronJob's
	homes    map[types.UID]events.Stream       // of each pod
	floors   map[events.Stream]events.Sequence // while recovering: through which record a snapshot has each stream
	parts    Parts                             // of streams of which no more is known; see Collecting
	passed   bool                              // records of such a stream were passed over since the newest file began

	around     surroundings // nodes and namespaces
	shares     shares       // of namespaces in the log
	sharesKept int          // how many there may be before those that are empty are forgotten
}

// NewWorld is what an empty log says.
func NewWorld() *World {
	return &World{
		Settings: events.DefaultSettings(),
		newest:   map[events.Resource]uint64{},
		specs:    newSpecs(),
		subjects: map[events.Stream]Subject{},
		retired:  map[types.UID]*Retired{},
		homes:    map[types.UID]events.Stream{},
		around:   newSurroundings(),
		shares:   shares{},
		parts:    Parts{},
		stating:  newLine(func(j *Job) *links[Job] { return &j.stating }),
		stubs:    newLine(func(r *Retired) *links[Retired] { return &r.place }),
		crons:    newLine(func(c *CronJob) *links[CronJob] { return &c.stating }),
		zones:    newZones(),
		runs:     map[types.UID]events.Stream{},
	}
}

// Len is the number of subjects that are no retired Jobs.
func (w *World) Len() int { return len(w.subjects) }

// Stubs is the number of retired Jobs.
func (w *World) Stubs() int { return len(w.retired) }

// Newest is the newest resourceVersion known of a resource; 0 for none. It costs what there are Jobs, or pods: the answers
// to our own writes count, which are known of each object alone.
func (w *World) Newest(r events.Resource) uint64 {
	newest := w.newest[r]
	for _, subject := range w.subjects {
		j := subject.holder()
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

// Previous is the newest record of a stream that this world holds; 0 when it holds none.
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
		w.applyToController(rec) // also one that a snapshot has: it says the same again
		if rec.Kind == events.KindControllerStarted || rec.Kind == events.KindClockStepped {
			w.broadcast(rec)
		}
		if rec.Sequence > w.floors[events.Controller] {
			w.watch.apply(w, rec, namespace)
			w.chargeController(rec)
		}
	default:
		s := w.subjects[rec.Stream]
		namespace := w.namespaceOf(rec, s) // before the record ends what is known of the stream
		w.Learn(rec)
		if rec.Sequence > w.floors[rec.Stream] {
			w.applyToSubject(rec, s)
		}
		if rec.Sequence > w.floors[events.Controller] {
			w.charge(rec, namespace)
		}
	}
}

func (w *World) applyToController(rec *events.Record) {
	w.previous = rec.Sequence
	w.around.apply(rec)
	switch f := rec.Facts.(type) {
	case *events.LogCreated:
		w.Identity = events.Identity{LogID: f.LogID, Epoch: f.Epoch}
	case *events.EpochChanged:
		w.Identity.Epoch, w.Lost = f.Epoch, events.Loss{}
		if f.Reason == events.EpochRestored { // terms of before may be lost
			w.Term = 0
		}
		w.rewind(rec.Sequence)
	case *events.TermStarted:
		w.Term = f.Term
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
		used := func(z events.ZoneName) bool { return true } // what the file has of zones is all that CronJobs name
		if w.Identity == (events.Identity{}) {               // a reader that begins with this file
			_ = w.restoreController(f.Encoded, rec.Sequence) // DecodeRecord has checked it
			w.previous, w.Now = rec.Sequence, rec.Time
		} else {
			used = w.zonesInUse()
		}
		w.specs.filed(rec.Sequence)
		w.zones.filed(rec.Sequence, used)
		w.unpart()
	case *events.FileRestated:
		w.restated = f.File
		if w.passed { // what they said of another controller
			w.Rival.acts, w.Rival.Quiet, w.passed = f.RivalActs, f.RivalQuiet, false
		}
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

// broadcast folds a record of the controller's stream that concerns every subject. A start leaves nothing in flight, which may have
// been all that was left of a Job whose object is gone. It concerns a retired Job only if another record of it came since it retired.
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
	case *events.CronJobSeen:
		w.newest[events.CronJobs] = max(w.newest[events.CronJobs], f.Version)
	case *events.CronJobGone:
		w.newest[events.CronJobs] = max(w.newest[events.CronJobs], f.Version)
	case *events.ZoneRules:
		w.zones.store(f, rec.Sequence)
	case *events.PodSeen:
		w.newest[events.Pods] = max(w.newest[events.Pods], f.Version)
	case *events.PodGone:
		w.newest[events.Pods] = max(w.newest[events.Pods], f.Version)
	}
}

// applyToSubject folds a record of a subject's stream into what the world holds of it. What it holds nothing of is opened by what can
// be a stream's first record; any other one is about a Job that is over. s is what is held and not retired; nil for nothing.
func (w *World) applyToSubject(rec *events.Record, s Subject) {
	var retired *Retired
	if s == nil {
		retired = w.Retired(rec.Stream)
	}
	switch f := rec.Facts.(type) {
	case *events.StoredState:
		if s == nil && retired == nil { // a reader that begins with this file; Check has checked the state
			facts, names, whole := w.parts.Add(rec, f)
			if !whole {
				return
			}
			_ = w.RestoreStream(rec.Stream, facts, names)
		}
		w.stated(rec, f)
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
	if w.parts[rec.Stream] != nil {
		w.passed = true
		return
	}
	if retired != nil && rec.Kind != events.KindPodAdded { // a pod makes it one that is to be seen again
		w.followRetired(retired, rec)
		return
	}
	if s == nil && !opens(rec.Kind) {
		return
	}
	if s == nil {
		s = w.open(rec.Stream, rec.Sequence)
	}
	j, _ := s.(*Job)
	if f, ok := rec.Facts.(*events.JobSeen); ok && j != nil {
		was := j.suspension()
		w.useSpec(j, f)
		fold(s, rec)
		j.Tries.suspend(j, was)
	} else {
		fold(s, rec)
		if j != nil {
			j.Tries.tell(j, rec)
		}
	}
	if j != nil {
		for _, a := range j.rivalry.acts {
			w.rivalActed(a)
		}
		j.rivalry.acts = nil
	}
	if c, ok := s.(*CronJob); ok {
		w.followRuns(c, rec)
	}
	w.close(s)
}

// followRetired folds a record of a retired Job. Of the spec that was seen it takes the TTL.
func (w *World) followRetired(r *Retired, rec *events.Record) {
	if f, ok := rec.Facts.(*events.JobSeen); ok && f.Version >= r.Version {
		if spec := w.specs.byHash[f.Spec].spec; spec != nil {
			r.TTL = ttlOf(spec)
		}
	}
	r.Apply(rec)
}

// fold is s.Apply. It names the types, because a record that is handed to an interface is allocated on the heap.
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

// useSpec gives a Job the spec that was seen.
func (w *World) useSpec(j *Job, f *events.JobSeen) {
	if spec := w.specs.use(f.Spec, j.Spec); spec != nil {
		j.rekey(j.Spec, spec)
		j.useSpec(spec, w.specs.byHash[f.Spec].policies)
	}
}

// opens reports whether a record of that kind can be a stream's first.
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

// open begins to hold a stream. A retired Job has more to say then.
func (w *World) open(stream events.Stream, at events.Sequence) Subject {
	if r := w.Retired(stream); r != nil {
		w.dropRetired(r)
	}
	if stream.Kind == events.StreamCronJob {
		c := newCronJob(stream, w)
		c.first = at
		return w.holdCron(c)
	}
	j := newJob(stream, w)
	j.first = at
	return w.hold(j)
}

// hold takes a subject over, by the kind of its stream.
func (w *World) hold(j *Job) Subject {
	s := Subject(j)
	if j.Stream.Kind == events.StreamNamespace {
		s = newStrays(j)
	}
	if known := w.subjects[j.Stream]; known != nil {
		w.stating.remove(known.holder())
	}
	w.subjects[j.Stream] = s
	w.stating.toEnd(j)
	return s
}

// close drops what is no longer needed: a subject of which nothing is left, wholly; of a Job that retires a Retired is kept.
func (w *World) close(s Subject) {
	j := s.holder()
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
	w.stating.remove(j)
	for uid := range j.byUID {
		delete(w.homes, uid)
	}
	if j.Spec != nil {
		w.specs.release(j.Spec.Hash)
	}
	if retires {
		w.keepRetired(j.retire())
	}
}

// over reports whether the Job's account is closed: its object is gone, or never was there, and nothing is left to do. Garbage collection
// takes the pods of a Job that is gone, so it is followed until they have ended.
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

func union(a, b []events.Resource) []events.Resource {
	out := slices.Clone(a)
	for _, r := range b {
		if !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}
