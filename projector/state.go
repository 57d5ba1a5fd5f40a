package projector

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/commands"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

var deterministic = proto.MarshalOptions{Deterministic: true}

// StreamState encodes what the world says about a stream other than the controller's: facts, and the names that belong
// to them. ok is false when it holds nothing of the stream.
func (w *World) StreamState(s events.Stream) (facts, names []byte, ok bool) {
	subject := w.Subject(s)
	if subject == nil {
		return nil, nil, false
	}
	facts, names = encode(subject.toWire())
	return facts, names, true
}

// RefOf names the Job of a stream, as far as the world knows it.
func (w *World) RefOf(s events.Stream) events.JobRef {
	if subject := w.Subject(s); subject != nil {
		return subject.Reference()
	}
	if p := w.parts[s]; p != nil {
		return p.ref
	}
	return events.JobRef{}
}

// RestoreStream takes over an encoded state, as StreamState gave it, or all parts of one after another, as StatePart gave them.
func (w *World) RestoreStream(s events.Stream, facts, names []byte) error {
	if part, last := partOf(facts); part != 0 && !last {
		return w.collect(s, part, facts, names)
	}
	state, called, err := readState(facts, names)
	if err != nil {
		return fmt.Errorf("%s: %w", s, err)
	}
	ref := events.JobRef{Namespace: called.GetNamespace(), Name: called.GetName(), UID: types.UID(s.ID)}
	if stub := state.GetStub(); stub != nil {
		retired, err := retiredFromWire(ref, stub, &w.Settings)
		if err != nil {
			return fmt.Errorf("decode state of %s: %w", s, err)
		}
		w.keepRetired(retired)
		return nil
	}
	if cron := state.GetCronJob(); cron != nil {
		c, err := w.cronFromWire(s, ref, cron)
		if err != nil {
			return fmt.Errorf("decode state of %s: %w", s, err)
		}
		w.holdCron(c)
		return nil
	}
	j, err := w.jobFromWire(s, state, called)
	if err != nil {
		return fmt.Errorf("decode state of %s: %w", s, err)
	}
	w.hold(j)
	return nil
}

func encode(facts *pb.JobState, names *pb.StateNames) (f, n []byte) {
	return marshal(facts), marshal(names)
}

func (j *Job) toWire() (*pb.JobState, *pb.StateNames) {
	s, names := j.restToWire()
	for _, p := range j.Pods() {
		state, name := p.toWire(names)
		s.Pods, names.Pods = append(s.Pods, state), append(names.Pods, name)
	}
	return s, names
}

// restToWire is the state without the pods.
func (j *Job) restToWire() (*pb.JobState, *pb.StateNames) {
	names := &pb.StateNames{Namespace: j.Ref.Namespace, Name: j.Ref.Name, Origin: events.OriginToWire(j.Origin)}
	s := &pb.JobState{
		First: uint64(j.first), Head: uint64(j.Head), Now: int64(j.Now),
		Version: j.Version, Generation: j.Generation, Created: int64(j.Created), Deleted: int64(j.Deleted),
		Gone: j.Gone, Managed: j.Managed, ManagedBy: j.ManagedBy, SpecAt: uint64(j.SpecAt),
		Ordinal: j.Ordinal, Window: j.Window,
		Creating: retryToWire(j.Creating()), Writing: retryToWire(j.Writing()),
		Claims: j.claimsToWire(), Confirmed: int64(j.Confirmed),
		Look: j.Look, Recheck: j.Recheck,
		Arrival: j.arrival, Ticks: j.ticks,
		OurFirstWrite: int64(j.rivalry.began), BuiltinWrote: int64(j.rivalry.wrote), Parted: j.division.open,
	}
	for _, v := range j.values() {
		v.toWire(s, names)
	}
	s.Write, s.Reading, s.Group = flightToWire(j.Write(), names), flightToWire(j.Reading(), names), j.groupToWire(names) // after the status's texts
	s.Deletion = flightToWire(j.deletion(), names)
	if j.Spec != nil {
		s.Spec = events.SpecToWire(j.Spec)
	}
	for _, c := range j.creates {
		s.Creates = append(s.Creates, &pb.CreateState{
			Create: events.CommandToWire(&c.CreatePod, &names.Texts).GetCreatePod(),
			Flight: flightToWire(c.Flight(), names), Sent: int64(c.Sent), Doubted: c.Doubted, MustList: c.MustList,
			Retrying: c.Retrying(), Cancelled: c.Cancelled(),
		})
	}
	return s, names
}

// toWire is the pod's state. None of its commands has texts, of which names has those.
func (p *Pod) toWire(names *pb.StateNames) (*pb.PodState, *pb.PodNames) {
	return &pb.PodState{
		Facts: events.PodToWire(&p.PodSeen), Seen: p.Seen, DeleteDone: p.DeleteDone, Surplus: p.Surplus,
		Drop: flightToWire(p.Drop(), names), Delete: flightToWire(p.Delete(), names),
		DroppedIn: p.DroppedIn, Vanished: p.Vanished, Gone: p.Gone, Written: p.written, NeverCounted: p.NeverCounted, Ended: int64(p.ended),
		DropDoubt: int64(p.DropDoubt), LateCreate: int64(p.LateCreate),
		Claim: flightToWire(p.Claim(), names), Counted: p.Counted, SelectorUnknown: p.SelectorUnknown, Stale: p.Stale, FailedBeforeDeletion: p.FailedBeforeDeletion,
		Arrived: p.arrived, Noted: p.noted, Stage: uint32(p.stage), Entered: p.entered,
	}, &pb.PodNames{Name: p.Name, Node: p.Node}
}

func flightToWire(f *commands.Flight, names *pb.StateNames) *pb.Flight {
	if f == nil {
		return nil
	}
	w := &pb.Flight{
		Name: events.CommandNameToWire(f.Name()), Command: events.CommandToWire(f.Command, &names.Texts), Since: int64(f.Since),
	}
	if f.InBackoff() && f.Command.Traits().Backoff == events.BackoffOwn {
		w.Refused, w.Cancelled = retryToWire(f.Refused), f.Cancelled
	}
	return w
}

// retryToWire is nil when nothing was learnt.
func retryToWire(r *commands.Retry) *pb.Retry {
	if r == nil || *r == (commands.Retry{}) {
		return nil
	}
	return &pb.Retry{
		Class: pb.RefusalClass(r.Class), Count: r.Count, Until: int64(r.Until), Since: int64(r.Since), Noted: int64(r.Noted),
	}
}

func retryFromWire(w *pb.Retry) commands.Retry {
	return commands.Retry{
		Class: events.RefusalClass(w.GetClass()), Count: w.GetCount(), Until: events.Time(w.GetUntil()),
		Since: events.Time(w.GetSince()), Noted: events.Time(w.GetNoted()),
	}
}

// stateReader takes the texts of a state in the order in which toWire left them: those of the status, then those of the status write
// in flight. No other command has any.
type stateReader struct {
	texts []string
	tries *pb.Tries
	err   error
}

func (r *stateReader) flight(w *pb.Flight) *commands.Flight {
	if w == nil {
		return nil
	}
	c, err := events.CommandFromWire(w.GetCommand(), r.texts)
	if err != nil {
		r.err = err
		return nil
	}
	f := commands.NewFlight(events.CommandNameFromWire(w.GetName()), c, events.Time(w.GetSince()))
	if w.GetRefused() != nil {
		retry := retryFromWire(w.GetRefused())
		f.Refused, f.Cancelled = &retry, w.GetCancelled()
	}
	return f
}

func (r *stateReader) skip(n int) { r.texts = r.texts[min(n, len(r.texts)):] }

func (w *World) jobFromWire(stream events.Stream, s *pb.JobState, names *pb.StateNames) (*Job, error) {
	j := newJob(stream, &w.Settings, w.homes)
	r := &stateReader{texts: names.GetTexts(), tries: names.GetTries()}
	j.Ref.Namespace, j.Ref.Name, j.Origin = names.GetNamespace(), names.GetName(), events.OriginFromWire(names.GetOrigin())
	j.first, j.Head, j.Now = events.Sequence(s.GetFirst()), events.Sequence(s.GetHead()), events.Time(s.GetNow())
	j.Version, j.Generation = s.GetVersion(), s.GetGeneration()
	j.Created, j.Deleted, j.Gone = events.Time(s.GetCreated()), events.Time(s.GetDeleted()), s.GetGone()
	j.Managed, j.ManagedBy, j.SpecAt = s.GetManaged(), s.GetManagedBy(), events.Sequence(s.GetSpecAt())
	if s.GetSpec() != nil {
		spec := events.SpecFromWire(s.GetSpec())
		if _, known := w.specs.byHash[spec.Hash]; !known {
			w.specs.restore(spec, j.SpecAt)
		}
		use := w.specs.use(spec.Hash, nil)
		j.useSpec(use, w.specs.byHash[spec.Hash].policies)
	}
	if s.GetBase() == nil {
		return nil, errors.New("no status") // every state has one
	}
	for _, v := range j.values() {
		v.fromWire(s, r)
	}
	j.Ordinal, j.Window = s.GetOrdinal(), s.GetWindow()
	*j.Creating(), *j.Writing() = retryFromWire(s.GetCreating()), retryFromWire(s.GetWriting())
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

// recountAsStored builds the tallies of a Job whose pods are restored. A pod that was not counted is none yet: the fold looks when
// something of the pod changes, and then the published status may have its index by another pod.
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
		// That a create is of a kind which is not known cannot be.
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
			arrived: w.GetArrived(), noted: w.GetNoted(), stage: Stage(w.GetStage()), entered: w.GetEntered(),
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
		j.queue(p.stage).push(p)
	}
}

// ControllerState encodes what the world says about the controller itself, for a snapshot: with the specs that later records
// may refer to.
func (w *World) ControllerState() []byte {
	s := w.controllerToWire()
	for _, k := range w.specs.sorted() {
		s.Specs = append(s.Specs, &pb.SpecState{Spec: events.SpecToWire(k.spec.Apart()), At: uint64(k.at)})
	}
	for _, k := range w.specs.sortedPolicies() {
		s.Policies = append(s.Policies, &pb.PoliciesState{Policies: events.PoliciesToWire(k.policies), At: uint64(k.at)})
	}
	for _, hash := range slices.Sorted(maps.Keys(w.specs.templates)) {
		s.Templates = append(s.Templates, &pb.TemplateState{Hash: hash, At: uint64(w.specs.templates[hash])})
	}
	s.Zones = w.zonesToWire(func(events.ZoneName) bool { return true })
	return marshal(s)
}

// ControllerFacts encodes the same without specs, for the state record with which a file begins: a file stores specs of
// its own.
func (w *World) ControllerFacts() []byte {
	s, used := w.controllerToWire(), w.zonesInUse()
	s.Zones = w.zonesToWire(func(z events.ZoneName) bool { return used[z] })
	return marshal(s)
}

func (w *World) controllerToWire() *pb.WorldState {
	s := &pb.WorldState{
		LogId: w.Identity.LogID, Epoch: w.Identity.Epoch, Now: int64(w.Now), Settings: events.SettingsToWire(&w.Settings),
		Program: w.Program, Rules: w.Rules, Fold: w.Fold, Key: w.Key, Listing: w.Listing, Previous: uint64(w.previous),
		Newest: map[uint32]uint64{}, Filed: uint64(w.specs.since), Restated: uint64(w.restated), Term: w.Term,
		RivalFound: w.Rival.Found, RivalQuiet: int64(w.Rival.Quiet), RivalActs: events.RivalActsToWire(w.Rival.acts),
	}
	for _, r := range w.pending {
		s.Pending = append(s.Pending, pb.Resource(r))
	}
	for r, v := range w.newest {
		s.Newest[uint32(r)] = v
	}
	s.Shares = w.sharesToWire()
	w.surroundingsToWire(s)
	return s
}

func marshal(m proto.Message) []byte {
	b, err := deterministic.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("projector: encode state: %v", err)) // only text that is not UTF-8 could fail; facts hold none
	}
	return b
}

// StreamAt is the state of one stream in a snapshot, as of a record. Without facts the stream held nothing then.
type StreamAt struct {
	Stream       events.Stream
	AsOf         events.Sequence
	Facts, Names []byte
}

// Streams are all streams that the world knows, in the order in which they began; retired Jobs last.
func (w *World) Streams() []events.Stream {
	var out []events.Stream
	for _, s := range w.Subjects() {
		out = append(out, s.ID())
	}
	for r := range w.RetiredJobs() {
		out = append(out, r.ID())
	}
	return out
}

// Restore makes a world from a snapshot. What it returns is not yet the world of any prefix, since each stream has its own
// as-of record: the records after from are to be applied, and those that a stream has already are passed over.
func Restore(streams []StreamAt) (w *World, from events.Sequence, err error) {
	w = NewWorld()
	w.floors = make(map[events.Stream]events.Sequence, len(streams))
	w.specs.keep, w.zones.keep = true, true
	for _, s := range streams {
		if s.Stream == events.Controller {
			if err := w.restoreController(s.Facts, s.AsOf); err != nil {
				return nil, 0, err
			}
		}
	}
	from = w.Head
	for _, s := range streams {
		w.floors[s.Stream] = s.AsOf
		from = min(from, s.AsOf)
		if s.Stream != events.Controller && len(s.Facts) > 0 {
			if err := w.RestoreStream(s.Stream, s.Facts, s.Names); err != nil {
				return nil, 0, err
			}
		}
	}
	return w, from, nil
}

// Recovered ends a recovery: every record of the log has been applied. Streams of a snapshot are as of different records, so
// one that a pod left may have told of it last: where each pod is is found again.
func (w *World) Recovered() {
	w.floors = nil
	w.sortStated()
	w.specs.keep, w.zones.keep = false, false
	w.specs.pruneAll()
	w.recoverCrons()
	clear(w.homes)
	for _, j := range w.Holders() {
		for _, p := range j.byUID {
			if !p.Gone {
				w.homes[p.UID] = j.Stream
			}
		}
	}
}

// restoreController takes over what ControllerState gave; through is the record that it is as of.
func (w *World) restoreController(b []byte, through events.Sequence) error {
	var s pb.WorldState
	if err := proto.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("decode the controller's state: %w", err)
	}
	w.Identity = events.Identity{LogID: s.GetLogId(), Epoch: s.GetEpoch()}
	w.Head, w.Now, w.Settings = through, events.Time(s.GetNow()), events.SettingsFromWire(s.GetSettings())
	w.Program, w.Rules, w.Fold, w.Key, w.Listing = s.GetProgram(), s.GetRules(), s.GetFold(), s.GetKey(), s.GetListing()
	w.Rival = Rival{Found: s.GetRivalFound(), Quiet: events.Time(s.GetRivalQuiet()), acts: events.RivalActsFromWire(s.GetRivalActs())}
	w.restated, w.Term = events.Sequence(s.GetRestated()), s.GetTerm()
	w.previous = events.Sequence(s.GetPrevious())
	for _, r := range s.GetPending() {
		w.pending = append(w.pending, events.Resource(r))
	}
	for r, v := range s.GetNewest() {
		w.newest[events.Resource(r)] = v
	}
	w.shares.restore(s.GetShares())
	w.around.restore(&s)
	w.specs.since = events.Sequence(s.GetFiled())
	for _, z := range s.GetZones() {
		w.zones.store(events.ZoneFromWire(z.GetRules()), events.Sequence(z.GetAt()))
	}
	for _, k := range s.GetTemplates() {
		w.specs.templates[k.GetHash()] = events.Sequence(k.GetAt())
	}
	for _, k := range s.GetPolicies() { // before the specs that have them
		w.specs.storePolicies(events.PoliciesFromWire(k.GetPolicies()), events.Sequence(k.GetAt()))
	}
	for _, k := range s.GetSpecs() {
		w.specs.store(events.SpecFromWire(k.GetSpec()), events.Sequence(k.GetAt()))
	}
	return nil
}
