package historytest

import (
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// Nightly is the stream (the records) of batch/nightly, the CronJob of all scenes.
var Nightly = events.CronJobStream("uid-nightly")

// Step is one record of a scene, and its time of day. It belongs to the stream of the CronJob or of the controller,
// which follows from its facts.
type Step struct {
	clock    string
	facts    events.Facts
	evidence events.Evidence
}

// Scene is a short, named history of the CronJob batch/nightly.
type Scene struct {
	Name  string
	Steps []Step
}

// At returns the instant of a time of day, such as "08:01:30", on 2026-03-02.
func At(clock string) events.Time {
	t, err := time.Parse(time.DateTime, "2026-03-02 "+clock)
	if err != nil {
		panic(err)
	}
	return events.At(t)
}

// Played returns a log with the records of the steps.
func Played(t *testing.T, steps []Step) *memlog.Log {
	t.Helper()
	log := memlog.New(events.Identity{LogID: "0f0f", Epoch: 1})
	last := map[events.Stream]events.Sequence{}
	for _, x := range append([]Step{{"00:00:00", &events.LogCreated{LogID: "0f0f", Epoch: 1, Format: events.Format}, events.Evidence{}}}, steps...) {
		s, kind := events.Controller, events.TraitsOf(x.facts).Kinds[0].Kind
		if kind.Source() != events.FromController || kind == events.KindStateStored {
			s = Nightly
		}
		of := events.Record{Header: events.Header{Stream: s}, Facts: x.facts}
		if object, subject := of.Subject(); object.Resource != 0 && object.Resource != events.ObjectCronJob && (subject || object.Resource != events.ObjectJob) {
			t.Fatalf("a scene is of a CronJob and its Jobs, and not of %T", x.facts)
		}
		switch f := x.facts.(type) {
		case *events.CronJobSeen:
			if last[s] != 0 {
				kind = events.KindCronJobChanged
			}
			seen := *f
			seen.Version, seen.Generation = uint64(log.Head().Sequence)+1, int64(log.Head().Sequence)
			x.facts = &seen
		case *events.Decision:
			for i := range f.Steps {
				if f.Steps[i].Cron != nil && slices.ContainsFunc(f.Steps[i].Cron.Ticks, func(t events.Tick) bool { return t.Observed }) {
					kind = events.KindTicksObserved
				}
			}
		}
		n := log.Head().Sequence + 1
		if x.evidence.Name = "nightly"; x.evidence.Namespace == "" {
			x.evidence.Namespace = "batch"
		}
		c := log.Append(events.Batch{Records: []events.Record{{
			Header: events.Header{Sequence: n, Time: At(x.clock), Stream: s, Previous: last[s], Kind: kind, Critical: kind.Critical(), Last: true},
			Facts:  x.facts, Evidence: x.evidence, FactsSalt: events.Salt{1}, EvidenceSalt: events.Salt{2},
		}}}, true)
		<-c.Done()
		if err := c.Err(); err != nil {
			t.Fatal(err)
		}
		last[s] = n
	}
	return log
}

// With returns the steps of a scene with one more at index k: facts, at the time of the step before.
func With(steps []Step, k int, facts events.Facts) []Step {
	return slices.Insert(slices.Clone(steps), k, Step{steps[k-1].clock, facts, events.Evidence{}})
}

// started returns the record of a controller's start. how says what it does with CronJobs: "runs", "observes", or else
// ignores them.
func started(clock, how string) Step {
	s := events.DefaultSettings()
	switch how {
	case "runs":
		s.Mode, s.CronJobs = events.ModeAll, true
	case "observes":
		s.Mode, s.CronJobs = events.ModeObserve, true
	}
	return Step{clock, &events.ControllerStarted{Settings: s}, events.Evidence{}}
}

// unwatched returns the records of a time in which nobody watched: the listing that ends it, from its beginning to its
// end.
func unwatched(from, until string) []Step {
	all := []events.Resource{events.CronJobs}
	return []Step{
		{until, &events.ListingStarted{Reason: events.ListingGap, Resources: all, LastVersions: []uint64{8}, LastSeen: At(from)}, events.Evidence{}},
		{until, &events.Synced{Resources: all, Versions: []uint64{9}}, events.Evidence{}},
	}
}

func sees(clock, schedule string, change func(f *events.CronJobSeen)) Step {
	f := &events.CronJobSeen{Schedule: schedule, Created: At("08:00:30")}
	if change != nil {
		change(f)
	}
	return Step{clock, f, events.Evidence{Edit: &events.Edit{Manager: "kubectl", Operation: "Update"}}}
}

func runs(clock, name, due string, result events.JobResult) Step {
	f := &events.RunSeen{Job: types.UID("uid-" + name), Name: name, Result: result, Created: At(clock)}
	if due != "" {
		f.Due = At(due)
	}
	return Step{clock, f, events.Evidence{}}
}

func says(clock string, l *events.TickLedger, all ...events.Tick) Step {
	return Step{clock, &events.Decision{Steps: []events.Step{{Cron: &events.CronStep{Ticks: all, Ledger: l}}}}, events.Evidence{}}
}

func fate(f events.TickFate, first, last string) events.Tick {
	return events.Tick{Fate: f, First: At(first), Last: At(last)}
}

func counts(schedule, through string, change func(l *events.TickLedger)) *events.TickLedger {
	l := &events.TickLedger{Schedule: schedule, Through: At(through)}
	if change != nil {
		change(l)
	}
	return l
}

func asks(clock, name, due string) Step {
	return Step{clock, &events.Decision{Steps: []events.Step{{Commands: []events.Command{&events.CreateJob{Name: name, Due: At(due)}}}}}, events.Evidence{}}
}

func ends(clock string, decided events.Sequence, how events.Ending, class events.RefusalClass, message string) Step {
	return Step{clock, &events.CommandEnded{Command: events.CommandID{Decided: decided}, Ending: how, Class: class, Type: events.CommandCreateJob}, events.Evidence{Message: message}}
}

func stored(clock string, s *pb.CronJobState) Step {
	b, err := proto.Marshal(&pb.JobState{CronJob: s})
	if err != nil {
		panic(err)
	}
	return Step{clock, &events.StoredState{Encoded: b}, events.Evidence{}}
}

const everyMinute, every5 = "* * * * *", "*/5 * * * *"

// Scenes has all scenes. In each of them, the records must show one fact about the due times of batch/nightly.
var Scenes = []Scene{
	{"another controller starts nothing", []Step{started("08:00:00", "observes"), sees("08:01:00", everyMinute, nil), runs("08:04:10", "other", "", events.ResultNone)}},
	{"another controller starts some", []Step{
		started("08:00:00", "observes"), sees("08:00:40", everyMinute, nil), runs("08:01:01", "a", "08:01:00", events.ResultNone), runs("08:01:30", "a", "08:01:00", events.ResultComplete),
		runs("08:04:02", "b", "08:04:00", events.ResultNone), runs("08:04:30", "hand", "08:04:00", events.ResultNone), runs("08:06:20", "late", "08:05:00", events.ResultFailed),
	}},
	{"its status alone says that it started", []Step{started("08:00:00", "observes"), sees("08:00:40", everyMinute, nil), sees("08:03:30", everyMinute, func(f *events.CronJobSeen) { f.LastSchedule = At("08:03:00") })}},
	{"its status says what is no due time", []Step{started("08:00:00", "observes"), sees("08:00:40", every5, nil), sees("08:07:30", every5, func(f *events.CronJobSeen) { f.LastSchedule = At("08:03:00") })}},
	{"a record tells what another controller did", []Step{
		started("08:00:00", "observes"), sees("08:00:40", everyMinute, nil), runs("08:03:02", "c", "08:03:00", events.ResultNone),
		says("08:03:03", counts(everyMinute, "08:03:00", nil), func() events.Tick {
			x := fate(events.TickSkipped, "08:01:00", "08:02:00")
			x.Observed, x.Into = true, At("08:03:00")
			return x
		}(), func() events.Tick {
			x := fate(events.TickStarted, "08:03:00", "08:03:00")
			x.Observed, x.Job, x.Name, x.Late, x.Seen = true, "uid-c", "c", 2*time.Second, 2*time.Second
			return x
		}()),
		runs("08:05:30", "e", "08:05:00", events.ResultNone),
	}},
	{"it is deleted while it is due", append([]Step{started("08:00:00", "observes"), sees("08:00:40", everyMinute, nil), runs("08:01:01", "a", "08:01:00", events.ResultNone)},
		Step{"08:03:30", &events.CronJobGone{}, events.Evidence{}})},
	{"nobody watched when it was deleted", append(append([]Step{started("08:00:00", "observes"), sees("08:00:40", everyMinute, nil)}, unwatched("08:02:30", "08:06:00")...),
		Step{"08:06:00", &events.CronJobGone{Missed: true}, events.Evidence{}})},
	{"the schedule is edited", []Step{
		started("08:00:00", "observes"), sees("08:00:40", everyMinute, nil), sees("08:03:30", every5, nil), runs("08:05:01", "f", "08:05:00", events.ResultNone), sees("08:07:30", everyMinute, nil),
		sees("08:09:30", everyMinute, func(f *events.CronJobSeen) { f.Template, f.Suspend = "t", true }),
	}},
	{"the schedule was edited while nobody watched", append(append([]Step{started("08:00:00", "observes"), sees("08:00:40", everyMinute, nil)}, unwatched("08:02:30", "08:06:00")...),
		sees("08:06:00", every5, func(f *events.CronJobSeen) { f.Found = true }), runs("08:10:01", "g", "08:10:00", events.ResultNone))},
	{"ours, and held back", []Step{
		started("08:00:00", "runs"), sees("08:00:40", every5, func(f *events.CronJobSeen) {
			f.Policy, f.Active = "Forbid", []events.RunName{{UID: "uid-a", Name: "a"}}
		}),
		says("08:05:00", counts(every5, "08:00:30", func(l *events.TickLedger) { l.Open, l.Hold = At("08:05:00"), events.HeldForbid })), runs("08:06:00", "a", "08:00:00", events.ResultComplete),
		says("08:10:00", counts(every5, "08:05:00", func(l *events.TickLedger) { l.Open = At("08:10:00") }), func() events.Tick {
			x := fate(events.TickMerged, "08:05:00", "08:05:00")
			x.Into = At("08:10:00")
			return x
		}()),
	}},
	{"ours, and suspended", []Step{
		started("08:00:00", "runs"), sees("08:00:40", every5, func(f *events.CronJobSeen) { f.Suspend = true }),
		says("08:05:00", counts(every5, "08:00:30", func(l *events.TickLedger) { l.Open, l.Hold = At("08:05:00"), events.HeldSuspended })), runs("08:17:00", "hand", "", events.ResultNone),
	}},
	{"ours, and nothing was decided", []Step{started("08:00:00", "runs"), sees("08:00:40", every5, nil), says("08:05:00", counts(every5, "08:05:00", nil), fate(events.TickStarted, "08:05:00", "08:05:00")), runs("08:17:00", "x", "", events.ResultNone)}},
	{"ours, and deleted while one is open", []Step{
		started("08:00:00", "runs"), sees("08:00:40", every5, nil), says("08:05:00", counts(every5, "08:00:30", func(l *events.TickLedger) { l.Open, l.Hold = At("08:05:00"), events.HeldForbid })),
		{"08:12:00", &events.CronJobGone{}, events.Evidence{}},
	}},
	{"ours, and over", []Step{
		started("08:00:00", "runs"), sees("08:00:40", every5, nil), {"08:12:00", &events.CronJobGone{}, events.Evidence{}},
		says("08:12:00", counts(every5, "08:12:00", func(l *events.TickLedger) { l.Closed = true }), fate(events.TickDeleted, "08:05:00", "08:10:00")),
	}},
	{"Jobs are refused", []Step{
		started("08:00:00", "runs"), sees("08:00:40", every5, nil), asks("08:05:00", "n-1", "08:05:00"), ends("08:05:01", 4, events.Refused, events.RefusedQuota, "exceeded quota"),
		asks("08:05:10", "n-1", "08:05:00"), ends("08:05:11", 6, events.Refused, events.RefusedQuota, "exceeded quota again"), asks("08:05:20", "n-1", "08:05:00"),
		ends("08:05:21", 8, events.OutcomeUnknown, 0, "timeout"), asks("08:05:30", "n-1", "08:05:00"), ends("08:05:31", 10, events.Done, 0, ""), asks("08:10:00", "n-2", "08:10:00"),
		ends("08:10:01", 12, events.Refused, events.RefusedQuota, "exceeded quota"), ends("08:10:02", 12, events.Refused, events.RefusedQuota, "it is told twice"),
		ends("08:10:03", 99, events.Refused, events.RefusedQuota, "nobody asked"), asks("08:10:10", "n-3", "08:10:00"), ends("08:10:11", 16, events.Withdrawn, 0, ""),
	}},
	{"a controller that leaves CronJobs alone came", []Step{
		started("08:00:00", "observes"), sees("08:00:40", everyMinute, nil), runs("08:01:01", "a", "08:01:00", events.ResultNone), started("08:03:00", "alone"), started("08:04:00", "alone"),
	}},
	{"one that ran them left", []Step{started("08:00:00", "runs"), sees("08:00:40", everyMinute, nil), says("08:01:00", counts(everyMinute, "08:01:00", nil), fate(events.TickStarted, "08:01:00", "08:01:00")), started("08:03:30", "alone")}},
	{"nobody ever recorded CronJobs", []Step{started("08:00:00", "alone"), sees("08:00:40", everyMinute, nil), runs("08:02:00", "x", "", events.ResultNone)}},
	{"seen first after it had started", []Step{started("08:10:00", "runs"), sees("08:10:40", every5, func(f *events.CronJobSeen) { f.LastSchedule = At("08:10:00") }), says("08:15:00", counts(every5, "08:15:00", nil), fate(events.TickStarted, "08:15:00", "08:15:00"))}},
	{"read from a state on", []Step{
		started("08:00:00", "runs"), sees("08:00:40", everyMinute, nil), sees("08:03:30", "0 * * * *", nil), says("08:04:00", counts(every5, "08:03:00", nil)),
		stored("08:20:00", &pb.CronJobState{
			Facts: events.CronJobToWire(&events.CronJobSeen{Schedule: every5, Created: At("08:00:30"), LastSchedule: At("08:10:00")}), LastSchedule: int64(At("08:15:00")),
			Ledger: events.LedgerToWire(&events.TickLedger{Schedule: every5, Through: At("08:15:00"), Open: At("08:20:00"), Hold: events.HeldForbid}),
		}),
		says("08:25:00", counts(every5, "08:20:00", func(l *events.TickLedger) { l.Open = At("08:25:00") }), fate(events.TickMerged, "08:20:00", "08:20:00")),
	}},
	{"another one came under its name", []Step{started("08:00:00", "observes"), sees("08:00:40", everyMinute, nil), runs("08:01:01", "a", "08:01:00", events.ResultNone)}},
	{"long ranges", []Step{started("08:00:00", "runs"), sees("08:00:40", "@every 1s", nil)}},
	{"how many there are between", []Step{started("08:00:00", "runs"), sees("08:00:40", everyMinute, nil)}},
	{"a zone that is not known", []Step{started("08:00:00", "observes"), sees("08:00:40", everyMinute, func(f *events.CronJobSeen) { f.TimeZone = new("Moon/Tycho") }), runs("08:05:00", "a", "08:03:00", events.ResultNone)}},
}
