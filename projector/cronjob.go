package projector

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/commands"
)

// CronJob is a CronJob as the records of its stream tell of it. What the built-in controller does in one reconcile takes several
// decisions here, each with what the ends of the commands before it have told: Pass is what has been done of it.
type CronJob struct {
	Stream   events.Stream
	Ref      events.JobRef
	Settings *events.Settings
	Now      events.Time
	Head     events.Sequence

	Seen events.CronJobSeen // as its object was seen last, with the status that we have written since
	Gone bool

	// What the status is to say.
	Active                    []events.RunName
	LastSchedule, LastSuccess events.Time

	Runs     map[types.UID]*Run // Jobs that are the CronJob's (C-101)
	Ledger   events.TickLedger  // of due times; not yet begun while Counting is false
	Counting bool
	Watched  events.Time // since when a controller has watched it without a gap
	// Edited is when its schedule or its zone was changed, while nothing has happened since: it waits for its next due time (C-093). 0 for not.
	Edited events.Time
	Pass   CronPass
	Start  *CronStart // a run that is being started; nil for none
	Look   bool       // its object is read before the status is written: it may be another one by now
	// Triggered is the value of the newest trigger that has been dealt with.
	Triggered string

	book    commands.Book[*CronJob]
	zones   *zones // the World's
	plan    CronPlan
	heard   bool            // a Job named it
	first   events.Sequence // its first record
	stating links[CronJob]  // its place in World.crons
}

// Run is a Job of a CronJob.
type Run struct {
	events.RunSeen
	Told bool // that somebody made it by hand stands in the ledger
}

// Finished reports whether the Job has ended (C-102).
func (r *Run) Finished() bool { return r.Result != events.ResultNone }

// CronPass is what has been done since something last happened to the CronJob: once each, as in one reconcile of the built-in.
type CronPass struct {
	Told                 []string    // reasons of notices
	Kept, Found, Missing []types.UID // Jobs whose deletion failed, that a live read has found, and that it has not
	Read                 bool        // the CronJob itself was read
	Over                 bool        // an error ended it: it begins again after a backoff (C-190)
	Unwritten            bool        // the status could not be written
	Tried                bool        // a Job was to be created
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
)

// CronStart is a run that is being started.
type CronStart struct {
	events.CreateJob
	Stage StartStage
	Made  events.RunName // when it is there
	At    events.Time    // when it was made
}

// newCronJob is a CronJob of which nothing is known but its stream.
func newCronJob(stream events.Stream, settings *events.Settings, z *zones) *CronJob {
	c := &CronJob{
		Stream: stream, Ref: events.JobRef{UID: types.UID(stream.ID)}, Settings: settings, zones: z, Runs: map[types.UID]*Run{},
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

// IsActive reports whether a Job is in the list of active ones.
func (c *CronJob) IsActive(uid types.UID) bool {
	return slices.ContainsFunc(c.Active, func(r events.RunName) bool { return r.UID == uid })
}

// SortedRuns are the CronJob's Jobs by name, and by UID those of the same.
func (c *CronJob) SortedRuns() []*Run {
	all := make([]*Run, 0, len(c.Runs))
	for _, r := range c.Runs {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *Run) int { return compareRuns(&a.RunSeen, &b.RunSeen) })
	return all
}

// Behind reports whether the published status says something else than it is to.
func (c *CronJob) Behind() bool {
	s := &c.Seen
	return c.LastSchedule != s.LastSchedule || c.LastSuccess != s.LastSuccess || !slices.Equal(c.Active, s.Active)
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

// InFlight is the command of that name; nil when it has ended.
func (c *CronJob) InFlight(name events.CommandID) events.Command { return c.book.InFlight(name) }

// Retrying is nil: no command of a CronJob is asked again as it is.
func (c *CronJob) Retrying(events.CommandID) (*commands.Flight, *commands.Retry) { return nil, nil }

// AllRetrying is empty.
func (c *CronJob) AllRetrying() []events.CommandID { return nil }

// GaveUp is false: no command of a CronJob is withdrawn.
func (c *CronJob) GaveUp(events.CommandID) bool { return false }

// Pod is nil: a CronJob holds no pods.
func (c *CronJob) Pod(types.UID) *Pod { return nil }

// over: it is gone, and what became of its due times is told; or it was never seen, and no Job names it any more.
func (c *CronJob) over() bool {
	if !c.Known() {
		return len(c.Runs) == 0 && c.heard
	}
	return c.Gone && !c.Busy() && (c.Ledger.Closed || c.Observed())
}

func (c *CronJob) began() events.Sequence { return c.first }
func (c *CronJob) holder() *Job           { return nil }

// CronJob is the CronJob of a stream; nil when there is none.
func (w *World) CronJob(s events.Stream) *CronJob {
	c, _ := w.subjects[s].(*CronJob)
	return c
}

// CronJobs are all CronJobs, also those not yet seen, in the order in which their streams began.
func (w *World) CronJobs() []*CronJob {
	var out []*CronJob
	for _, s := range w.Subjects() {
		if c, ok := s.(*CronJob); ok {
			out = append(out, c)
		}
	}
	return out
}
