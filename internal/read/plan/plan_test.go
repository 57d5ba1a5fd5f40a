package plan

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
	"github.com/jobledger/jobledger/store"
)

// some is a source of these records; an error comes behind them.
type some struct {
	history.Source // nothing else is asked for
	records        []events.Record
	failure        error
}

func (s some) Records(_ context.Context, q history.Query) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for i := range s.records {
			if r := &s.records[i]; slices.Contains(q.Kinds, r.Kind) && r.Time >= q.Since && !yield(*r, nil) {
				return
			}
		}
		if s.failure != nil {
			yield(events.Record{}, s.failure)
		}
	}
}

// Beside is described by Source.
func (s some) Beside(err error) bool { return errors.Is(err, store.ErrCorrupt) }

func (s some) ReadStream(_ context.Context, of events.Stream, _ events.Sequence, _ store.Direction) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for _, r := range s.records {
			if r.Stream == of && !yield(r, nil) {
				return
			}
		}
	}
}

var start = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

func at(minute int) events.Time { return events.At(start.Add(time.Duration(minute) * time.Minute)) }

// log is made record by record, one a minute.
type log []events.Record

func (l *log) add(uid string, kind events.Kind, facts events.Facts, evidence events.Evidence) {
	n := len(*l) + 1
	*l = append(*l, events.Record{
		Header: events.Header{Sequence: events.Sequence(n), Time: at(n), Stream: events.JobStream(types.UID(uid)), Kind: kind}, Facts: facts, Evidence: evidence,
	})
}

func (l *log) job(uid, managedBy string, origin *events.Origin, manager string) {
	e := events.Evidence{Namespace: "prod", Name: uid, Origin: origin}
	if manager != "" {
		e.Edit = &events.Edit{Manager: manager}
	}
	l.add(uid, events.KindJobAdded, &events.JobSeen{ManagedBy: managedBy}, e)
}

func (l *log) would(uid string, reasons ...events.Reason) {
	d := &events.Decision{}
	for _, r := range reasons {
		d.Steps = append(d.Steps, events.Step{Reason: r})
	}
	l.add(uid, events.KindWouldDecide, d, events.Evidence{})
}

func TestPlan(t *testing.T) {
	cron, set, flow := &events.Origin{Kind: "CronJob", Name: "etl"}, &events.Origin{Kind: "JobSet", Name: "train"}, &events.Origin{Kind: "Workflow", Name: "flow"}
	var l log
	l.job("before", "", cron, "kube-controller-manager")                           // 1
	l.job("etl-1", "", cron, "kube-controller-manager")                            // 2
	l.job("etl-2", batchv1.JobControllerName, cron, "")                            // 3
	l.job("train-1", "kueue.x-k8s.io/multikueue", set, "")                         // 4
	l.job("flow-1", "", flow, "")                                                  // 5
	l.job("ours-1", events.ManagedBy, nil, "kubectl-create")                       // 6
	l.job("hand-1", "", nil, "kubectl-create")                                     // 7: newer than ours-1, of the same owner
	l.job("secret", "", nil, "")                                                   // 8
	l.would("etl-1", "MorePodsWanted", "BackoffLimitExceeded")                     // 9
	l.would("etl-1", "MorePodsWanted")                                             // 10: told already
	l.would("before", "MorePodsWanted")                                            // 11
	l.would("unheard-of", "MorePodsWanted")                                        // 12
	l.add("etl-1", events.KindJobRetired, &events.JobRetired{}, events.Evidence{}) // 13
	l.add("flow-1", events.KindJobDeleted, &events.JobGone{}, events.Evidence{})   // 14

	got, err := Read(t.Context(), some{records: l}, Query{Since: at(2)})
	if err != nil {
		t.Fatal(err)
	}
	newest := func(n int) recordjson.Instant { return recordjson.Instant(at(n)) }
	want := &Plan{Jobs: 7, Unfinished: 5, Differ: 2, Owners: []Owner{
		{Namespace: "prod", Manager: "kubectl-create", Jobs: 2, Unfinished: 2, RunBy: batchv1.JobControllerName, Newest: newest(7), Step: "set spec.managedBy"},
		{
			Namespace: "prod", Kind: "CronJob", Name: "etl", Jobs: 2, Unfinished: 1, RunBy: batchv1.JobControllerName, Newest: newest(3),
			Differences: []Difference{{Reason: "MorePodsWanted", Jobs: 2, Record: 9}, {Reason: "BackoffLimitExceeded", Jobs: 1, Record: 9}},
			Step:        "set spec.jobTemplate.spec.managedBy",
		},
		{Namespace: "prod", Jobs: 1, Unfinished: 1, RunBy: batchv1.JobControllerName, Newest: newest(8), Step: "set spec.managedBy"},
		{
			Namespace: "prod", Kind: "JobSet", Name: "train", Jobs: 1, Unfinished: 1, RunBy: "kueue.x-k8s.io/multikueue", Newest: newest(4),
			Step: "leave them: kueue.x-k8s.io/multikueue runs them",
		},
		{
			Namespace: "prod", Kind: "Workflow", Name: "flow", Jobs: 1, RunBy: batchv1.JobControllerName, Newest: newest(5),
			Step: "label its namespace (deploy/policy)",
		},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the plan (-want +got):\n%s", diff)
	}
}

// TestPodsThatDidNotComeAreNoDifference: the other controller may have asked for them, and the API server refused them:
// that is in no object. Pods that were to go, or an end that was to come, are differences.
func TestPodsThatDidNotComeAreNoDifference(t *testing.T) {
	cron := &events.Origin{Kind: "CronJob", Name: "etl"}
	step := func(reason events.Reason, commands ...events.Command) events.Step {
		return events.Step{Reason: reason, Commands: commands}
	}
	var l log
	l.job("refused", "", cron, "") // 1
	l.job("stays", "", cron, "")   // 2
	l.job("both", "", cron, "")    // 3
	for _, would := range []struct {
		uid   string
		steps []events.Step
	}{
		{"refused", []events.Step{step("MorePodsWanted", &events.CreatePod{}, &events.CreatePod{})}},                                                       // 4
		{"refused", []events.Step{step("MorePodsWanted", &events.CreatePod{})}},                                                                            // 5: told already
		{"stays", []events.Step{step("BackoffLimitExceeded", &events.WriteStatus{})}},                                                                      // 6
		{"both", []events.Step{step("MorePodsWanted", &events.CreatePod{}), step("TooManyPods", &events.DeletePod{}, &events.CreatePod{}), step("Other")}}, // 7
	} {
		l.add(would.uid, events.KindWouldDecide, &events.Decision{Steps: would.steps}, events.Evidence{})
	}
	got, err := Read(t.Context(), some{records: l}, Query{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Differ != 2 || got.PodsMissing != 2 {
		t.Errorf("%d Jobs would have been decided otherwise, and %d lacked pods", got.Differ, got.PodsMissing)
	}
	want := []Difference{{"BackoffLimitExceeded", 1, 6}, {"TooManyPods", 1, 7}, {"Other", 1, 7}}
	if diff := cmp.Diff(want, got.Owners[0].Differences); diff != "" {
		t.Errorf("decided otherwise (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Difference{{"MorePodsWanted", 2, 4}}, got.Owners[0].PodsMissing); diff != "" {
		t.Errorf("lacked pods (-want +got):\n%s", diff)
	}
}

// TestJobsOfModeAll: a controller that ran every Job ran those that name no controller, and their owner has nothing to
// write. Before it did, and after it was taken back, they are the built-in controller's.
func TestJobsOfModeAll(t *testing.T) {
	step := func(modes ...events.Mode) string {
		var l log
		for _, mode := range modes {
			l = append(l, events.Record{
				Header: events.Header{Sequence: events.Sequence(len(l) + 1), Stream: events.Controller, Kind: events.KindControllerStarted},
				Facts:  &events.ControllerStarted{Settings: events.Settings{Mode: mode}},
			})
		}
		l.add("etl-1", events.KindJobAdded, &events.JobSeen{Managed: true}, events.Evidence{Namespace: "prod", Origin: &events.Origin{Kind: "CronJob", Name: "etl"}})
		got, err := Read(t.Context(), some{records: l}, Query{})
		if err != nil || len(got.Owners) != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
		return got.Owners[0].RunBy + ": " + got.Owners[0].Step
	}
	ours, builtin := events.ManagedBy+": nothing: they come already", batchv1.JobControllerName+": set spec.jobTemplate.spec.managedBy"
	if got := step(events.ModeObserve, events.ModeAll); got != ours {
		t.Errorf("with --manage=all: %s", got)
	}
	if got := step(events.ModeAll, events.ModeObserve); got != builtin {
		t.Errorf("with --manage=observe after it: %s", got)
	}
}

// TestModeOfAPrunedStart: the start is pruned, and the controller's stored state tells how it works.
func TestModeOfAPrunedStart(t *testing.T) {
	state, err := proto.Marshal(&pb.WorldState{Settings: events.SettingsToWire(&events.Settings{Mode: events.ModeAll})})
	if err != nil {
		t.Fatal(err)
	}
	l := log{{Header: events.Header{Sequence: 1, Stream: events.Controller, Kind: events.KindStateStored}, Facts: &events.StoredState{Encoded: state}}}
	l.add("etl-1", events.KindJobAdded, &events.JobSeen{Managed: true}, events.Evidence{Namespace: "prod"})
	got, err := Read(t.Context(), some{records: l}, Query{})
	if err != nil || len(got.Owners) != 1 || got.Owners[0].RunBy != events.ManagedBy {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestDamagedLog: what can be read is a plan, and the error is told.
func TestDamagedLog(t *testing.T) {
	var l log
	l.job("etl-1", "", &events.Origin{Kind: "CronJob", Name: "etl"}, "")
	got, err := Read(t.Context(), some{records: l, failure: store.ErrCorrupt}, Query{})
	if !errors.Is(err, store.ErrCorrupt) || got.Jobs != 1 {
		t.Errorf("%d Jobs, %v", got.Jobs, err)
	}
}

// TestAReadThatFailsIsTold: whichever read fails, of a log that only observes.
func TestAReadThatFailsIsTold(t *testing.T) {
	log := historytest.Recorded(t, "observed")
	n := 0
	for _, since := range []events.Time{0, log.Head().Time.Add(-5 * time.Minute)} {
		n += historytest.EachReadFails(t, log, historytest.Question{Name: "plan", Noted: []string{"ownerOf"}, Ask: func(ctx context.Context, f *historytest.Failing, d *store.Damage) (string, error) {
			p, err := Read(ctx, f.Source(nil, d), Query{Since: since})
			return fmt.Sprintf("%+v", *p), err
		}})
	}
	if n < 15 {
		t.Errorf("only %d reads failed", n)
	}
}

// TestAPlanBesideDamage: whichever record is damaged, the Jobs of all others are counted, and the damage is named.
func TestAPlanBesideDamage(t *testing.T) {
	log := historytest.Recorded(t, "observed")
	whole, err := Read(t.Context(), history.Local{Log: log}, Query{})
	if err != nil || whole.Jobs < 5 {
		t.Fatal(whole, err)
	}
	for r, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		want := whole.Jobs
		switch r.Kind {
		case events.KindJobAdded:
			want--
		case events.KindWouldDecide, events.KindJobRetired:
		default:
			continue
		}
		got, err := Read(t.Context(), history.Local{Log: &historytest.Failing{Reader: log, Bad: func(at events.Sequence) error {
			if at == r.Sequence {
				return &store.CorruptError{Path: "x", At: at, Next: at + 1}
			}
			return nil
		}}}, Query{})
		if !errors.Is(err, store.ErrCorrupt) || got.Jobs != want || got.Differ != whole.Differ {
			t.Errorf("without record %d (%s): %d Jobs, want %d, %d of %d differ, %v", r.Sequence, r.Kind, got.Jobs, want, got.Differ, whole.Differ, err)
		}
	}
}
