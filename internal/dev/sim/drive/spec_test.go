package drive_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/observation"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// watched is a loop that receives versions of Jobs, in the form in which the informer tells them.
type watched struct {
	t    *testing.T
	log  *memlog.Log
	loop *loop.Loop
	feed *observation.Feed
	now  events.Time
	seen int
}

func watch(t *testing.T, options ...memlog.Option) *watched {
	t.Helper()
	w := &watched{t: t, log: memlog.New(events.Identity{LogID: "0f0f", Epoch: 1}, options...), now: events.At(time.Unix(1e9, 0)), seen: 10}
	w.loop = loop.New(loop.Config{
		Log: w.log, World: projector.NewWorld(), Settings: events.DefaultSettings(), Program: "test",
		Salt: func() events.Salt { return events.Salt{1} },
	})
	if err := w.loop.Start(w.now); err != nil {
		t.Fatal(err)
	}
	w.feed = observation.NewFeed(observation.Config{Mode: events.ModeDelegated, Identity: w.log.Identity()})
	w.turn(events.Observation{Facts: &events.Synced{Resources: []events.Resource{events.Jobs, events.Pods}, Versions: []uint64{10, 10}}})
	return w
}

func (w *watched) turn(o events.Observation) {
	w.t.Helper()
	w.now = w.now.Add(time.Second)
	if _, err := w.loop.Turn(w.now, []loop.Input{{Observation: &o}}); err != nil {
		w.t.Fatal(err)
	}
}

// show shows the next version of a Job.
func (w *watched) show(job *batchv1.Job) {
	w.t.Helper()
	w.seen++
	job.ResourceVersion, job.Generation = strconv.Itoa(w.seen), int64(w.seen)
	read, err := kubewire.Jobs.Of(job)
	if err != nil {
		w.t.Fatal(err)
	}
	w.turn(w.feed.ObserveJob(read))
}

// stored returns the records after the given one, each with its size.
func (w *watched) stored(after events.Sequence) (records []events.Record, sizes []int) {
	w.t.Helper()
	for rec, err := range w.log.Read(context.Background(), after+1) {
		if err != nil {
			w.t.Fatal(err)
		}
		form, err := events.AppendRecord(nil, &rec)
		if err != nil {
			w.t.Fatal(err)
		}
		records, sizes = append(records, rec), append(sizes, len(form))
	}
	return records, sizes
}

// heavy returns a suspended Job with about as many variable names, exit codes and indexes as an API server accepts.
func heavy(name string, variables int) *batchv1.Job {
	var env []corev1.EnvVar
	for i := range variables {
		env = append(env, corev1.EnvVar{Name: fmt.Sprintf("VARIABLE_%06d", i), Value: "value"})
	}
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: "5b0d3c0e-0000-4000-8000-000000000001"},
		Spec: batchv1.JobSpec{
			ManagedBy: new(events.ManagedBy), Suspend: new(true), Parallelism: new(int32(1)), Completions: new(int32(100_000)),
			CompletionMode: new(batchv1.IndexedCompletion), BackoffLimit: new(int32(6)),
			ManualSelector: new(true), Selector: &metav1.LabelSelector{},
			PodFailurePolicy: &batchv1.PodFailurePolicy{}, SuccessPolicy: &batchv1.SuccessPolicy{},
			PodReplacementPolicy: new(batchv1.TerminatingOrFailed),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "sim", Env: env}},
			}},
		},
	}
	var codes []int32
	var values, indexes []string
	for i := range 255 {
		codes, values = append(codes, int32(2_000_000_000+i)), append(values, fmt.Sprintf("value-%050d", i))
	}
	for i := range 5000 {
		indexes = append(indexes, strconv.Itoa(2*i))
	}
	job.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: metav1.LabelSelectorOpNotIn, Values: values}}
	for range 20 {
		job.Spec.PodFailurePolicy.Rules = append(job.Spec.PodFailurePolicy.Rules, batchv1.PodFailurePolicyRule{
			Action: batchv1.PodFailurePolicyActionCount,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
				Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: codes,
			},
		})
		job.Spec.SuccessPolicy.Rules = append(job.Spec.SuccessPolicy.Rules, batchv1.SuccessPolicyRule{
			SucceededIndexes: new(strings.Join(indexes, ",")),
		})
	}
	return job
}

// TestAChangeOfANumberIsSmall: a user patches a number with 25 bytes, again and again. Each patch adds a few hundred
// bytes to the log, however large the rest of the Job is. A new file has the whole spec once more, and stands alone.
func TestAChangeOfANumberIsSmall(t *testing.T) {
	t.Parallel()
	const patches, most = 40, 300
	w := watch(t)
	job := heavy("heavy", 1000)
	w.show(job)
	first := w.log.Head().Sequence
	for i := range int32(patches) {
		job.Spec.Parallelism = new(i + 2)
		w.show(job)
	}
	records, sizes := w.stored(first)
	total, specs := 0, 0
	for i, rec := range records {
		total += sizes[i]
		switch rec.Kind {
		case events.KindTemplateStored, events.KindPoliciesStored:
			t.Errorf("record %d is a %s of %d bytes: it is stored already", rec.Sequence, rec.Kind, sizes[i])
		case events.KindSpecStored:
			specs++
			if sizes[i] > most {
				t.Errorf("record %d stores a spec in %d bytes, want at most %d", rec.Sequence, sizes[i], most)
			}
		default:
		}
	}
	if specs != patches {
		t.Errorf("%d specs are stored, want one for each of %d patches", specs, patches)
	}
	t.Logf("%d bytes for each patch", total/patches)
	if total > 2*most*patches {
		t.Errorf("%d patches of a number take %d bytes", patches, total)
	}
	if j := w.loop.World().Job(events.JobStream(job.UID)); len(j.Spec.SuccessPolicy) < 400_000 || *j.Spec.Parallelism != patches+1 {
		t.Errorf("after the last patch the Job has %d bytes of successPolicy and parallelism %d", len(j.Spec.SuccessPolicy), *j.Spec.Parallelism)
	}
}

// TestALargeTemplateIsStoredByItsHash: when the redacted template is larger than 64 KiB, only its hash and size are
// stored.
func TestALargeTemplateIsStoredByItsHash(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		variables int
		kept      bool
	}{
		{1000, true}, // 47 bytes each
		{1400, false},
	} {
		w := watch(t)
		job := heavy("heavy", row.variables)
		w.show(job)
		records, sizes := w.stored(0)
		i := slices.IndexFunc(records, func(r events.Record) bool { return r.Kind == events.KindTemplateStored })
		if i < 0 {
			t.Fatal("no template is stored")
		}
		f, text := records[i].Facts.(*events.JobTemplate), records[i].Evidence.Template
		if kept := len(text) > 0; kept != row.kept || (kept && len(text) != int(f.Size)) || f.Size < 40_000 || f.Hash == "" {
			t.Errorf("of a template of %d bytes %d are stored, want all: %v", f.Size, len(text), row.kept)
		}
		if !row.kept && (sizes[i] > 300 || f.Size <= 64<<10) {
			t.Errorf("a template of %d bytes that is not kept takes %d", f.Size, sizes[i])
		}
	}
}

// TestNamespacesShareNoSpec: a spec stored by one namespace is stored again by another, so the log of one namespace
// does not tell what runs in the other. Jobs of one namespace share it.
func TestNamespacesShareNoSpec(t *testing.T) {
	t.Parallel()
	w := watch(t)
	count := func() (n int) {
		records, _ := w.stored(0)
		for _, r := range records {
			switch r.Kind {
			case events.KindTemplateStored, events.KindPoliciesStored, events.KindSpecStored:
				n++
			default:
			}
		}
		return n
	}
	job := heavy("one", 1)
	w.show(job)
	job.Name, job.UID = "two", "5b0d3c0e-0000-4000-8000-000000000002"
	w.show(job)
	if n := count(); n != 3 {
		t.Errorf("two equal Jobs of a namespace store %d records of their spec, want 3", n)
	}
	job.Namespace, job.UID = "other", "5b0d3c0e-0000-4000-8000-000000000003"
	w.show(job)
	if n := count(); n != 6 {
		t.Errorf("an equal Job of another namespace makes that %d, want 6", n)
	}
}
