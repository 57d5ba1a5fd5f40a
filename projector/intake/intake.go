package intake

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// Intake turns observations into drafts: records to append. It chooses the stream of each (the part of the log for one
// Job, CronJob or namespace; design §7), drops what the log already has, and finds objects that were deleted while no
// controller watched. Its own memory covers only an open listing; everything else is in World.
type Intake struct {
	World *projector.World
	// FileStart is the first sequence of the log's newest file, at least 1. If only an older file stores a spec, the
	// spec is stored again.
	FileStart events.Sequence

	listing  map[events.Resource]map[types.UID]bool // UIDs seen in the open listing of each resource
	starting bool                                   // no controller watched just before the open listings
}

// Admit returns the records to append for an observation, in order; none if it shows nothing new. next is the sequence
// that the first of them will have. All earlier records must have been applied to the world.
func (in *Intake) Admit(o *events.Observation, next events.Sequence) []projector.Draft {
	switch f := o.Facts.(type) {
	case *events.EpochChanged:
		return in.rewound(f)
	case *events.ListingStarted:
		return in.listingStarted(f)
	case *events.Synced:
		return in.synced(f)
	case *events.JobSeen:
		return in.jobSeen(o, f, next)
	case *events.JobGone:
		return in.jobGone(o, f)
	case *events.CronJobSeen:
		return in.cronJobSeen(o, f)
	case *events.CronJobGone:
		return in.cronJobGone(o, f)
	case *events.RunSeen, *events.RunGone:
		return in.runAlone(o)
	case *events.GroupSeen:
		return []projector.Draft{{Stream: events.JobStream(o.Job.UID), Kind: events.KindGroupSeen, Facts: f, Evidence: o.Evidence}}
	case *events.PodSeen:
		return in.podSeen(o, f, false)
	case *events.PodGone:
		return in.podGone(o, f)
	}
	return in.surrounding(o)
}

func (in *Intake) listingStarted(f *events.ListingStarted) []projector.Draft {
	if in.listing == nil { // the first listing of this process, or the first after a rewind
		in.listing = map[events.Resource]map[types.UID]bool{}
	}
	filled := &events.ListingStarted{Reason: f.Reason, Resources: f.Resources, LastSeen: f.LastSeen, Orderly: f.Orderly}
	if f.LastSeen == 0 && f.Reason != events.ListingStart {
		filled.LastSeen = in.World.Now
	}
	in.starting = in.starting || f.Reason == events.ListingStart
	for _, r := range f.Resources {
		in.listing[r] = map[types.UID]bool{}
		filled.LastVersions = append(filled.LastVersions, in.World.Newest(r))
	}
	return []projector.Draft{{Stream: events.Controller, Kind: events.KindListingStarted, Facts: filled}}
}

// synced returns the records for the end of a resource's listing. An object that the world knows and the list did not
// show is deleted, unless the list is older than the known version (design §5).
func (in *Intake) synced(f *events.Synced) []projector.Draft {
	var drafts []projector.Draft
	for i, r := range f.Resources {
		seen, open := in.listing[r]
		if !open {
			continue
		}
		switch r {
		case events.Jobs:
			drafts = append(drafts, in.missingJobs(seen, f.Versions[i])...)
			drafts = append(drafts, in.missingRuns(seen, f.Versions[i])...)
		case events.Pods:
			drafts = append(drafts, in.missingPods(seen, f.Versions[i])...)
		case events.CronJobs:
			drafts = append(drafts, in.missingCronJobs(seen, f.Versions[i])...)
			in.starting = false
		}
		delete(in.listing, r)
	}
	return append(drafts, projector.Draft{Stream: events.Controller, Kind: events.KindSynced, Facts: f})
}

func (in *Intake) missingJobs(seen map[types.UID]bool, version uint64) []projector.Draft {
	var drafts []projector.Draft
	for _, j := range in.World.Jobs() {
		if j.Known() && !j.Gone && !seen[j.Ref.UID] && j.Version <= version && in.covers(j) {
			drafts = append(drafts, missedJob(j.Ref, version))
		}
	}
	var retired []*projector.Retired
	for r := range in.World.RetiredJobs() {
		if !seen[r.Ref.UID] && r.Version <= version {
			retired = append(retired, r)
		}
	}
	slices.SortFunc(retired, func(a, b *projector.Retired) int { return cmp.Compare(a.Head, b.Head) })
	for _, r := range retired {
		drafts = append(drafts, missedJob(r.Ref, version))
	}
	return drafts
}

func missedJob(ref events.JobRef, version uint64) projector.Draft {
	return projector.Draft{
		Stream: events.JobStream(ref.UID), Kind: events.KindJobDeleted,
		Facts:    &events.JobGone{Version: version, Missed: true},
		Evidence: events.Evidence{Namespace: ref.Namespace, Name: ref.Name},
	}
}

// covers reports whether a listing would show the Job: it is in the watched namespace, and this mode records it.
func (in *Intake) covers(j *projector.Job) bool {
	s := &in.World.Settings
	return (s.Namespace == "" || s.Namespace == j.Ref.Namespace) && s.Records(j.ManagedBy)
}

func (in *Intake) missingPods(seen map[types.UID]bool, version uint64) []projector.Draft {
	var drafts []projector.Draft
	for _, j := range in.World.Holders() {
		if ns := in.World.Settings.Namespace; ns != "" && ns != j.Ref.Namespace {
			continue
		}
		for _, p := range j.Pods() {
			if seen[p.UID] || p.Version > version {
				continue
			}
			drafts = append(drafts, projector.Draft{
				Stream: j.Stream, Kind: events.KindPodDeleted,
				Facts:    &events.PodGone{UID: p.UID, Version: version, Missed: true},
				Evidence: events.Evidence{Namespace: j.Ref.Namespace, Name: p.Name},
			})
		}
	}
	return drafts
}

func (in *Intake) mark(r events.Resource, uid types.UID) {
	if seen, open := in.listing[r]; open {
		seen[uid] = true
	}
}

func (in *Intake) jobSeen(o *events.Observation, f *events.JobSeen, next events.Sequence) []projector.Draft {
	in.mark(events.Jobs, o.Job.UID)
	stream := events.JobStream(o.Job.UID)
	j := in.World.Job(stream)
	seen := *f
	kind := events.KindJobAdded
	retired := in.World.Retired(stream)
	switch {
	case retired != nil:
		kind = events.KindJobChanged
		if !retired.News(o, f) {
			return nil
		}
	case j != nil && j.Known():
		kind = events.KindJobChanged
		if f.Version < j.Version || !in.news(j, &seen) {
			return nil
		}
	}
	var drafts []projector.Draft
	seen.SpecAt = in.World.SpecAt(seen.Spec) // 0 for an unknown spec: it is stored again below
	if seen.SpecAt < in.FileStart {
		drafts = in.specDrafts(stream, o, next)
		seen.SpecAt = next + events.Sequence(len(drafts)-1)
	}
	evidence := o.Evidence
	evidence.Edit = editOf(j, o)
	if kind != events.KindJobAdded {
		evidence.Origin = nil
	}
	return append(drafts, projector.Draft{Stream: stream, Kind: kind, Facts: &seen, Evidence: evidence})
}

// specDrafts returns drafts that store a Job's spec in the newest file. Before the spec come its large parts (template,
// policies) that the file does not have. The last draft is the spec; its causes are the records of the parts. next is
// the sequence of the first draft. The text of a template is not needed for decisions, so the caller may drop it; hash
// and size stay.
func (in *Intake) specDrafts(stream events.Stream, o *events.Observation, next events.Sequence) []projector.Draft {
	var drafts []projector.Draft
	var parts []events.Sequence
	part := func(at events.Sequence, kind events.Kind, facts events.Facts, evidence events.Evidence) {
		if at < in.FileStart {
			at = next + events.Sequence(len(drafts))
			drafts = append(drafts, projector.Draft{Stream: stream, Kind: kind, Facts: facts, Evidence: evidence})
		}
		parts = append(parts, at)
	}
	spec := o.Spec
	if spec.Redacted != "" {
		part(in.World.TemplateAt(spec.Redacted), events.KindTemplateStored,
			&events.JobTemplate{Hash: spec.Redacted, Size: uint64(o.TemplateSize)}, events.Evidence{Template: o.Template})
	}
	if spec.Policies != "" {
		part(in.World.PoliciesAt(spec.Policies), events.KindPoliciesStored, &events.JobPolicies{
			Hash: spec.Policies, Selector: spec.Selector, PodFailurePolicy: spec.PodFailurePolicy, SuccessPolicy: spec.SuccessPolicy,
		}, events.Evidence{})
	}
	slices.Sort(parts)
	return append(drafts, projector.Draft{Stream: stream, Kind: events.KindSpecStored, Facts: spec.Apart(), Causes: parts})
}

// news reports whether the Job's object shows something new. It sets seen.Status to nil if the status is known already,
// or is the one that the status write seen.Confirms has written.
func (in *Intake) news(j *projector.Job, seen *events.JobSeen) bool {
	same := j.Spec != nil && seen.Spec == j.Spec.Hash && seen.Deleted == j.Deleted && seen.Managed == j.Managed &&
		seen.ManagedBy == j.ManagedBy && !j.Gone && (seen.Parent == j.Parent || seen.Parent == events.ParentUnknown)
	switch {
	case j.Base.Equal(seen.Status):
		seen.Status = nil
		return !same || (j.Recheck && seen.Version > j.Version) || j.Look || seen.BuiltinWrote != j.BuiltinWrote()
	case j.Write() != nil:
		written := j.Base.With(&j.Write().Command.(*events.WriteStatus).Change)
		if written.Equal(seen.Status) {
			seen.Status, seen.Confirms = nil, j.Write().Name()
		}
	}
	return true
}

func (in *Intake) jobGone(o *events.Observation, f *events.JobGone) []projector.Draft {
	stream := events.JobStream(o.Job.UID)
	j := in.World.Job(stream)
	if (j == nil && in.World.Retired(stream) == nil) || (j != nil && (j.Gone || !j.Known())) {
		return nil
	}
	return []projector.Draft{{Stream: stream, Kind: events.KindJobDeleted, Facts: f, Evidence: o.Evidence}}
}

func (in *Intake) podSeen(o *events.Observation, f *events.PodSeen, words bool) []projector.Draft {
	in.mark(events.Pods, f.UID)
	f, stream, ours := in.route(o, f)
	var drafts []projector.Draft
	home, p := in.World.WhereIs(f.UID)
	moved := p != nil && (!ours || home.ID() != stream)
	if moved {
		if f.Version < p.Version {
			// The observation is older than the record that moved the pod to its present stream
			return nil
		}
		drafts = append(drafts, projector.Draft{
			Stream: home.ID(), Kind: events.KindPodDeleted,
			Facts: &events.PodGone{UID: f.UID, Version: f.Version, Moved: true}, Evidence: o.Evidence,
		})
	}
	if !ours {
		return drafts
	}
	if moved || p == nil {
		home, p = in.World.Subject(stream), nil
		if home != nil {
			p = projector.PodOf(home, f.UID)
		}
	}
	kind, evidence := events.KindPodAdded, o.Evidence
	if p != nil {
		known := p.Seen && !p.Gone // a pod that moved to another stream (Gone) may return unchanged
		if f.Version < p.Version || (known && samePod(home, p, f) && !told(p, f) && !(words && otherWords(p, f))) {
			return drafts
		}
		if known {
			kind = events.KindPodChanged
			evidence = newsOf(p, evidence)
		}
	}
	j, _ := home.(*projector.Job)
	if j == nil || !j.Known() {
		evidence.Owner = o.Job.Name
	}
	var causes []events.Sequence
	if j != nil {
		if c := j.Create(f.Ordinal); c != nil && c.Flight() != nil {
			causes = append(causes, c.Flight().Name().Decided)
		}
	}
	return append(drafts, projector.Draft{Stream: stream, Kind: kind, Facts: f, Evidence: evidence, Causes: causes})
}

// route returns whose records are to show the pod (stream: a Job or a namespace), and the facts to record there. ours
// is false for a pod that is not recorded: it has no owner that we manage, and no finalizer of ours (design §7). On a
// pod of a Job that another controller runs, that controller's finalizer does not count.
func (in *Intake) route(o *events.Observation, f *events.PodSeen) (facts *events.PodSeen, stream events.Stream, ours bool) {
	switch {
	case f.Foreign:
		return f, events.Stream{}, false
	case f.Owner == "":
		return in.routeOrphan(o.Evidence.Namespace, f)
	}
	stream = events.JobStream(f.Owner)
	return f, stream, f.Tracked && !o.Others || in.World.Job(stream) != nil
}

// told reports whether an observation is recorded although only its version is new. Adopt and release commands carry
// the version of the pod, so the newest version of pods without an owner, and of pods to release, must be recorded.
// Another case is the first observation after the pod's Job is known: it shows whether the selector matches.
func told(p *projector.Pod, f *events.PodSeen) bool {
	return p.SelectorUnknown || (f.Version > p.Version && (f.Owner == "" || !f.Selected))
}

// newsOf returns e without the namespace, and without the node if the pod's records have it already.
func newsOf(p *projector.Pod, e events.Evidence) events.Evidence {
	e.Namespace = ""
	if e.Node == p.Node {
		e.Node = ""
	}
	return e
}

func (in *Intake) podGone(o *events.Observation, f *events.PodGone) []projector.Draft {
	home, p := in.World.WhereIs(f.UID)
	if p == nil {
		return nil
	}
	evidence := o.Evidence
	// If the informer only found the pod missing in a list, it does not know the pod's name
	if evidence.Name == "" {
		evidence.Name = p.Name
	}
	return []projector.Draft{{Stream: home.ID(), Kind: events.KindPodDeleted, Facts: f, Evidence: evidence}}
}

func otherWords(p *projector.Pod, seen *events.PodSeen) bool {
	return p.Waiting != seen.Waiting || p.Sandbox != seen.Sandbox || !slices.Equal(p.Conditions, seen.Conditions)
}

// rewound returns the record that begins a new epoch: a new life of the log after the cluster went back in time. The
// listing after it is not compared with what was known.
func (in *Intake) rewound(f *events.EpochChanged) []projector.Draft {
	in.listing = nil
	begins := *f
	begins.Epoch = in.World.Identity.Epoch + 1
	return []projector.Draft{{Stream: events.Controller, Kind: events.KindEpochChanged, Facts: &begins}}
}

// surrounding returns the record for an observation of a node or namespace; nil if it shows nothing new.
func (in *Intake) surrounding(o *events.Observation) []projector.Draft {
	kind, news := in.World.Around.News(o.Facts)
	if !news {
		return nil
	}
	return []projector.Draft{{Stream: events.Controller, Kind: kind, Facts: o.Facts, Evidence: o.Evidence}}
}
