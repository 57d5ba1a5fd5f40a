package cronjob

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
	"github.com/jobledger/jobledger/internal/subject/ticks"
)

// CronJob is the state of one CronJob, computed from its records. One reconcile of the built-in controller takes
// several decisions here, because each is based on the results of the commands before. These decisions form a "pass";
// the field Pass holds what the current pass has done.
type CronJob struct {
	Stream   events.Stream
	Ref      events.JobRef
	Settings *events.Settings
	Now      events.Time
	Head     events.Sequence
	First    events.Sequence // its first record (sequence number in the log)

	Seen events.CronJobSeen // newest observed object, including our confirmed status writes
	Gone bool

	// The status to publish. Only method setActive changes Active
	Active                    []events.RunName
	LastSchedule, LastSuccess events.Time

	Runs     map[types.UID]*Run // the CronJob's Jobs (C-101); changed by putRun and dropRun
	Ledger   events.TickLedger  // which due times have started or will not start; valid once Counting is true
	Counting bool
	Watched  events.Time // when the newest controller run began, or when the CronJob was first seen
	// Edited is the time of a change of schedule or zone, if nothing else has happened since; 0 for none. The next
	// decision is then made at the time Pending (C-093), which cannot be computed from the new schedule. Pending is
	// also kept during a suspension; 0 means never, and it may be in the past.
	Edited, Pending events.Time
	Pass            CronPass
	Start           *CronStart // the Job being created for a due time or a user; nil for none
	// Late holds Jobs whose create may still reach the API server: the outcome was unknown, and a live read did not
	// find the Job. If the watch shows the Job later, its stage is StartThere.
	Late []CronStart
	// Freed is when the newest started Job (that of LastSchedule) was deleted after its end; 0 for none. All due times
	// of one minute have the same Job name (C-152), so the name was taken until Freed. Example: a Job started at
	// 08:00:00 and ended, and a user deleted it at 08:00:40. Then no Job starts for the due time 08:00:30 (C-085).
	Freed events.Time
	Look  bool // the object may have changed: read it before the next status write
	// Triggered is the value of the trigger annotation (a user's request for a run) that was handled last.
	Triggered string
	// Went holds Jobs whose deletion was seen while commands were in flight. A command's result that shows one of these
	// Jobs is older than the deletion.
	Went []types.UID

	Sight CronSight // what another controller does
	Told  Told      // the records that are cited when a user asks about the CronJob

	byName  []*Run             // Runs, sorted by name
	listed  map[types.UID]bool // set of Active; nil while Active is short
	strange []types.UID        // Jobs in other namespaces that name it as their owner; see TakeStrange
	book    commands.Book[*CronJob]
	zones   *Zones // time zone rules, shared by all CronJobs
	watch   *Watch // times in which nobody watched, shared by all CronJobs
	plan    CronPlan
	heard   bool // some Job named it as its owner
}

// Run is a Job of a CronJob, as far as its CronJob needs to know it.
type Run struct {
	events.RunSeen
	Told    bool        // Ledger has the start of this Job
	Removed bool        // our deletion succeeded; an observation that does not show it is older
	First   events.Time // when first seen
	Ended   events.Time // when its end was first seen; 0 while it runs
	// Asked is TickManual or TickTriggered if a user asked for the Job, and not a due time. AskedBy is that user.
	Asked   events.TickFate
	AskedBy string
}

// Finished reports whether the Job has ended (C-102).
func (r *Run) Finished() bool { return r.Result != events.ResultNone }

// Deleting reports whether the Job is under deletion, or was deleted and the watch has not shown it yet.
func (r *Run) Deleting() bool { return r.Deleted != 0 || r.Removed }

// Vanished reports whether the API server has deleted the Job at our request, and the watch has not yet shown a
// deletion.
func (r *Run) Vanished() bool { return r.Removed && r.Deleted == 0 }

// CronPass is what one pass has done: the decisions that correspond to one reconcile of the built-in controller. A pass
// begins with a change of the CronJob, and does each step at most once.
type CronPass struct {
	Told                 []string    // reasons of the Kubernetes Events sent
	Kept, Found, Missing []types.UID // Jobs whose deletion failed; that a live read found; that it did not find
	Read                 bool        // the CronJob itself was read
	Over                 bool        // an error ended the pass; the next one begins after a backoff (C-190)
	Unwritten            bool        // the status write failed
	Tried                bool        // a create was attempted
	Since                events.Time // start of the pass
}

// StartStage is the progress of creating the Job for a due time. The numbers are stored and never change.
type StartStage uint8

// The stages of a start.
const (
	StartAsked   StartStage = 1 // our create request is in flight
	StartUnknown StartStage = 2 // the outcome of the create is unknown; the controller reads the Job to find out
	StartTaken   StartStage = 3 // refused: an object has the Job's name; the controller reads which (C-160)
	StartThere   StartStage = 4 // the Job exists: the create made it, or it was found later
	StartRefused StartStage = 5 // the API server refused the create, and not because of the name
	StartForeign StartStage = 6 // the read found an object that is not the CronJob's, or is in Active already
	StartMissing StartStage = 7 // only if a user triggered the run: not created; the next decision creates it
	StartAnother StartStage = 8 // the read found the Job of another due time of that minute (C-152)
	StartLater   StartStage = 9 // only if a user triggered the run: the API server failed; retried for a while
)

// CronStart is a Job of the CronJob that is being created.
type CronStart struct {
	events.CreateJob
	Stage StartStage
	Made  events.RunName // set once the Job exists
	At    events.Time    // when it was created
}

// Begin makes c an empty CronJob that knows only its stream (the name of its part of the log). zones (time zone rules)
// and watch (times in which nobody watched) are shared by all CronJobs. c must not be copied afterwards.
func (c *CronJob) Begin(stream events.Stream, settings *events.Settings, zones *Zones, watch *Watch) {
	*c = CronJob{
		Stream: stream, Ref: events.JobRef{UID: types.UID(stream.ID)}, Settings: settings, zones: zones, watch: watch,
		Runs: map[types.UID]*Run{},
	}
	c.book = commands.New(c, &rows, settings)
}

// Known reports whether the CronJob's object has been seen. Jobs that name it as their owner may be seen before.
func (c *CronJob) Known() bool { return c.Seen.Version != 0 }

// Anchor returns the time from which due times are counted: lastScheduleTime, or else the creation time (C-071).
func (c *CronJob) Anchor() events.Time {
	if c.LastSchedule != 0 {
		return c.LastSchedule
	}
	return c.Seen.Created
}

// nextLook returns the next time at which the CronJob needs a decision, W of C-085; 0 for never.
func (c *CronJob) nextLook() events.Time {
	if at := c.plan.Schedule.Wake(c.Anchor().Go(), c.Now.Go()); !at.IsZero() {
		return events.At(at)
	}
	return 0
}

// Behind reports whether the published status differs from the state that it should show.
func (c *CronJob) Behind() bool {
	s := &c.Seen
	return c.LastSchedule != s.LastSchedule || c.LastSuccess != s.LastSuccess || !slices.Equal(c.Active, s.Active)
}

// Unwatched returns, in order, the times in which no controller watched the CronJob. A gap ends at the latest when the
// newest controller started: from then on this controller has decided, also during listings.
func (c *CronJob) Unwatched() []ticks.Gap {
	var gaps []ticks.Gap
	for _, g := range c.watch.gaps {
		if until := c.Watched.Go(); until.Before(g.Until) {
			g.Until = until
		}
		if g.From.Before(g.Until) {
			gaps = append(gaps, g)
		}
	}
	return gaps
}

// Retry returns the backoff after failed requests of this CronJob.
func (c *CronJob) Retry() *commands.Retry { return c.book.Shared(events.BackoffCron) }

// Busy reports whether a command of the CronJob is in flight.
func (c *CronJob) Busy() bool { return c.book.Busy() }

// ID returns the name of the CronJob's stream (its part of the log).
func (c *CronJob) ID() events.Stream { return c.Stream }

// Reference names the CronJob.
func (c *CronJob) Reference() events.JobRef { return c.Ref }

// Time returns the time of the newest record that concerned the CronJob.
func (c *CronJob) Time() events.Time { return c.Now }

// Last returns the sequence (place in the log) of the CronJob's newest record.
func (c *CronJob) Last() events.Sequence { return c.Head }

// Due returns now: only a decision can tell what a CronJob waits for.
func (c *CronJob) Due(now events.Time) events.Time { return now }

// Observed reports whether another controller runs the CronJob.
func (c *CronJob) Observed() bool { return !c.Settings.RunsCronJobs() }

// Flights returns the commands in flight (decided, and not ended), in order of decision.
func (c *CronJob) Flights() []*commands.Flight { return c.book.InOrder() }

// InFlight returns the command with the ID name; nil if it has ended.
func (c *CronJob) InFlight(name events.CommandID) events.Command { return c.book.InFlight(name) }

// Over reports whether the CronJob can be forgotten. Either its object is gone and all its due times are accounted for,
// or it was never seen and no Job names it any more.
func (c *CronJob) Over() bool {
	if !c.Known() {
		return len(c.Runs) == 0 && c.heard
	}
	return c.Gone && !c.Busy() && (c.Ledger.Closed || c.Observed() && !c.Settings.CronJobs)
}

// TakeStrange returns the Jobs in other namespaces that name the CronJob as their owner, and forgets them.
func (c *CronJob) TakeStrange() []types.UID {
	strange := c.strange
	c.strange = nil
	return strange
}

// earlier returns the earlier of the times next and Pending. It ignores a Pending in the past; 0 means never.
func (c *CronJob) earlier(next events.Time) events.Time {
	if c.Pending > c.Now && (next == 0 || c.Pending < next) {
		return c.Pending
	}
	return next
}

// untold returns finished Jobs whose deletion failed, and that are still in the active list, so their SawCompletedJob
// Event is not sent yet. The next pass sends the Event before it tries the deletion again (C-105, C-123).
func (c *CronJob) untold() (kept []types.UID) {
	for _, uid := range c.Pass.Kept {
		if r := c.Runs[uid]; r != nil && r.Finished() && c.IsActive(uid) {
			kept = append(kept, uid)
		}
	}
	return kept
}
