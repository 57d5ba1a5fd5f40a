package events

import (
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"

	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// CronJobToWire translates an observed CronJob, for a record or a stored state.
func CronJobToWire(f *CronJobSeen) *pb.CronJobSeen {
	w := &pb.CronJobSeen{
		Version: f.Version, Generation: f.Generation, Created: int64(f.Created), Deleted: int64(f.Deleted),
		Schedule: f.Schedule, TimeZone: f.TimeZone, Policy: f.Policy, Suspend: f.Suspend, Deadline: f.Deadline,
		KeepSucceeded: f.KeepSucceeded, KeepFailed: f.KeepFailed, Template: f.Template, Redacted: f.Redacted,
		Active: RunsToWire(f.Active), LastSchedule: int64(f.LastSchedule), LastSuccess: int64(f.LastSuccess), Found: f.Found,
	}
	for _, z := range f.Zones {
		w.Zones = append(w.Zones, &pb.ZoneName{Name: z.Name, Hash: z.Hash})
	}
	if t := f.Trigger; t != nil {
		w.Trigger = &pb.RunTrigger{Value: t.Value, Asked: int64(t.Asked), By: t.By}
	}
	return w
}

// CronJobFromWire decodes what CronJobToWire made.
func CronJobFromWire(w *pb.CronJobSeen) *CronJobSeen {
	f := &CronJobSeen{
		Version: w.GetVersion(), Generation: w.GetGeneration(), Created: Time(w.GetCreated()), Deleted: Time(w.GetDeleted()),
		Schedule: w.GetSchedule(), Policy: w.GetPolicy(), Suspend: w.GetSuspend(),
		Template: w.GetTemplate(), Redacted: w.GetRedacted(),
		Active: RunsFromWire(w.GetActive()), LastSchedule: Time(w.GetLastSchedule()), LastSuccess: Time(w.GetLastSuccess()), Found: w.GetFound(),
	}
	if w != nil {
		f.TimeZone, f.Deadline, f.KeepSucceeded, f.KeepFailed = w.TimeZone, w.Deadline, w.KeepSucceeded, w.KeepFailed
	}
	for _, z := range w.GetZones() {
		f.Zones = append(f.Zones, ZoneName{Name: z.GetName(), Hash: z.GetHash()})
	}
	if t := w.GetTrigger(); t != nil {
		f.Trigger = &RunTrigger{Value: t.GetValue(), Asked: Time(t.GetAsked()), By: t.GetBy()}
	}
	return f
}

// RunsToWire translates a CronJob's list of active Jobs, for a record or a stored state.
func RunsToWire(all []RunName) (ws []*pb.RunName) {
	for _, r := range all {
		ws = append(ws, &pb.RunName{Uid: uidToWire(r.UID), Name: r.Name, Version: r.Version})
	}
	return ws
}

// RunsFromWire decodes a list of active Jobs that RunsToWire made.
func RunsFromWire(ws []*pb.RunName) (all []RunName) {
	for _, w := range ws {
		all = append(all, RunName{UID: uidFromWire(w.GetUid()), Name: w.GetName(), Version: w.GetVersion()})
	}
	return all
}

// ZoneToWire translates the rules of a zone, for a record or a stored state.
func ZoneToWire(f *ZoneRules) *pb.ZoneRules {
	return &pb.ZoneRules{Name: f.Name, Hash: f.Hash, Tzif: f.TZif}
}

// ZoneFromWire decodes the rules of a time zone that ZoneToWire made.
func ZoneFromWire(w *pb.ZoneRules) *ZoneRules {
	return &ZoneRules{Name: w.GetName(), Hash: w.GetHash(), TZif: w.GetTzif()}
}

// RunToWire translates an observed Job of a CronJob, for a record or a stored state.
func RunToWire(f *RunSeen) *pb.RunSeen {
	return &pb.RunSeen{
		Job: uidToWire(f.Job), Name: f.Name, Version: f.Version, Created: int64(f.Created), Deleted: int64(f.Deleted),
		Started: int64(f.Started), Completed: int64(f.Completed), Result: pb.JobResult(f.Result), Succeeded: f.Succeeded,
		Due: int64(f.Due), Manual: f.Manual, By: f.By, Namespace: f.Namespace,
	}
}

// RunFromWire decodes what RunToWire made.
func RunFromWire(w *pb.RunSeen) *RunSeen {
	return &RunSeen{
		Job: uidFromWire(w.GetJob()), Name: w.GetName(), Version: w.GetVersion(), Created: Time(w.GetCreated()), Deleted: Time(w.GetDeleted()),
		Started: Time(w.GetStarted()), Completed: Time(w.GetCompleted()), Result: JobResult(w.GetResult()), Succeeded: w.GetSucceeded(),
		Due: Time(w.GetDue()), Manual: w.GetManual(), By: w.GetBy(), Namespace: w.GetNamespace(),
	}
}

func cronJobGoneToWire(f *CronJobGone) *pb.CronJobGone {
	return &pb.CronJobGone{Version: f.Version, Missed: f.Missed}
}

func cronJobGoneFromWire(w *pb.CronJobGone) *CronJobGone {
	return &CronJobGone{Version: w.GetVersion(), Missed: w.GetMissed()}
}

func runGoneToWire(f *RunGone) *pb.RunGone {
	return &pb.RunGone{Job: uidToWire(f.Job), Version: f.Version, Missed: f.Missed, Left: f.Left, Other: f.Other}
}

func runGoneFromWire(w *pb.RunGone) *RunGone {
	return &RunGone{
		Job: uidFromWire(w.GetJob()), Version: w.GetVersion(), Missed: w.GetMissed(), Left: w.GetLeft(), Other: w.GetOther(),
	}
}

// UIDsToWire translates a list of UIDs. A UUID takes 16 bytes.
func UIDsToWire(all []types.UID) [][]byte { return uidsToWire(all) }

// UIDsFromWire decodes a list of UIDs that UIDsToWire made.
func UIDsFromWire(ws [][]byte) []types.UID { return uidsFromWire(ws) }

func cronStepToWire(c *CronStep, free *[]string) *pb.CronStep {
	if c == nil {
		return nil
	}
	w := &pb.CronStep{Left: uidsToWire(c.Left), Trigger: c.Trigger, Ledger: LedgerToWire(c.Ledger)}
	for i := range c.Ticks {
		w.Ticks = append(w.Ticks, TickToWire(&c.Ticks[i]))
	}
	for _, n := range c.Notices {
		*free = append(*free, n.Message)
		w.Notices = append(w.Notices, &pb.Notice{Reason: n.Reason})
	}
	return w
}

func cronStepFromWire(w *pb.CronStep, t *texts) *CronStep {
	if w == nil {
		return nil
	}
	c := &CronStep{Left: uidsFromWire(w.GetLeft()), Trigger: w.GetTrigger(), Ledger: LedgerFromWire(w.GetLedger())}
	for _, k := range w.GetTicks() {
		c.Ticks = append(c.Ticks, TickFromWire(k))
	}
	for _, n := range w.GetNotices() {
		c.Notices = append(c.Notices, Notice{Reason: n.GetReason(), Message: t.take()})
	}
	return c
}

// TickToWire translates a due time and what became of it, for a record or a stored state.
func TickToWire(t *Tick) *pb.Tick {
	return &pb.Tick{
		First: int64(t.First), Last: int64(t.Last), Fate: pb.TickFate(t.Fate), Into: int64(t.Into), Late: int64(t.Late),
		Job: uidToWire(t.Job), Name: t.Name, Zone: t.Zone, By: t.By,
		Observed: t.Observed, Seen: int64(t.Seen), UnwatchedFrom: int64(t.UnwatchedFrom), UnwatchedUntil: int64(t.UnwatchedUntil),
	}
}

// TickFromWire decodes what TickToWire made.
func TickFromWire(k *pb.Tick) Tick {
	return Tick{
		First: Time(k.GetFirst()), Last: Time(k.GetLast()), Fate: TickFate(k.GetFate()), Into: Time(k.GetInto()),
		Late: time.Duration(k.GetLate()), Job: uidFromWire(k.GetJob()), Name: k.GetName(), Zone: k.GetZone(), By: k.GetBy(),
		Observed: k.GetObserved(), Seen: time.Duration(k.GetSeen()),
		UnwatchedFrom: Time(k.GetUnwatchedFrom()), UnwatchedUntil: Time(k.GetUnwatchedUntil()),
	}
}

// LedgerToWire translates a TickLedger (state of a CronJob's due times), for a record or a stored state. Nil gives nil.
func LedgerToWire(l *TickLedger) *pb.TickLedger {
	if l == nil {
		return nil
	}
	return &pb.TickLedger{
		Through: int64(l.Through), Open: int64(l.Open), Hold: pb.TickHold(l.Hold), Schedule: l.Schedule, TimeZone: l.TimeZone,
		Zone: l.Zone, Closed: l.Closed,
	}
}

// LedgerFromWire decodes what LedgerToWire made; nil for nil.
func LedgerFromWire(w *pb.TickLedger) *TickLedger {
	if w == nil {
		return nil
	}
	return &TickLedger{
		Through: Time(w.GetThrough()), Open: Time(w.GetOpen()), Hold: TickHold(w.GetHold()), Schedule: w.GetSchedule(), TimeZone: w.TimeZone,
		Zone: w.GetZone(), Closed: w.GetClosed(),
	}
}

func (c *CreateJob) toWire(*[]string) *pb.Command {
	return &pb.Command{Kind: &pb.Command_CreateJob{CreateJob: &pb.CreateJob{
		Name: c.Name, Due: int64(c.Due), Template: c.Template, Stamp: c.Stamp, Trigger: c.Trigger,
	}}}
}

func (c *DeleteRun) toWire(*[]string) *pb.Command {
	return &pb.Command{Kind: &pb.Command_DeleteRun{DeleteRun: &pb.DeleteRun{
		Job: uidToWire(c.Job), Name: c.Name, Replacing: c.Replacing,
	}}}
}

func (c *WriteCronStatus) toWire(*[]string) *pb.Command {
	return &pb.Command{Kind: &pb.Command_WriteCronStatus{WriteCronStatus: &pb.WriteCronStatus{
		Base: c.Base, Active: RunsToWire(c.Active), LastSchedule: int64(c.LastSchedule), LastSuccess: int64(c.LastSuccess),
	}}}
}

func (*ReadCronJob) toWire(*[]string) *pb.Command {
	return &pb.Command{Kind: &pb.Command_ReadCronJob{ReadCronJob: &pb.ReadCronJob{}}}
}

func (c *ReadRun) toWire(*[]string) *pb.Command {
	return &pb.Command{Kind: &pb.Command_ReadRun{ReadRun: &pb.ReadRun{
		Job: uidToWire(c.Job), Name: c.Name, Replacing: c.Replacing,
	}}}
}

var errCommand = errors.New("a command of a kind that this program does not know")

func runCommandFromWire(w *pb.Command) (Command, error) {
	switch k := w.GetKind().(type) {
	case *pb.Command_CreateJob:
		c := k.CreateJob
		return &CreateJob{
			Name: c.GetName(), Due: Time(c.GetDue()), Template: c.GetTemplate(), Stamp: c.GetStamp(), Trigger: c.GetTrigger(),
		}, nil
	case *pb.Command_DeleteRun:
		c := k.DeleteRun
		return &DeleteRun{Job: uidFromWire(c.GetJob()), Name: c.GetName(), Replacing: c.GetReplacing()}, nil
	case *pb.Command_WriteCronStatus:
		c := k.WriteCronStatus
		return &WriteCronStatus{
			Base: c.GetBase(), Active: RunsFromWire(c.GetActive()), LastSchedule: Time(c.GetLastSchedule()), LastSuccess: Time(c.GetLastSuccess()),
		}, nil
	case *pb.Command_ReadCronJob:
		return &ReadCronJob{}, nil
	case *pb.Command_ReadRun:
		c := k.ReadRun
		return &ReadRun{Job: uidFromWire(c.GetJob()), Name: c.GetName(), Replacing: c.GetReplacing()}, nil
	}
	return nil, errCommand
}
