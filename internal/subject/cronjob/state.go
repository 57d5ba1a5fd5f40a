package cronjob

import (
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// The backoff after errors (C-190): 5 ms, 10 ms, 20 ms, … up to 1000 s.
const (
	firstCronBackoff = 5 * time.Millisecond
	maxCronBackoff   = 1000 * time.Second
)

// ToWire encodes the CronJob's state. names gets the texts that are only for people, the other result all the rest.
func (c *CronJob) ToWire() (*pb.JobState, *pb.StateNames) {
	names := &pb.StateNames{Namespace: c.Ref.Namespace, Name: c.Ref.Name}
	s := &pb.CronJobState{
		First: uint64(c.First), Head: uint64(c.Head), Now: int64(c.Now), Facts: events.CronJobToWire(&c.Seen), Gone: c.Gone,
		Active: events.RunsToWire(c.Active), LastSchedule: int64(c.LastSchedule), LastSuccess: int64(c.LastSuccess),
		Ledger: events.LedgerToWire(&c.Ledger), Counting: c.Counting, Watched: int64(c.Watched), Edited: int64(c.Edited),
		Pending: int64(c.Pending),
		Went:    events.UIDsToWire(c.Went), Retry: commands.RetryToWire(c.Retry()), Pass: c.Pass.toWire(), Start: c.Start.toWire(), Look: c.Look, Triggered: c.Triggered,
		Freed: int64(c.Freed), Told: c.Told.toWire(),
	}
	for _, r := range c.SortedRuns() {
		s.Runs = append(s.Runs, r.toWire())
	}
	for i := range c.Late {
		s.Late = append(s.Late, c.Late[i].toWire())
	}
	c.Sight.toWire(s)
	for _, f := range c.book.InOrder() {
		s.Flights = append(s.Flights, commands.FlightToWire(f, names))
	}
	return &pb.JobState{CronJob: s}, names
}

// Restore decodes the state into a CronJob for which only Begin was called.
func (c *CronJob) Restore(ref events.JobRef, s *pb.CronJobState) error {
	c.Ref = ref
	c.First, c.Head, c.Now = events.Sequence(s.GetFirst()), events.Sequence(s.GetHead()), events.Time(s.GetNow())
	c.Seen, c.Gone = *events.CronJobFromWire(s.GetFacts()), s.GetGone()
	c.setActive(events.RunsFromWire(s.GetActive()))
	c.LastSchedule, c.LastSuccess = events.Time(s.GetLastSchedule()), events.Time(s.GetLastSuccess())
	if l := events.LedgerFromWire(s.GetLedger()); l != nil {
		c.Ledger = *l
	}
	c.Counting, c.Watched, c.Edited = s.GetCounting(), events.Time(s.GetWatched()), events.Time(s.GetEdited())
	c.Pass, c.Start = passFromWire(s.GetPass()), startFromWire(s.GetStart())
	c.Look, c.Triggered, c.Pending, c.Freed = s.GetLook(), s.GetTriggered(), events.Time(s.GetPending()), events.Time(s.GetFreed())
	*c.Retry() = commands.RetryFromWire(s.GetRetry())
	for _, r := range s.GetRuns() {
		c.putRun(runFromWire(r))
	}
	for _, l := range s.GetLate() {
		c.Late = append(c.Late, *startFromWire(l))
	}
	c.Sight, c.Told = sightFromWire(s), toldFromWire(s.GetTold())
	for _, w := range s.GetFlights() {
		f, err := commands.FlightFromWire(w, nil)
		if err != nil {
			return err
		}
		target := &c.book.Itself
		if f != nil && f.Command.Traits().Target == events.TargetRun && f.Command.Traits().Slot != events.SlotCreate {
			target = &commands.Target{}
		}
		c.book.Relaunch(f, target)
	}
	c.Went, c.heard = events.UIDsFromWire(s.GetWent()), len(c.Runs) > 0
	c.Replan()
	return nil
}

func (r *Run) toWire() *pb.RunState {
	return &pb.RunState{
		Facts: events.RunToWire(&r.RunSeen), Told: r.Told, Removed: r.Removed, Seen: int64(r.First), Ended: int64(r.Ended),
		Asked: pb.TickFate(r.Asked), AskedBy: r.AskedBy,
	}
}

func runFromWire(w *pb.RunState) *Run {
	return &Run{
		RunSeen: *events.RunFromWire(w.GetFacts()), Told: w.GetTold(), Removed: w.GetRemoved(),
		First: events.Time(w.GetSeen()), Ended: events.Time(w.GetEnded()),
		Asked: events.TickFate(w.GetAsked()), AskedBy: w.GetAskedBy(),
	}
}

func (p *CronPass) toWire() *pb.CronPass {
	return &pb.CronPass{
		Told: p.Told, Kept: events.UIDsToWire(p.Kept), Found: events.UIDsToWire(p.Found), Missing: events.UIDsToWire(p.Missing),
		Read: p.Read, Over: p.Over, Unwritten: p.Unwritten, Tried: p.Tried, Since: int64(p.Since),
	}
}

func passFromWire(w *pb.CronPass) CronPass {
	return CronPass{
		Told: slices.Clone(w.GetTold()), Kept: events.UIDsFromWire(w.GetKept()), Found: events.UIDsFromWire(w.GetFound()),
		Missing: events.UIDsFromWire(w.GetMissing()), Read: w.GetRead(), Over: w.GetOver(), Unwritten: w.GetUnwritten(), Tried: w.GetTried(),
		Since: events.Time(w.GetSince()),
	}
}

func (s *CronStart) toWire() *pb.CronStart {
	if s == nil {
		return nil
	}
	w := &pb.CronStart{Create: events.CommandToWire(&s.CreateJob, nil).GetCreateJob(), Stage: uint32(s.Stage), At: int64(s.At)}
	if s.Made != (events.RunName{}) {
		w.Made = events.RunsToWire([]events.RunName{s.Made})[0]
	}
	return w
}

func startFromWire(w *pb.CronStart) *CronStart {
	if w == nil {
		return nil
	}
	// The create's kind is always known, so the error is nil.
	c, _ := events.CommandFromWire(&pb.Command{Kind: &pb.Command_CreateJob{CreateJob: w.GetCreate()}}, nil)
	s := &CronStart{CreateJob: *c.(*events.CreateJob), Stage: StartStage(w.GetStage()), At: events.Time(w.GetAt())}
	if w.GetMade() != nil {
		s.Made = events.RunsFromWire([]*pb.RunName{w.GetMade()})[0]
	}
	return s
}

func sightFromWire(w *pb.CronJobState) CronSight {
	s := CronSight{
		Observing: w.GetObserving(), Begun: events.Time(w.GetBegun()), Taken: events.Time(w.GetTaken()),
		Scheduled: events.Time(w.GetScheduled()), Ended: events.Time(w.GetEnded()), Unseen: events.Time(w.GetUnseen()),
		Since: events.Time(w.GetSince()),
	}
	for _, p := range w.GetPast() {
		s.Past = append(s.Past, PastSchedule{Counting{p.GetSchedule(), p.TimeZone, p.GetZone()}, events.Time(p.GetUntil())})
	}
	for _, r := range w.GetDeparted() {
		s.Departed = append(s.Departed, runFromWire(r))
	}
	return s
}
