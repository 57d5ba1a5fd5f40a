package duetimes

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/history"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
	"github.com/jobledger/jobledger/store/memlog"
)

// step is a record of a scene: at a time of day, of the controller's stream where its facts are the controller's.
type step struct {
	clock    string
	facts    events.Facts
	evidence events.Evidence
}

// scene is a small history of batch/nightly.
type scene struct {
	name  string
	steps []step
	ask   func(c *CronJob) string // what else is asked; nil for nothing
}

// at is a time of day with seconds.
func at(clock string) events.Time {
	t, err := time.Parse(time.DateTime, "2026-03-02 "+clock)
	if err != nil {
		panic(err)
	}
	return events.At(t)
}

func played(t *testing.T, steps []step) *memlog.Log {
	t.Helper()
	log := memlog.New(events.Identity{LogID: "0f0f", Epoch: 1})
	last := map[events.Stream]events.Sequence{}
	for _, x := range append([]step{{"00:00:00", &events.LogCreated{LogID: "0f0f", Epoch: 1, Format: events.Format}, events.Evidence{}}}, steps...) {
		s, kind := events.Controller, events.KindLogCreated
		switch f := x.facts.(type) {
		case *events.ControllerStarted:
			kind = events.KindControllerStarted
		case *events.ListingStarted:
			kind = events.KindListingStarted
		case *events.Synced:
			kind = events.KindSynced
		case *events.LogCreated:
		case *events.CronJobSeen:
			s, kind = nightly, events.KindCronJobChanged
		case *events.CronJobGone:
			s, kind = nightly, events.KindCronJobDeleted
		case *events.RunSeen:
			s, kind = nightly, events.KindRunSeen
		case *events.RunGone:
			s, kind = nightly, events.KindRunGone
		case *events.CommandEnded:
			s, kind = nightly, events.KindCommandEnded
		case *events.StoredState:
			s, kind = nightly, events.KindStateStored
		case *events.Decision:
			s, kind = nightly, events.KindDecided
			for i := range f.Steps {
				if f.Steps[i].Cron != nil && slices.ContainsFunc(f.Steps[i].Cron.Ticks, func(t events.Tick) bool { return t.Observed }) {
					kind = events.KindTicksObserved
				}
			}
		default:
			t.Fatalf("%T", x.facts)
		}
		n := log.Head().Sequence + 1
		if x.evidence.Name = "nightly"; x.evidence.Namespace == "" {
			x.evidence.Namespace = "batch"
		}
		c := log.Append(events.Batch{Records: []events.Record{{
			Header: events.Header{Sequence: n, Time: at(x.clock), Stream: s, Previous: last[s], Kind: kind, Critical: kind.Critical(), Last: true},
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

// started is the start of a controller that runs CronJobs, observes them, or leaves them alone.
func started(clock, how string) step {
	s := events.DefaultSettings()
	switch how {
	case "runs":
		s.Mode, s.CronJobs = events.ModeAll, true
	case "observes":
		s.Mode, s.CronJobs = events.ModeObserve, true
	}
	return step{clock, &events.ControllerStarted{Settings: s}, events.Evidence{}}
}

// unwatched is a time in which nobody watched, and how it ended.
func unwatched(from, until string) []step {
	all := []events.Resource{events.CronJobs}
	return []step{
		{until, &events.ListingStarted{Reason: events.ListingGap, Resources: all, LastVersions: []uint64{8}, LastSeen: at(from)}, events.Evidence{}},
		{until, &events.Synced{Resources: all, Versions: []uint64{9}}, events.Evidence{}},
	}
}

func sees(clock, schedule string, change func(f *events.CronJobSeen)) step {
	f := &events.CronJobSeen{Schedule: schedule, Created: at("08:00:30")}
	if change != nil {
		change(f)
	}
	return step{clock, f, events.Evidence{Edit: &events.Edit{Manager: "kubectl", Operation: "Update"}}}
}

func runs(clock, name, due string, result events.JobResult) step {
	f := &events.RunSeen{Job: types.UID("uid-" + name), Name: name, Result: result, Created: at(clock)}
	if due != "" {
		f.Due = at(due)
	}
	return step{clock, f, events.Evidence{}}
}

func says(clock string, l *events.TickLedger, all ...events.Tick) step {
	return step{clock, decided(l, all...), events.Evidence{}}
}

func fate(f events.TickFate, first, last string) events.Tick {
	return events.Tick{Fate: f, First: at(first), Last: at(last)}
}

func counts(schedule, through string, change func(l *events.TickLedger)) *events.TickLedger {
	l := &events.TickLedger{Schedule: schedule, Through: at(through)}
	if change != nil {
		change(l)
	}
	return l
}

func asks(clock, name, due string) step {
	return step{clock, &events.Decision{Steps: []events.Step{{Commands: []events.Command{&events.CreateJob{Name: name, Due: at(due)}}}}}, events.Evidence{}}
}

func ends(clock string, decided events.Sequence, how events.Ending, class events.RefusalClass, message string) step {
	return step{clock, &events.CommandEnded{Command: events.CommandID{Decided: decided}, Ending: how, Class: class, Type: events.CommandCreateJob}, events.Evidence{Message: message}}
}

func stored(clock string, s *pb.CronJobState) step {
	b, err := proto.Marshal(&pb.JobState{CronJob: s})
	if err != nil {
		panic(err)
	}
	return step{clock, &events.StoredState{Encoded: b}, events.Evidence{}}
}

const everyMinute, every5 = "* * * * *", "*/5 * * * *"

var scenes = []scene{
	{"another controller starts nothing", []step{started("08:00:00", "observes"), sees("08:01:00", everyMinute, nil), runs("08:04:10", "other", "", events.ResultNone)}, nil},
	{"another controller starts some", []step{
		started("08:00:00", "observes"), sees("08:00:40", everyMinute, nil), runs("08:01:01", "a", "08:01:00", events.ResultNone), runs("08:01:30", "a", "08:01:00", events.ResultComplete),
		runs("08:04:02", "b", "08:04:00", events.ResultNone), runs("08:04:30", "hand", "08:04:00", events.ResultNone), runs("08:06:20", "late", "08:05:00", events.ResultFailed),
	}, nil},
	{"its status alone says that it started", []step{started("08:00:00", "observes"), sees("08:00:40", everyMinute, nil), sees("08:03:30", everyMinute, func(f *events.CronJobSeen) { f.LastSchedule = at("08:03:00") })}, nil},
	{"its status says what is no due time", []step{started("08:00:00", "observes"), sees("08:00:40", every5, nil), sees("08:07:30", every5, func(f *events.CronJobSeen) { f.LastSchedule = at("08:03:00") })}, nil},
	{"a record tells what another controller did", []step{
		started("08:00:00", "observes"), sees("08:00:40", everyMinute, nil), runs("08:03:02", "c", "08:03:00", events.ResultNone),
		says("08:03:03", counts(everyMinute, "08:03:00", nil), func() events.Tick {
			x := fate(events.TickSkipped, "08:01:00", "08:02:00")
			x.Observed, x.Into = true, at("08:03:00")
			return x
		}(), func() events.Tick {
			x := fate(events.TickStarted, "08:03:00", "08:03:00")
			x.Observed, x.Job, x.Name, x.Late, x.Seen = true, "uid-c", "c", 2*time.Second, 2*time.Second
			return x
		}()),
		runs("08:05:30", "e", "08:05:00", events.ResultNone),
	}, nil},
	{"it is deleted while it is due", append([]step{started("08:00:00", "observes"), sees("08:00:40", everyMinute, nil), runs("08:01:01", "a", "08:01:00", events.ResultNone)},
		step{"08:03:30", &events.CronJobGone{}, events.Evidence{}}), nil},
	{"nobody watched when it was deleted", append(append([]step{started("08:00:00", "observes"), sees("08:00:40", everyMinute, nil)}, unwatched("08:02:30", "08:06:00")...),
		step{"08:06:00", &events.CronJobGone{Missed: true}, events.Evidence{}}), nil},
	{"the schedule is edited", []step{
		started("08:00:00", "observes"), sees("08:00:40", everyMinute, nil), sees("08:03:30", every5, nil), runs("08:05:01", "f", "08:05:00", events.ResultNone), sees("08:07:30", everyMinute, nil),
		sees("08:09:30", everyMinute, func(f *events.CronJobSeen) { f.Template, f.Suspend = "t", true }),
	}, nil},
	{"the schedule was edited while nobody watched", append(append([]step{started("08:00:00", "observes"), sees("08:00:40", everyMinute, nil)}, unwatched("08:02:30", "08:06:00")...),
		sees("08:06:00", every5, func(f *events.CronJobSeen) { f.Found = true }), runs("08:10:01", "g", "08:10:00", events.ResultNone)), nil},
	{"ours, and held back", []step{
		started("08:00:00", "runs"), sees("08:00:40", every5, func(f *events.CronJobSeen) {
			f.Policy, f.Active = "Forbid", []events.RunName{{UID: "uid-a", Name: "a"}}
		}),
		says("08:05:00", counts(every5, "08:00:30", func(l *events.TickLedger) { l.Open, l.Hold = at("08:05:00"), events.HeldForbid })), runs("08:06:00", "a", "08:00:00", events.ResultComplete),
		says("08:10:00", counts(every5, "08:05:00", func(l *events.TickLedger) { l.Open = at("08:10:00") }), func() events.Tick {
			x := fate(events.TickMerged, "08:05:00", "08:05:00")
			x.Into = at("08:10:00")
			return x
		}()),
	}, nil},
	{"ours, and suspended", []step{
		started("08:00:00", "runs"), sees("08:00:40", every5, func(f *events.CronJobSeen) { f.Suspend = true }),
		says("08:05:00", counts(every5, "08:00:30", func(l *events.TickLedger) { l.Open, l.Hold = at("08:05:00"), events.HeldSuspended })), runs("08:17:00", "hand", "", events.ResultNone),
	}, nil},
	{"ours, and nothing was decided", []step{started("08:00:00", "runs"), sees("08:00:40", every5, nil), says("08:05:00", counts(every5, "08:05:00", nil), fate(events.TickStarted, "08:05:00", "08:05:00")), runs("08:17:00", "x", "", events.ResultNone)}, nil},
	{"ours, and deleted while one is open", []step{
		started("08:00:00", "runs"), sees("08:00:40", every5, nil), says("08:05:00", counts(every5, "08:00:30", func(l *events.TickLedger) { l.Open, l.Hold = at("08:05:00"), events.HeldForbid })),
		{"08:12:00", &events.CronJobGone{}, events.Evidence{}},
	}, nil},
	{"ours, and over", []step{
		started("08:00:00", "runs"), sees("08:00:40", every5, nil), {"08:12:00", &events.CronJobGone{}, events.Evidence{}},
		says("08:12:00", counts(every5, "08:12:00", func(l *events.TickLedger) { l.Closed = true }), fate(events.TickDeleted, "08:05:00", "08:10:00")),
	}, nil},
	{"Jobs are refused", []step{
		started("08:00:00", "runs"), sees("08:00:40", every5, nil), asks("08:05:00", "n-1", "08:05:00"), ends("08:05:01", 4, events.Refused, events.RefusedQuota, "exceeded quota"),
		asks("08:05:10", "n-1", "08:05:00"), ends("08:05:11", 6, events.Refused, events.RefusedQuota, "exceeded quota again"), asks("08:05:20", "n-1", "08:05:00"),
		ends("08:05:21", 8, events.OutcomeUnknown, 0, "timeout"), asks("08:05:30", "n-1", "08:05:00"), ends("08:05:31", 10, events.Done, 0, ""), asks("08:10:00", "n-2", "08:10:00"),
		ends("08:10:01", 12, events.Refused, events.RefusedQuota, "exceeded quota"), ends("08:10:02", 12, events.Refused, events.RefusedQuota, "it is told twice"),
		ends("08:10:03", 99, events.Refused, events.RefusedQuota, "nobody asked"), asks("08:10:10", "n-3", "08:10:00"), ends("08:10:11", 16, events.Withdrawn, 0, ""),
	}, nil},
	{"a controller that leaves CronJobs alone came", []step{
		started("08:00:00", "observes"), sees("08:00:40", everyMinute, nil), runs("08:01:01", "a", "08:01:00", events.ResultNone), started("08:03:00", "alone"), started("08:04:00", "alone"),
	}, nil},
	{"one that ran them left", []step{started("08:00:00", "runs"), sees("08:00:40", everyMinute, nil), says("08:01:00", counts(everyMinute, "08:01:00", nil), fate(events.TickStarted, "08:01:00", "08:01:00")), started("08:03:30", "alone")}, nil},
	{"nobody ever recorded CronJobs", []step{started("08:00:00", "alone"), sees("08:00:40", everyMinute, nil), runs("08:02:00", "x", "", events.ResultNone)}, nil},
	{"seen first after it had started", []step{started("08:10:00", "runs"), sees("08:10:40", every5, func(f *events.CronJobSeen) { f.LastSchedule = at("08:10:00") }), says("08:15:00", counts(every5, "08:15:00", nil), fate(events.TickStarted, "08:15:00", "08:15:00"))},
		func(c *CronJob) string {
			text := ""
			for _, clock := range []string{"08:00:00", "08:00:30", "08:05:00", "08:07:00", "08:10:00", "08:10:01", "08:12:00"} {
				is, first := c.Before(at(clock))
				text += fmt.Sprintf("  %s: %t #%d, %s\n", clock, is, first.Record, c.saysAt(at(clock).Go()))
			}
			return text
		}},
	{"read from a state on", []step{
		started("08:00:00", "runs"), sees("08:00:40", everyMinute, nil), sees("08:03:30", "0 * * * *", nil), says("08:04:00", counts(every5, "08:03:00", nil)),
		stored("08:20:00", &pb.CronJobState{
			Facts: events.CronJobToWire(&events.CronJobSeen{Schedule: every5, Created: at("08:00:30"), LastSchedule: at("08:10:00")}), LastSchedule: int64(at("08:15:00")),
			Ledger: events.LedgerToWire(&events.TickLedger{Schedule: every5, Through: at("08:15:00"), Open: at("08:20:00"), Hold: events.HeldForbid}),
		}),
		says("08:25:00", counts(every5, "08:20:00", func(l *events.TickLedger) { l.Open = at("08:25:00") }), fate(events.TickMerged, "08:20:00", "08:20:00")),
	}, nil},
	{"another one came under its name", []step{started("08:00:00", "observes"), sees("08:00:40", everyMinute, nil), runs("08:01:01", "a", "08:01:00", events.ResultNone)}, func(c *CronJob) string {
		c.EndBy(0)
		text := fmt.Sprintf("  %s %t\n", clock(c.Gone), c.EndUnseen)
		c.EndBy(at("08:05:30"))
		c.now = at("08:10:00")
		for i := range c.Untold() {
			text += "  " + c.saysEntry(&c.Untold()[i]) + "\n"
		}
		c.EndBy(at("08:09:00"))
		return text + fmt.Sprintf("  %s %t\n", clock(c.Gone), c.EndUnseen)
	}},
	{"long ranges", []step{started("08:00:00", "runs"), sees("08:00:40", "@every 1s", nil)}, func(c *CronJob) string {
		text := ""
		by := counts("@every 1s", "08:00:00", nil)
		for i, d := range []time.Duration{0, time.Second, (mostCounted - 2) * time.Second, (mostCounted - 1) * time.Second, mostCounted * time.Second, longestCounted, longestCounted + 1} {
			e := Entry{Tick: events.Tick{First: at("08:00:00"), Last: at("08:00:00").Add(d)}, by: by, Record: events.Sequence(i + 1)}
			for range 2 {
				n, ok := c.Count(&e)
				text += fmt.Sprintf("  %s: %d %t\n", d, n, ok)
			}
		}
		for _, by := range []*events.TickLedger{nil, counts("often", "08:00:00", nil), counts("0 0 1 1 *", "08:00:00", nil)} {
			e := Entry{Tick: events.Tick{First: at("08:00:00"), Last: at("09:00:00")}, by: by, Record: 99}
			n, ok := c.Count(&e)
			c.counts = nil
			text += fmt.Sprintf("  %v: %d %t, until %s, lost %t\n", by, n, ok, clock(c.Until(&e, e.First)), c.Lost(&e, e.First))
		}
		return text
	}},
	{"how many there are between", []step{started("08:00:00", "runs"), sees("08:00:40", everyMinute, nil)}, func(c *CronJob) string {
		text := fmt.Sprintf("  in %v\n", c.Location())
		for _, minutes := range []int{0, 1, 99, 100, 101} {
			n, more := c.Between(at("08:00:00").Go(), at("08:00:00").Go().Add(time.Duration(minutes)*time.Minute))
			text += fmt.Sprintf("  in %d minutes %d %t\n", minutes, n, more)
		}
		c.Seen = nil
		n, more := c.Between(at("08:00:00").Go(), at("09:00:00").Go())
		return text + fmt.Sprintf("  unseen %d %t in %v\n", n, more, c.Location())
	}},
	{"a zone that is not known", []step{started("08:00:00", "observes"), sees("08:00:40", everyMinute, func(f *events.CronJobSeen) { f.TimeZone = new("Moon/Tycho") }), runs("08:05:00", "a", "08:03:00", events.ResultNone)}, func(c *CronJob) string {
		n, more := c.Between(at("08:00:00").Go(), at("09:00:00").Go())
		return fmt.Sprintf("  %d %t in %v\n", n, more, c.Location())
	}},
}

// TestScenesAreAsKept writes what is told of each scene, around each of its instants, and what a look further back adds. Newest and Around say
// the same of them.
func TestScenesAreAsKept(t *testing.T) {
	var out bytes.Buffer
	for _, x := range scenes {
		src := history.Local{Log: played(t, x.steps)}
		fmt.Fprintln(&out, "==", x.name)
		for _, read := range []func() (*CronJob, error){
			func() (*CronJob, error) { return Read(t.Context(), src, nightly) },
			func() (*CronJob, error) { return Newest(t.Context(), src, nightly, 0) },
		} {
			c, err := read()
			if err != nil {
				t.Fatal(x.name, err)
			}
			told := c.says()
			for _, field := range slices.Sorted(maps.Keys(told)) {
				fmt.Fprintf(&out, "%s: %s\n", field, told[field])
			}
			if c.Told != 0 {
				if err := c.LookBack(t.Context(), src, nightly); err != nil {
					t.Fatal(err)
				}
				for i := range c.Changes {
					fmt.Fprintf(&out, "before: change #%d %s → %s\n", c.Changes[i].Record, c.Changes[i].Before.Schedule, c.Changes[i].After.Schedule)
				}
				continue
			}
			fmt.Fprintf(&out, "as of %s, first %s\n", clock(c.Now()), c.SeenFirst().Schedule)
			if x.ask != nil {
				out.WriteString(x.ask(c))
				break
			}
			for minute := range 24 {
				due := at("07:59:00").Add(time.Duration(minute) * time.Minute)
				if due > c.now.Add(2*time.Minute) {
					break
				}
				fmt.Fprintf(&out, "  %s: %s; half: %s\n", clock(due), c.saysAt(due.Go()), verdictOf(c, due.Add(30*time.Second).Go()))
				around, err := Around(t.Context(), src, nightly, due)
				if err != nil || verdictOf(around, due.Go()) != verdictOf(c, due.Go()) {
					t.Errorf("%s: around %s it is %s (%v), want %s", x.name, clock(due), verdictOf(around, due.Go()), err, verdictOf(c, due.Go()))
				}
			}
			break
		}
	}
	keep(t, "testdata/scenes.txt", out.String())
}
