package projector

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
	"github.com/jobledger/jobledger/internal/subject/ticks"
)

// CronJob is a CronJob as the records of its stream tell of it. What the built-in controller does in one reconcile
// takes several decisions here, each with what the ends of the commands before it have told: Pass is what has been done
// of it.
type CronJob struct {
	Stream   events.Stream
	Ref      events.JobRef
	Settings *events.Settings
	Now      events.Time
	Head     events.Sequence

	Seen events.CronJobSeen // as its object was seen last, with the status that we have written since
	Gone bool

	// What the status is to say. setActive changes the list.
	Active                    []events.RunName
	LastSchedule, LastSuccess events.Time

	Runs     map[types.UID]*Run // Jobs that are the CronJob's (C-101); putRun and dropRun change it
	Ledger   events.TickLedger  // of due times; not yet begun while Counting is false
	Counting bool
	Watched  events.Time // when the newest controller started, or saw it first
	// Edited is when its schedule or its zone was changed, while nothing has happened since; 0 for not. It is looked at
	// when it is Pending (C-093): a time of which the schedule of now does not tell. So it stands after a suspension. It
	// is 0 for never, and may be over.
	Edited, Pending events.Time
	Pass            CronPass
	Start           *CronStart // a run that is being started; nil for none
	// Late are runs whose create may yet reach the API server: its outcome was unknown, and a live read did not find the
	// Job. One whose stage is StartThere has come.
	Late []CronStart
	// Freed is when the Job of the run that started last went, after it had ended; 0 for not. Until then it had the name
	// of all due times of its minute (C-152), so none of them that is no later starts (C-085).
	Freed events.Time
	Look  bool // its object is read before the status is written: it may be another one by now
	// Triggered is the value of the newest trigger that has been dealt with.
	Triggered string
	// Went are Jobs that were seen to go since the commands in flight were asked for: what those bring along of them is
	// older.
	Went []types.UID

	Sight CronSight // of what another controller does

	byName  []*Run             // Runs, by name
	listed  map[types.UID]bool // the Jobs in Active; nil while these are few
	strange []types.UID        // Jobs that named it and are in another namespace: the World forgets them
	book    commands.Book[*CronJob]
	zones   *zones // the World's
	watch   *watch // the World's
	plan    CronPlan
	heard   bool            // a Job named it
	first   events.Sequence // its first record
	stating links[CronJob]  // its place in World.crons
}

// Run is a Job of a CronJob.
type Run struct {
	events.RunSeen
	Told    bool        // the ledger says how it came about
	Removed bool        // the API server has deleted it at our request; what is seen of it without a deletion is older
	First   events.Time // when it was seen first
}

// Finished reports whether the Job has ended (C-102).
func (r *Run) Finished() bool { return r.Result != events.ResultNone }

// Deleting reports whether the Job is being deleted, or is gone and the watch has not shown it yet.
func (r *Run) Deleting() bool { return r.Deleted != 0 || r.Removed }

// Vanished: the API server has deleted it at our request, and nothing shows that it is still there, being deleted.
func (r *Run) Vanished() bool { return r.Removed && r.Deleted == 0 }

// CronPass is what has been done since something last happened to the CronJob: once each, as in one reconcile of the
// built-in.
type CronPass struct {
	Told                 []string    // reasons of notices
	Kept, Found, Missing []types.UID // Jobs whose deletion failed, that a live read has found, and that it has not
	Read                 bool        // the CronJob itself was read
	Over                 bool        // an error ended it: it begins again after a backoff (C-190)
	Unwritten            bool        // the status could not be written
	Tried                bool        // a Job was to be created
	Since                events.Time // when it began
}

// StartStage is how far the start of a run has come. Numbers are for ever.
type StartStage uint8

// The stages.
const (
	StartAsked   StartStage = 1 // its create is in flight
	StartUnknown StartStage = 2 // it may have been made
	StartTaken   StartStage = 3 // something of its name exists (C-160)
	StartThere   StartStage = 4 // it is there
	StartRefused StartStage = 5 // the API server refused it
	StartForeign StartStage = 6 // what has its name is not the CronJob's
	StartMissing StartStage = 7 // of a run that was asked for: it was not made, and is asked for again
	StartAnother StartStage = 8 // what has its name is the Job of another due time of that minute (C-152)
	StartLater   StartStage = 9 // of a run that was asked for: the API server failed, and is asked again for a while
)

// CronStart is a run that is being started.
type CronStart struct {
	events.CreateJob
	Stage StartStage
	Made  events.RunName // when it is there
	At    events.Time    // when it was made
}

// newCronJob is a CronJob of which nothing is known but its stream.
func newCronJob(stream events.Stream, w *World) *CronJob {
	settings := &w.Settings
	c := &CronJob{
		Stream: stream, Ref: events.JobRef{UID: types.UID(stream.ID)}, Settings: settings, zones: w.zones, watch: &w.watch,
		Runs: map[types.UID]*Run{},
	}
	c.book = commands.New(c, &cronRows, settings)
	return c
}

// Known reports whether the CronJob's object has been seen. Jobs that name it may be seen before.
func (c *CronJob) Known() bool { return c.Seen.Version != 0 }

// Anchor is the instant from which due times are counted (C-071).
func (c *CronJob) Anchor() events.Time {
	if c.LastSchedule != 0 {
		return c.LastSchedule
	}
	return c.Seen.Created
}

// nextLook is W of C-085; 0 for never.
func (c *CronJob) nextLook() events.Time {
	if at := c.plan.Schedule.Wake(c.Anchor().Go(), c.Now.Go()); !at.IsZero() {
		return events.At(at)
	}
	return 0
}

// Behind reports whether the published status says something else than it is to.
func (c *CronJob) Behind() bool {
	s := &c.Seen
	return c.LastSchedule != s.LastSchedule || c.LastSuccess != s.LastSuccess || !slices.Equal(c.Active, s.Active)
}

// Unwatched are the times in which no controller watched it, in order. Since the newest one runs, it has decided
// also while a list was under way.
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

// Retry is what was learnt from requests that failed.
func (c *CronJob) Retry() *commands.Retry { return c.book.Shared(events.BackoffCron) }

// Busy reports whether a command of the CronJob is in flight.
func (c *CronJob) Busy() bool { return c.book.Busy() }

// ID is the CronJob's stream.
func (c *CronJob) ID() events.Stream { return c.Stream }

// Reference names the CronJob.
func (c *CronJob) Reference() events.JobRef { return c.Ref }

// Time is the time of the newest record that concerned the CronJob.
func (c *CronJob) Time() events.Time { return c.Now }

// Last is the newest record of the CronJob's stream.
func (c *CronJob) Last() events.Sequence { return c.Head }

// Due is now: what a CronJob waits for is found by deciding.
func (c *CronJob) Due(now events.Time) events.Time { return now }

// Observed reports whether another controller runs it, and we only look at it.
func (c *CronJob) Observed() bool { return !c.Settings.RunsCronJobs() }

// Flights are the commands in flight, in the order in which they were decided.
func (c *CronJob) Flights() []*commands.Flight { return c.book.InOrder() }

// InFlight is the command of that name; nil when it has ended.
func (c *CronJob) InFlight(name events.CommandID) events.Command { return c.book.InFlight(name) }

// over: it is gone, and what became of its due times is told; or it was never seen, and no Job names it any more.
func (c *CronJob) over() bool {
	if !c.Known() {
		return len(c.Runs) == 0 && c.heard
	}
	return c.Gone && !c.Busy() && (c.Ledger.Closed || c.Observed() && !c.Settings.CronJobs)
}

func (c *CronJob) began() events.Sequence { return c.first }

// earlier is the earlier one of a time and the pending one, which may be over; 0 for never.
func (c *CronJob) earlier(next events.Time) events.Time {
	if c.Pending > c.Now && (next == 0 || c.Pending < next) {
		return c.Pending
	}
	return next
}

// untold are finished Jobs whose deletion failed, and whose SawCompletedJob is not sent yet, as they are still in the
// list of active Jobs. Another pass does not try the deletion again before (C-105, C-123).
func (c *CronJob) untold() (kept []types.UID) {
	for _, uid := range c.Pass.Kept {
		if r := c.Runs[uid]; r != nil && r.Finished() && c.IsActive(uid) {
			kept = append(kept, uid)
		}
	}
	return kept
}
