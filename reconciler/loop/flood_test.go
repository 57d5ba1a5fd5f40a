package loop_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/reconciler/loop"
)

// flood is a user who changes objects as fast as an API server lets them.
type flood struct {
	name    string
	begin   []string // commands of the script before the flood
	objects int      // how many exist at once
	// request returns the observations that the n-th request leads to.
	request func(m *machine, n int) []*events.Observation
}

const (
	floodRate   = 500 // requests in a second
	floodTick   = 100 * time.Millisecond
	floodBudget = 1 << 20
	// floodVersion is the most bytes that one version of an object adds in these floods: for its record, and for the
	// decision, the commands and the ends of commands that follow.
	floodVersion = 1 << 10
)

// mostFlooded is the formula of docs/design/0009-log-budgets.md.
func mostFlooded(objects int, d time.Duration) int64 {
	filled := 2*floodBudget + floodBudget*int64(d)/int64(time.Hour)
	versions := int64(objects) * (int64(d/time.Minute) + 1)
	doors := int64(d / time.Second)
	return filled + (versions+doors)*floodVersion
}

// alive makes the n-th object. From the time at which there are `objects` of them, it also ends the oldest.
func alive(n, objects int, made func(n int) *events.Observation, gone func(n int) *events.Observation) []*events.Observation {
	out := []*events.Observation{made(n)}
	if n >= objects {
		out = append(out, gone(n-objects))
	}
	return out
}

// like returns an observation of another name with other facts.
func like(o *events.Observation, name string, facts events.Facts) *events.Observation {
	next := *o
	next.Facts = facts
	if name != "" {
		next.Evidence.Name = name
		next.Job.Name, next.Job.UID = name, types.UID("uid-"+name)
	}
	return &next
}

func (m *machine) jobVersion(name, as string, change func(*events.JobSeen, *events.JobSpec)) *events.Observation {
	m.version++
	o := m.jobs[name]
	seen, spec := *o.Facts.(*events.JobSeen), *o.Spec
	seen.Version = m.version
	change(&seen, &spec)
	spec.Hash = fmt.Sprintf("%s %v %d %d", as, spec.Suspend, *spec.Parallelism, spec.BackoffLimit)
	if spec.TTLSecondsAfterFinished != nil {
		spec.Hash += fmt.Sprint(*spec.TTLSecondsAfterFinished)
	}
	seen.Spec = spec.Hash
	next := like(o, as, &seen)
	next.Spec = &spec
	return next
}

// barePod returns a pod that names a Job and that no create asked for.
func (m *machine) barePod(name, owner string, change func(*events.PodSeen)) *events.Observation {
	m.version++
	job := m.jobs[owner].Job
	seen := &events.PodSeen{
		UID: types.UID(name), Version: m.version, Phase: events.PodPending, Created: m.now.Second(), Owner: job.UID, Selected: true,
		Index: events.NoIndex, Unmarked: true, Tracked: true,
	}
	change(seen)
	return &events.Observation{Job: job, Facts: seen, Evidence: events.Evidence{Namespace: "ns", Name: name}}
}

func (m *machine) podEnds(name, owner string) *events.Observation {
	m.version++
	return &events.Observation{
		Job: m.jobs[owner].Job, Facts: &events.PodGone{UID: types.UID(name), Version: m.version},
		Evidence: events.Evidence{Namespace: "ns", Name: name},
	}
}

var floods = []flood{
	{"a Job is patched", []string{"job demo suspend=true"}, 1, func(m *machine, n int) []*events.Observation {
		return []*events.Observation{m.jobVersion("demo", "", func(_ *events.JobSeen, s *events.JobSpec) { s.Parallelism = new(int32(1 + n)) })}
	}},
	{"a Job's suspension is flipped", []string{"job demo suspend=true parallelism=31"}, 32, func(m *machine, n int) []*events.Observation {
		return []*events.Observation{m.jobVersion("demo", "", func(_ *events.JobSeen, s *events.JobSpec) { s.Suspend = n%2 == 0 })}
	}},
	{"the TTL of a finished Job is patched", []string{"job demo", "job demo finished=Complete"}, 1, func(m *machine, n int) []*events.Observation {
		return []*events.Observation{m.jobVersion("demo", "", func(_ *events.JobSeen, s *events.JobSpec) {
			s.TTLSecondsAfterFinished = new(int32(100_000 + n))
		})}
	}},
	{"Jobs come and go", []string{"job demo suspend=true"}, 31, func(m *machine, n int) []*events.Observation {
		return alive(n, 31, func(n int) *events.Observation {
			return m.jobVersion("demo", fmt.Sprintf("made-%d", n), func(_ *events.JobSeen, s *events.JobSpec) {
				s.Policies, s.PodFailurePolicy = fmt.Sprint("policies ", n), `{"rules":[]}`
			})
		}, func(n int) *events.Observation {
			m.version++
			return like(m.jobs["demo"], fmt.Sprintf("made-%d", n), &events.JobGone{Version: m.version})
		})
	}},
	{"CronJobs are patched", []string{"cronjob demo schedule=0_0_1_1_*"}, 20, func(m *machine, n int) []*events.Observation {
		return []*events.Observation{m.cronCopy(fmt.Sprintf("cron-%d", n%20), func(f *events.CronJobSeen) { f.Suspend = n/20%2 == 0 })}
	}},
	{"the schedules of CronJobs are edited", []string{"cronjob demo schedule=0_0_1_1_*"}, 20, func(m *machine, n int) []*events.Observation {
		return []*events.Observation{m.cronCopy(fmt.Sprintf("cron-%d", n%20), func(f *events.CronJobSeen) {
			f.Schedule = fmt.Sprintf("%d 0 1 1 *", n%60)
		})}
	}},
	{"CronJobs come and go", []string{"cronjob demo schedule=0_0_1_1_* zone=Europe/Berlin"}, 31, func(m *machine, n int) []*events.Observation {
		return alive(n, 31, func(n int) *events.Observation {
			return m.cronCopy(fmt.Sprintf("cron-%d", n), func(f *events.CronJobSeen) { f.Redacted = fmt.Sprint("template ", n) })
		}, func(n int) *events.Observation {
			m.version++
			return like(m.crons["demo"], fmt.Sprintf("cron-%d", n), &events.CronJobGone{Version: m.version})
		})
	}},
	{"Jobs of a CronJob that others run are patched", []string{"cronjob demo schedule=0_0_1_1_*", "run r of=demo"}, 20, func(m *machine, n int) []*events.Observation {
		return []*events.Observation{m.runCopy(fmt.Sprintf("run-%d", n%20), func(f *events.RunSeen) { f.Started = m.now.Second().Add(time.Duration(n) * time.Second) })}
	}},
	{"Jobs of a CronJob that others run end and begin again", []string{"cronjob demo schedule=0_0_1_1_*", "run r of=demo"}, 20, func(m *machine, n int) []*events.Observation {
		return []*events.Observation{m.runCopy(fmt.Sprintf("run-%d", n%20), func(f *events.RunSeen) { f.Result = events.JobResult(n / 20 % 2) })}
	}},
	{"Jobs of a CronJob that others run come and go", []string{"cronjob demo schedule=0_0_1_1_*", "run r of=demo"}, 31, func(m *machine, n int) []*events.Observation {
		return alive(n, 31, func(n int) *events.Observation {
			return m.runCopy(fmt.Sprintf("run-%d", n), func(*events.RunSeen) {})
		}, func(n int) *events.Observation {
			m.version++
			name := fmt.Sprintf("run-%d", n)
			return like(m.runs["r"], name, &events.RunGone{Job: types.UID("uid-" + name), Version: m.version})
		})
	}},
	{"pods are patched", []string{"job demo parallelism=31 suspend=true"}, 31, func(m *machine, n int) []*events.Observation {
		return []*events.Observation{m.barePod(fmt.Sprintf("bare-%d", n%31), "demo", func(f *events.PodSeen) {
			f.Phase, f.Scheduled, f.Restarts = events.PodRunning, true, uint32(n)
		})}
	}},
	{"pods end and begin again", []string{"job demo parallelism=31 suspend=true"}, 31, func(m *machine, n int) []*events.Observation {
		return []*events.Observation{m.barePod(fmt.Sprintf("bare-%d", n%31), "demo", func(f *events.PodSeen) {
			f.Phase = []events.PodPhase{events.PodRunning, events.PodFailed}[n/31%2]
		})}
	}},
	{"pods leave their Job and come back", []string{"job demo parallelism=31 suspend=true"}, 31, func(m *machine, n int) []*events.Observation {
		return []*events.Observation{m.barePod(fmt.Sprintf("bare-%d", n%31), "demo", func(f *events.PodSeen) { f.Foreign = n/31%2 == 1 })}
	}},
	{"bare pods that name a suspended Job come and go", []string{"job demo suspend=true"}, 31, func(m *machine, n int) []*events.Observation {
		return alive(n, 31, func(n int) *events.Observation {
			return m.barePod(fmt.Sprintf("bare-%d", n), "demo", func(*events.PodSeen) {})
		}, func(n int) *events.Observation { return m.podEnds(fmt.Sprintf("bare-%d", n), "demo") })
	}},
	{"pods without an owner come and go", []string{"job demo suspend=true"}, 31, func(m *machine, n int) []*events.Observation {
		return alive(n, 31, func(n int) *events.Observation {
			return m.barePod(fmt.Sprintf("bare-%d", n), "demo", func(f *events.PodSeen) { f.Owner, f.Selected = "", false })
		}, func(n int) *events.Observation { return m.podEnds(fmt.Sprintf("bare-%d", n), "demo") })
	}},
	{"a node is out of order and in order again", nil, 31, func(_ *machine, n int) []*events.Observation {
		return []*events.Observation{node(n%31, n/31%2 == 0)}
	}},
	{"nodes come and go", nil, 31, func(_ *machine, n int) []*events.Observation {
		return alive(n, 31, func(n int) *events.Observation { return node(n, true) }, func(n int) *events.Observation {
			return &events.Observation{Facts: &events.NodeGone{Name: fmt.Sprint("node-", n), UID: types.UID(fmt.Sprint("node-", n))}}
		})
	}},
	{"namespaces come and go", nil, 31, func(m *machine, n int) []*events.Observation {
		going := func(n int, gone bool) *events.Observation {
			return &events.Observation{Facts: &events.NamespaceSeen{Name: fmt.Sprint("ns-", n), UID: types.UID(fmt.Sprint("ns-", n)), Deleted: m.now, Gone: gone}}
		}
		return alive(n, 31, func(n int) *events.Observation { return going(n, false) }, func(n int) *events.Observation { return going(n, true) })
	}},
}

func node(n int, cordoned bool) *events.Observation {
	name := fmt.Sprint("node-", n)
	return &events.Observation{Facts: &events.NodeSeen{Name: name, UID: types.UID(name), Ready: events.NodeReady, Cordoned: cordoned}}
}

func (m *machine) cronCopy(name string, change func(*events.CronJobSeen)) *events.Observation {
	m.version++
	seen := *m.crons["demo"].Facts.(*events.CronJobSeen)
	seen.Version = m.version
	change(&seen)
	return like(m.crons["demo"], name, &seen)
}

func (m *machine) runCopy(name string, change func(*events.RunSeen)) *events.Observation {
	m.version++
	seen := *m.runs["r"].Facts.(*events.RunSeen)
	seen.Version, seen.Job, seen.Name = m.version, types.UID("uid-"+name), name
	change(&seen)
	return like(m.runs["r"], name, &seen)
}

// run floods a log for a while, with every command done at once. It returns the bytes of the log, how many records of
// each kind there are, and how many versions were passed over.
func (f *flood) run(t *testing.T, budget int64, d time.Duration) (m *machine, size int64, kinds map[events.Kind]int, passed uint64) {
	t.Helper()
	m = newMachine(t)
	f.pour(m, budget, d, func() {})
	kinds = map[events.Kind]int{}
	for rec, err := range m.log.Read(t.Context(), 1) {
		m.must(err)
		stored, err := events.AppendRecord(nil, &rec)
		m.must(err)
		size += int64(len(stored))
		kinds[rec.Kind]++
		passed += rec.Evidence.PassedOver
		if p, ok := rec.Facts.(*events.PassedOver); ok {
			passed += p.Versions
		}
	}
	return m, size, kinds, passed
}

// pour floods the log of a machine, and calls look after each turn.
func (f *flood) pour(m *machine, budget int64, d time.Duration, look func()) {
	m.floodPace = 0
	m.settings.NamespaceBudget, m.settings.CronJobs, m.settings.DeleteExpired = budget, true, true
	for _, command := range append([]string{"start", "synced"}, f.begin...) {
		m.do(command)
	}
	n, made := 0, 0
	var results []loop.Input
	for range d / floodTick {
		m.now = m.now.Add(floodTick)
		inputs := results
		for range floodRate * int(floodTick/time.Millisecond) / 1000 {
			for _, o := range f.request(m, n) {
				inputs = append(inputs, loop.Input{Observation: o})
			}
			n++
		}
		m.turn(inputs...)
		results = nil
		tasks, _ := m.loop.Durable(m.log.Head().Sequence)
		for i := range tasks {
			made++
			m.version++
			ended := tasks[i].Ended(events.Done)
			ended.Sent, ended.Version, ended.Written, ended.UID = true, m.version, m.now.Second(), types.UID(fmt.Sprint("made-", made))
			results = append(results, loop.Input{Result: &events.TaskResult{Stream: tasks[i].Stream, Ended: ended}})
		}
		look()
	}
}

// TestFloods: whatever a user floods the log with, its namespace fills no more than its budget and a formula allow. The
// log says how much it passed over, and replays alike. Each kind of record that an observation of an object makes, or
// that is stored with one, needs a flood here.
func TestFloods(t *testing.T) {
	t.Parallel()
	const long, glance = 10 * time.Minute, 5 * time.Second
	seen := map[events.Kind]bool{}
	for _, f := range effort.Each(3, floods) {
		_, free, kinds, _ := f.run(t, 0, glance)
		for k := range kinds {
			seen[k] = true
		}
		most := mostFlooded(f.objects, long)
		if free*int64(long/glance) < 2*most {
			t.Errorf("%s: without a budget %d bytes in %s: this tests nothing", f.name, free, glance)
		}
		m, size, kinds, passed := f.run(t, floodBudget, long)
		t.Logf("%s: %d bytes, at most %d; %d versions passed over; %v", f.name, size, most, passed, kinds)
		if size > most {
			t.Errorf("%s: the log has %d bytes, want at most %d", f.name, size, most)
		}
		if passed < floodRate*uint64(long/time.Second)/2 {
			t.Errorf("%s: the log says that %d versions were passed over", f.name, passed)
		}
		m.check()
	}
	for k := range events.Kind(1000) {
		if s := k.Source(); effort.IsWhole() && !seen[k] && (s == events.FromObject || s == events.WithObject) {
			t.Errorf("no flood makes a %s", k)
		}
	}
}
