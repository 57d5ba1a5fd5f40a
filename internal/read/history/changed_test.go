package history_test

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
)

var (
	ofTwo = events.JobStream("uid-two")
	// twoPods are the records of a Job with two pods: one is gone, and the other runs and is not ready. Each is of the
	// minute of its sequence.
	twoPods = []events.Record{
		told(events.Controller, events.KindControllerStarted, &events.ControllerStarted{Settings: modeAll()}, events.Evidence{}),
		told(ofTwo, events.KindSpecStored, &events.JobSpec{
			Hash: "h", Parallelism: new(int32(2)), Completions: new(int32(3)), BackoffLimit: new(int32(6)), RestartPolicy: "Never", Template: "t", Redacted: "t",
		}, named("two")),
		told(ofTwo, events.KindJobAdded, &events.JobSeen{
			Version: 1, Generation: 1, Created: historytest.At("08:00:03"), Managed: true, Spec: "h", SpecAt: 2, Status: &events.JobStatus{},
		}, named("two")),
		told(ofTwo, events.KindPodAdded, pod("a", 2, events.PodRunning), named("two-a")),
		told(ofTwo, events.KindPodAdded, pod("b", 3, events.PodRunning), named("two-b")),
		told(ofTwo, events.KindPodDeleted, &events.PodGone{UID: "a"}, named("two-a")),
		told(ofTwo, events.KindPodChanged, pod("b", 7, events.PodRunning), named("two-b")),
	}
)

func modeAll() events.Settings {
	s := events.DefaultSettings()
	s.Mode = events.ModeAll
	return s
}

func told(s events.Stream, kind events.Kind, f events.Facts, e events.Evidence) events.Record {
	return events.Record{Header: events.Header{Stream: s, Kind: kind, Last: true}, Facts: f, Evidence: e}
}

func named(name string) events.Evidence { return events.Evidence{Namespace: "batch", Name: name} }

func pod(uid string, version uint64, phase events.PodPhase) *events.PodSeen {
	return &events.PodSeen{
		UID: types.UID(uid), Version: version, Phase: phase, Created: historytest.At("08:00:04"), Tracked: true, Owner: "uid-two", Selected: true,
		Index: events.NoIndex, Scheduled: true,
	}
}

// foldOf folds records, and returns the Job's state and its summary.
func foldOf(records []events.Record, brief bool) (f *history.Fold, job history.Job, sum history.Summary) {
	f = history.NewFold()
	f.Brief = brief
	for i := range records {
		r := records[i]
		r.Sequence, r.Time = events.Sequence(i+1), historytest.At(fmt.Sprintf("08:%02d:00", i+1))
		f.Apply(&r)
	}
	a := f.Account(ofTwo)
	n := len(records)
	return f, history.JobOf(f, a, events.Sequence(n), historytest.At(fmt.Sprintf("08:%02d:00", n))), history.SummaryOf(a)
}

// leaf is one field of facts, or of evidence, and how to set it.
type leaf struct {
	path string
	set  func(v reflect.Value)
}

// leaves returns each field of a type, those of its parts too. Of a slice it is the first entry.
func leaves(of reflect.Type, path string) (all []leaf) {
	switch of.Kind() {
	case reflect.Struct:
		for i := range of.NumField() {
			if !of.Field(i).IsExported() {
				continue
			}
			for _, x := range leaves(of.Field(i).Type, path+"."+of.Field(i).Name) {
				all = append(all, leaf{x.path, func(v reflect.Value) { x.set(v.Field(i)) }})
			}
		}
	case reflect.Pointer:
		for _, x := range leaves(of.Elem(), path) {
			all = append(all, leaf{x.path, func(v reflect.Value) {
				held := reflect.New(of.Elem())
				if !v.IsNil() {
					held.Elem().Set(v.Elem())
				}
				x.set(held.Elem())
				v.Set(held)
			}})
		}
	case reflect.Slice:
		for _, x := range leaves(of.Elem(), path) {
			all = append(all, leaf{x.path, func(v reflect.Value) {
				v.Set(reflect.MakeSlice(of, 1, 1))
				x.set(v.Index(0))
			}})
		}
	case reflect.Interface, reflect.Map, reflect.Func:
	default:
		all = append(all, leaf{path, func(v reflect.Value) {
			switch text := strings.ToLower(strings.ReplaceAll(path, ".", "-")); {
			case v.Type() == reflect.TypeFor[events.Time]():
				v.SetInt(int64(historytest.At("08:20:00")))
			case v.Kind() == reflect.Bool:
				v.SetBool(!v.Bool())
			case v.Kind() == reflect.String:
				v.SetString(text)
			case v.CanInt():
				v.SetInt(1)
			case v.CanUint():
				v.SetUint(1)
			}
		}})
	}
	return all
}

// eachFieldChanged writes what is told of records, and then what each field of the facts and of the evidence of each
// record but the first changes of that.
func eachFieldChanged(t *testing.T, out *bytes.Buffer, records []events.Record, tell func(records []events.Record) []string) {
	t.Helper()
	plain := map[string]string{}
	for _, line := range tell(records) {
		field, _, _ := strings.Cut(line, " ")
		plain[field] = line
		fmt.Fprintln(out, line)
	}
	for n, r := range records[1:] {
		facts := reflect.TypeOf(r.Facts).Elem()
		for _, x := range append(leaves(facts, facts.Name()), leaves(reflect.TypeFor[events.Evidence](), "Evidence")...) {
			f := reflect.New(facts)
			f.Elem().Set(reflect.ValueOf(r.Facts).Elem())
			other := r
			other.Facts = f.Interface().(events.Facts)
			if strings.HasPrefix(x.path, "Evidence") {
				x.set(reflect.ValueOf(&other.Evidence).Elem())
			} else {
				x.set(f.Elem())
			}
			var said []string
			rest := maps.Clone(plain)
			for _, line := range tell(slices.Concat(records[:n+1], []events.Record{other}, records[n+2:])) {
				field, _, _ := strings.Cut(line, " ")
				if rest[field] != line {
					said = append(said, line)
				}
				delete(rest, field)
			}
			for _, field := range slices.Sorted(maps.Keys(rest)) {
				said = append(said, "-"+field)
			}
			if len(said) > 0 {
				fmt.Fprintf(out, "%d %s: %s\n", n+2, x.path, strings.Join(said, " | "))
			}
		}
	}
}

// TestWhatEachFieldChanges: each field of the facts and of the evidence of each record is another one in turn. What
// that changes of the state and of the summary of a Job, and of a CronJob, is kept.
func TestWhatEachFieldChanges(t *testing.T) {
	var out bytes.Buffer
	eachFieldChanged(t, &out, twoPods, func(records []events.Record) []string {
		_, job, sum := foldOf(records, false)
		_, _, brief := foldOf(records, true)
		same(t, "the summary of a brief fold", sum, brief)
		return lines(t, []any{job, sum})
	})
	eachFieldChanged(t, &out, twoRuns, func(records []events.Record) []string {
		log := logged(t, records)
		src := history.Local{Log: log, Clock: func() events.Time { return historytest.At("08:40:00") }}
		job, err := history.CronJobAt(t.Context(), src, ofRuns, history.Point{})
		fold, brief := history.NewFold(), history.NewFold()
		brief.Brief = true
		for r, failed := range log.Read(t.Context(), 0) {
			if failed != nil {
				t.Fatal(failed)
			}
			fold.Apply(&r)
			brief.Apply(&r)
		}
		sum := history.CronSummaryOf(fold.CronAccount(ofRuns))
		same(t, "the summary of a brief fold", sum, history.CronSummaryOf(brief.CronAccount(ofRuns)))
		return append(lines(t, []any{job, sum}), fmt.Sprint("error ", err))
	})
	historytest.Keep(t, *update, "testdata/fields.txt", out.String())
}

// TestABriefFoldKeepsNoMore than summaries need: no pod that is gone, no evidence of others, no decision, no trouble.
func TestABriefFoldKeepsNoMore(t *testing.T) {
	_, job, _ := foldOf(twoPods, true)
	if len(job.Pods) != 1 || job.Pods[0].UID != "b" {
		t.Errorf("it keeps %+v", job.Pods)
	}
	_, job, _ = foldOf(twoPods, false)
	if len(job.Pods) != 2 || !job.Pods[0].Gone || job.Pods[1].Gone {
		t.Errorf("a whole fold keeps %+v", job.Pods)
	}
	log := historytest.Hard(t, 3)
	brief := history.NewFold()
	brief.Brief = true
	for _, r := range historytest.Records(t, log) {
		brief.Apply(&r)
		for _, a := range brief.Accounts() {
			job := history.JobOf(brief, a, r.Sequence, r.Time)
			kept := slices.ContainsFunc(job.Pods, func(p history.Pod) bool {
				return p.Gone || p.Reason != "" || p.Conditions != nil || p.Finalizers != nil
			})
			if kept || job.Trouble != nil || job.LastDecision != nil || slices.ContainsFunc(job.Refused, func(x history.Refusal) bool { return x.Record != 0 }) {
				t.Fatalf("as of %d it keeps %+v", r.Sequence, job)
			}
		}
	}
}

// TestAPodThatIsGoneRunsNoMore: the Job runs while a pod of it does. A pod that is gone is kept until its end is
// counted, and was seen to run last.
func TestAPodThatIsGoneRunsNoMore(t *testing.T) {
	for _, row := range []struct {
		a, b events.PodPhase
		gone bool
		want history.State
	}{
		{events.PodRunning, events.PodRunning, true, history.StateRunning}, {events.PodRunning, events.PodPending, true, history.StateWaiting},
		{events.PodRunning, events.PodPending, false, history.StateRunning}, {events.PodPending, events.PodPending, false, history.StateWaiting},
		{events.PodPending, events.PodRunning, true, history.StateRunning},
	} {
		records := append(slices.Clone(twoPods[:3]), told(ofTwo, events.KindPodAdded, pod("a", 2, row.a), named("two-a")),
			told(ofTwo, events.KindPodAdded, pod("b", 3, row.b), named("two-b")))
		if row.gone {
			records = append(records, told(ofTwo, events.KindPodDeleted, &events.PodGone{UID: "a"}, named("two-a")))
		}
		if _, job, sum := foldOf(records, false); job.State != row.want || sum.State != row.want {
			t.Errorf("%+v: it is %s", row, job.State)
		}
	}
}
