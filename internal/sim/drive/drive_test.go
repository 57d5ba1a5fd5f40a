package drive_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/sim/apiserver"
	"github.com/jobledger/jobledger/internal/sim/drive"
	"github.com/jobledger/jobledger/internal/sim/kubelet"
	"github.com/jobledger/jobledger/internal/sim/users"
	"github.com/jobledger/jobledger/internal/sim/world"
)

// seeds is how many seeds a test runs: JOBLEDGER_SEEDS, or the number that CI has time for.
func seeds(t *testing.T, otherwise int) int {
	t.Helper()
	text := os.Getenv("JOBLEDGER_SEEDS")
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("JOBLEDGER_SEEDS=%s: %v", text, err)
	}
	return n
}

func upTo(seconds int) kubelet.Range { return kubelet.Range{Max: time.Duration(seconds) * time.Second} }

func config(seed uint64) drive.Config {
	settings := events.DefaultSettings()
	return drive.Config{
		Settings: settings,
		World: world.Config{
			Seed: seed, UserChance: 0.02, NodeLossChance: 0.001,
			UsersOff: []users.Deed{
				// What the contract says of these is not part of the spine yet.
				users.RelabelPod, users.RestoreLabels, users.OrphanPod,
			},
			Kubelet: kubelet.Config{
				Schedule: upTo(2), Start: upTo(3), RunTime: upTo(20), Stop: upTo(25), Confirm: upTo(2),
				FailRate: 0.2, CleanStop: 0.2,
			},
		},
		Faults: apiserver.Rates{
			apiserver.TimeoutBefore: 0.02, apiserver.TimeoutAfter: 0.02, apiserver.TimeoutLate: 0.02,
			apiserver.TooManyRequests: 0.01, apiserver.ServerError: 0.02, apiserver.QuotaExceeded: 0.02,
			apiserver.WebhookDenied: 0.01, apiserver.TouchedByAnother: 0.04,
		},
		Crash: 0.004, Cut: 0.004,
	}
}

// TestSeeds lets the controller work in the worlds of many seeds, with every disturbance there is but the loss of the log.
func TestSeeds(t *testing.T) {
	for seed := range uint64(seeds(t, 300)) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { run(t, config(seed)) })
	}
}

// TestSeedsWithALostLog loses the log with half of the crashes: history is lost then, correctness never (invariant 4).
func TestSeedsWithALostLog(t *testing.T) {
	for seed := range uint64(seeds(t, 150)) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			cfg := config(seed)
			cfg.LoseLog = 0.5
			run(t, cfg)
		})
	}
}

// TestSeedsInSmallFiles rotates the log every few batches, and makes snapshots all the time, a stream a turn: each file
// stands alone, and a recovery from streams as of different records is a recovery.
func TestSeedsInSmallFiles(t *testing.T) {
	for seed := range uint64(seeds(t, 100)) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			cfg := config(seed)
			cfg.Files, cfg.Snapshot = 8<<10, 20
			run(t, cfg)
		})
	}
}

func run(t *testing.T, cfg drive.Config) {
	d, err := drive.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, job := range jobs(cfg.World.Seed) {
		if _, err := d.World.Users.Create(job); err != nil {
			t.Fatal(err)
		}
	}
	fail := func(err error) {
		t.Helper()
		t.Fatalf("%v\nlast steps:\n%s\nlast records:\n%s\nto repeat: go test ./internal/sim/drive -run '%s$'", err, d.History(60), d.Records(300), t.Name())
	}
	for range 1500 {
		if err := d.Step(); err != nil {
			fail(err)
		}
	}
	if err := d.Settle(); err != nil {
		fail(err)
	}
	if err := d.CheckLog(); err != nil {
		fail(err)
	}
}

// policies gives a Job some of the policies that fit it.
func policies(rng *rand.Rand, spec *batchv1.JobSpec) {
	indexed := spec.CompletionMode != nil
	if indexed && rng.IntN(2) == 0 {
		spec.BackoffLimitPerIndex, spec.BackoffLimit = new(int32(rng.IntN(3))), nil
		if rng.IntN(2) == 0 {
			spec.MaxFailedIndexes = new(min(int32(rng.IntN(4)), *spec.Completions))
		}
	}
	if indexed && rng.IntN(4) == 0 {
		rule := batchv1.SuccessPolicyRule{SucceededCount: new(int32(1 + rng.IntN(int(*spec.Completions))))}
		if rng.IntN(2) == 0 {
			rule = batchv1.SuccessPolicyRule{SucceededIndexes: new("0")}
		}
		spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{rule}}
	}
	if rng.IntN(4) != 0 {
		return
	}
	actions := []batchv1.PodFailurePolicyAction{
		batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionCount, batchv1.PodFailurePolicyActionFailJob,
	}
	if spec.BackoffLimitPerIndex != nil {
		actions = append(actions, batchv1.PodFailurePolicyActionFailIndex)
	}
	spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action: actions[rng.IntN(len(actions))],
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{1, 143}[rng.IntN(2):],
		},
	}}}
	spec.PodReplacementPolicy = nil
}

// jobs are the Jobs of a seed: of every kind, small.
func jobs(seed uint64) []*batchv1.Job {
	rng := world.Rand(seed, 10)
	var out []*batchv1.Job
	for i := range 1 + rng.IntN(4) {
		job := &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("job-%d", i)},
			Spec: batchv1.JobSpec{
				ManagedBy:    new(events.ManagedBy),
				Parallelism:  new(int32(1 + rng.IntN(5))),
				BackoffLimit: new(int32(rng.IntN(5))),
				Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever,
					Containers:    []corev1.Container{{Name: "main", Image: "sim"}},
				}},
			},
		}
		switch rng.IntN(3) {
		case 0:
			job.Spec.Completions = new(int32(1 + rng.IntN(8)))
		case 1:
			job.Spec.Completions = new(int32(1 + rng.IntN(8)))
			job.Spec.CompletionMode = new(batchv1.IndexedCompletion)
		}
		policies(rng, &job.Spec)
		if rng.IntN(5) == 0 {
			job.Spec.ActiveDeadlineSeconds = new(int64(5 + rng.IntN(60)))
		}
		if job.Spec.PodFailurePolicy == nil && rng.IntN(4) == 0 {
			job.Spec.PodReplacementPolicy = new(batchv1.Failed)
		}
		out = append(out, job)
	}
	return out
}
