package projector

import (
	"cmp"
	"errors"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

func (j *Job) toWire() (*pb.JobState, *pb.StateNames) {
	s, names := j.restToWire()
	for _, p := range j.Pods() {
		state, name := p.toWire(names)
		s.Pods, names.Pods = append(s.Pods, state), append(names.Pods, name)
	}
	return s, names
}

// toWire encodes the pod. Its commands contain no texts, so it adds none to names.
func (p *Pod) toWire(names *pb.StateNames) (*pb.PodState, *pb.PodNames) {
	return &pb.PodState{
		Facts: events.PodToWire(&p.PodSeen), Seen: p.Seen, DeleteDone: p.DeleteDone, Surplus: p.Surplus,
		Drop: commands.FlightToWire(p.Drop(), names), Delete: commands.FlightToWire(p.Delete(), names),
		DroppedIn: p.DroppedIn, Vanished: p.Vanished, Gone: p.Gone, Written: p.written, NeverCounted: p.NeverCounted, Ended: int64(p.ended),
		DropDoubt: int64(p.DropDoubt), LateCreate: int64(p.LateCreate),
		Claim: commands.FlightToWire(p.Claim(), names), Counted: p.Counted, SelectorUnknown: p.SelectorUnknown, Stale: p.Stale, FailedBeforeDeletion: p.FailedBeforeDeletion,
		StoppingSince: int64(p.StoppingSince),
		Arrived:       p.arrived, Noted: p.noted, Stage: uint32(p.stage), Entered: p.entered,
	}, &pb.PodNames{Name: p.Name, Node: p.Node}
}

// restToWire encodes the Job's state without its pods, for a snapshot or a StateStored record.
func (j *Job) restToWire() (*pb.JobState, *pb.StateNames) {
	names := &pb.StateNames{Namespace: j.Ref.Namespace, Name: j.Ref.Name, Origin: events.OriginToWire(j.Origin)}
	s := &pb.JobState{
		First: uint64(j.first), Head: uint64(j.Head), Now: int64(j.Now),
		Version: j.Version, Generation: j.Generation, Created: int64(j.Created), Deleted: int64(j.Deleted),
		Gone: j.Gone, Managed: j.Managed, ManagedBy: j.ManagedBy, SpecAt: uint64(j.SpecAt),
		Ordinal: j.Ordinal, Window: j.Window,
		Creating: commands.RetryToWire(j.Creating()), Writing: commands.RetryToWire(j.Writing()),
		Claims: j.claimsToWire(), Confirmed: int64(j.Confirmed),
		Look: j.Look, Recheck: j.Recheck,
		Arrival: j.arrival, Ticks: j.ticks,
		OurFirstWrite: int64(j.rivalry.began), BuiltinWrote: int64(j.rivalry.wrote), Parted: j.division.open,
		Parent: uint32(j.Parent),
	}
	for _, v := range j.values() {
		v.toWire(s, names)
	}
	// Encode these after the status: a reader takes the texts from names in this order
	s.Write, s.Reading, s.Group = commands.FlightToWire(j.Write(), names), commands.FlightToWire(j.Reading(), names), j.groupToWire(names)
	s.Deletion = commands.FlightToWire(j.deletion(), names)
	if j.Spec != nil {
		s.Spec = events.SpecToWire(j.Spec)
	}
	for _, c := range j.creates {
		s.Creates = append(s.Creates, &pb.CreateState{
			Create: events.CommandToWire(&c.CreatePod, &names.Texts).GetCreatePod(),
			Flight: commands.FlightToWire(c.Flight(), names), Sent: int64(c.Sent), Doubted: c.Doubted, MustList: c.MustList,
			Retrying: c.Retrying(), Cancelled: c.Cancelled(),
		})
	}
	return s, names
}

// stateReader reads the texts of an encoded state in the order in which restToWire wrote them: first those of the
// status, then those of the status write in flight. Other commands have no texts.
type stateReader struct {
	texts []string
	tries *pb.Tries
	err   error
}

func (r *stateReader) flight(w *pb.Flight) *commands.Flight {
	f, err := commands.FlightFromWire(w, r.texts)
	if err != nil {
		r.err = err
		return nil
	}
	return f
}

func (r *stateReader) skip(n int) { r.texts = r.texts[min(n, len(r.texts)):] }

func (w *World) jobFromWire(stream events.Stream, s *pb.JobState, names *pb.StateNames) (*Job, error) {
	j := newJob(stream, w)
	r := &stateReader{texts: names.GetTexts(), tries: names.GetTries()}
	j.Ref.Namespace, j.Ref.Name, j.Origin = names.GetNamespace(), names.GetName(), events.OriginFromWire(names.GetOrigin())
	j.first, j.Head, j.Now = events.Sequence(s.GetFirst()), events.Sequence(s.GetHead()), events.Time(s.GetNow())
	j.Version, j.Generation = s.GetVersion(), s.GetGeneration()
	j.Created, j.Deleted, j.Gone = events.Time(s.GetCreated()), events.Time(s.GetDeleted()), s.GetGone()
	j.Managed, j.ManagedBy, j.SpecAt = s.GetManaged(), s.GetManagedBy(), events.Sequence(s.GetSpecAt())
	j.Parent = events.Parent(s.GetParent())
	if s.GetSpec() != nil {
		spec := events.SpecFromWire(s.GetSpec())
		w.specs.Restore(spec, j.SpecAt)
		use := w.specs.Use(spec.Hash, nil)
		j.useSpec(use, w.specs.Policies(spec.Hash))
	}
	if s.GetBase() == nil {
		return nil, errors.New("no status") // every stored state of a Job has a status
	}
	for _, v := range j.values() {
		v.fromWire(s, r)
	}
	j.Ordinal, j.Window = s.GetOrdinal(), s.GetWindow()
	*j.Creating(), *j.Writing() = commands.RetryFromWire(s.GetCreating()), commands.RetryFromWire(s.GetWriting())
	for _, f := range []*commands.Flight{r.flight(s.GetWrite()), r.flight(s.GetReading()), r.flight(s.GetDeletion())} {
		j.book.Relaunch(f, &j.book.Itself)
	}
	j.restoreGroup(s.GetGroup(), names, r)
	j.restoreClaims(s.GetClaims())
	j.Confirmed = events.Time(s.GetConfirmed())
	j.Look, j.Recheck = s.GetLook(), s.GetRecheck()
	j.rivalry = rivalry{began: events.Time(s.GetOurFirstWrite()), wrote: events.Time(s.GetBuiltinWrote())}
	j.arrival, j.ticks, j.division.open = s.GetArrival(), s.GetTicks(), s.GetParted()
	j.restoreCreates(s.GetCreates(), r)
	j.restorePods(s.GetPods(), names.GetPods(), r)
	if r.err != nil {
		return nil, r.err
	}
	j.recountAsStored()
	return j, nil
}

// recountAsStored rebuilds the counts of a Job that was restored from a stored state. A pod that was stored with
// Counted false keeps that. Otherwise the rebuild could set it, because another pod may have made the same index
// complete in the published status since.
func (j *Job) recountAsStored() {
	var unspent []*Pod
	for _, p := range j.byUID {
		if !p.Counted {
			unspent = append(unspent, p)
		}
	}
	j.recount()
	for _, p := range unspent {
		p.Counted = false
	}
}

func (j *Job) restoreCreates(ws []*pb.CreateState, r *stateReader) {
	for _, w := range ws {
		// The create's kind is always known, so the error is nil.
		command, _ := events.CommandFromWire(&pb.Command{Kind: &pb.Command_CreatePod{CreatePod: w.GetCreate()}}, nil)
		c := &Create{
			CreatePod: *command.(*events.CreatePod),
			Sent:      events.Time(w.GetSent()), Doubted: w.GetDoubted(), MustList: w.GetMustList(),
		}
		j.creates = append(j.creates, c)
		if f := r.flight(w.GetFlight()); f != nil {
			j.book.Launch(f, &c.target)
			f.Cancelled = w.GetCancelled()
			if w.GetRetrying() {
				f.Refused = j.Creating()
			}
		}
	}
}

func (j *Job) restorePods(ws []*pb.PodState, names []*pb.PodNames, r *stateReader) {
	var queued []*Pod
	for i, w := range ws {
		p := &Pod{
			PodSeen: *events.PodFromWire(w.GetFacts()), Seen: w.GetSeen(), DeleteDone: w.GetDeleteDone(), Surplus: w.GetSurplus(),
			DroppedIn: w.GetDroppedIn(), Vanished: w.GetVanished(), Gone: w.GetGone(), written: w.GetWritten(), NeverCounted: w.GetNeverCounted(),
			ended:     events.Time(w.GetEnded()),
			DropDoubt: events.Time(w.GetDropDoubt()), LateCreate: events.Time(w.GetLateCreate()),
			Counted: w.GetCounted(), SelectorUnknown: w.GetSelectorUnknown(), Stale: w.GetStale(), FailedBeforeDeletion: w.GetFailedBeforeDeletion(),
			StoppingSince: events.Time(w.GetStoppingSince()),
			arrived:       w.GetArrived(), noted: w.GetNoted(), stage: Stage(w.GetStage()), entered: w.GetEntered(),
		}
		if i < len(names) {
			p.Name, p.Node = names[i].GetName(), names[i].GetNode()
		}
		j.byUID[p.UID] = p
		j.division.toLeft(p)
		if !p.Gone {
			j.homes[p.UID] = j.Stream
		}
		if p.written {
			j.marked = append(j.marked, p)
		}
		for _, f := range []*pb.Flight{w.GetDrop(), w.GetDelete(), w.GetClaim()} {
			j.book.Relaunch(r.flight(f), &p.target)
		}
		if j.queue(p.stage) != nil {
			queued = append(queued, p)
		}
	}
	slices.SortFunc(queued, func(a, b *Pod) int { return cmp.Compare(a.entered, b.entered) })
	for _, p := range queued {
		j.enqueue(p)
	}
}

func (d *division) toLeft(p *Pod) {
	d.left.push(p)
	p.line = lineLeft
}
