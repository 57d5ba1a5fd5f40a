package drive_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/drive"
	"github.com/jobledger/jobledger/internal/dev/sim/kubelet"
	"github.com/jobledger/jobledger/internal/dev/sim/users"
	"github.com/jobledger/jobledger/internal/dev/sim/world"
)

// longer is the factor by which JOBLEDGER_LONG raises the number of seeds.
const longer = 100

// seeds returns how many seeds a test runs: JOBLEDGER_SEEDS, or `otherwise`, which fits into CI, or many more with
// JOBLEDGER_LONG. `otherwise` is never below the 6 seeds that 'make mutants' runs, because those notice the mutants of
// the rules.
func seeds(t *testing.T, otherwise int) int {
	t.Helper()
	text := os.Getenv("JOBLEDGER_SEEDS")
	if text == "" && effort.IsLong() {
		return longer * otherwise
	}
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("JOBLEDGER_SEEDS=%s: %v", text, err)
	}
	return n
}

// toRepeat returns the command that plays the seed again. It includes the variables, because seeds beyond those of make
// test only exist with them.
func toRepeat(t *testing.T) string {
	t.Helper()
	variables := ""
	for _, name := range []string{"JOBLEDGER_SEEDS", "JOBLEDGER_LONG"} {
		if value := os.Getenv(name); value != "" {
			variables += name + "=" + value + " "
		}
	}
	return fmt.Sprintf("to repeat: %sgo test ./internal/dev/sim/drive -run '%s$'", variables, t.Name())
}

func upTo(seconds int) kubelet.Range { return kubelet.Range{Max: time.Duration(seconds) * time.Second} }

func config(seed uint64) drive.Config {
	settings := events.DefaultSettings()
	settings.HeldAtEnd = []uint32{settings.HeldAtEnd, 1, 2, 3}[seed%4] // most Jobs here have a few pods
	return drive.Config{
		Settings: settings,
		World: world.Config{
			Seed: seed, UserChance: 0.02, NodeLossChance: 0.001, UsersOff: []users.Deed{users.MeddleJob, users.ReindexPod},
			Kubelet: kubelet.Config{
				Schedule: upTo(2), Start: upTo(3), RunTime: upTo(20), Stops: kubelet.QuickAndSlow(), Confirm: upTo(2),
				FailRate: 0.2, CleanStop: 0.5,
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

// TestSeeds lets the controller work in the worlds of many seeds, with every disturbance except the loss of the log.
// After every step, package invariants checks all writes; at the end, CheckLog checks the log.
//
// J-089: whichever step it crashes at, each pod that ended is counted once, and none is forgotten.
// J-085: no finalizer of a pod that must be counted goes before a stored status accounts for it.
// J-206 to J-232, O-060: no status write of any seed is refused as invalid by a server that enforces every rule.
// J-008, J-009, J-082: nothing of a finished Job is written again, made or deleted.
// J-102: no deleted Job leaves a finalizer.
// J-003: one loop decides: a replay, record by record, makes the same decisions.
// J-015: each record about a Job, and each wait that is over, leads to a decision at once: deciding again finds
// nothing.
// J-193: after a crash, the process knows only the log and a listing, and every invariant still holds.
func TestSeeds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds(t, 10)) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { run(t, config(seed)) })
	}
}

// J-251: with the log lost, decisions that came from pods are made again from the pods that still carry the finalizer.
//
// TestSeedsWithALostLog loses the log with half of the crashes. History is lost then, but never correctness (see design
// §2, invariant 4).
func TestSeedsWithALostLog(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds(t, 6)) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			cfg := config(seed)
			cfg.LoseLog = 0.5
			run(t, cfg)
		})
	}
}

// TestSeedsWithALostKey loses the key with half of the crashes. Specs are stated again under new names. A lost key
// makes no create in doubt be repeated or forgotten (J-014). The logs replay without a key.
func TestSeedsWithALostKey(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds(t, 6)) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			cfg := config(seed)
			cfg.Crash, cfg.LoseKey = 0.01, 0.5
			cfg.Files, cfg.Snapshot = int(seed%2)*(8<<10), 20
			run(t, cfg)
		})
	}
}

// TestSeedsInSmallFiles rotates the log every few batches, and makes snapshots all the time, one stream a turn. Each
// file stands alone, and a recovery works from streams as of different records.
func TestSeedsInSmallFiles(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds(t, 6)) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			cfg := config(seed)
			cfg.Files, cfg.Snapshot = int(1+seed%2)*(4<<10), 20
			run(t, cfg)
		})
	}
}

// TestSeedsOfStalls has watches that lag for a while. Answers are then newer than what the watches show, and a Job with
// many pods is over and retired before the last versions of its pods come.
func TestSeedsOfStalls(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds(t, 6)) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			cfg := config(seed)
			cfg.Stall, cfg.World.UserChance = 0.02, 0.3
			cfg.World.UsersOff = slices.DeleteFunc(slices.Clone(users.Deeds), func(d users.Deed) bool { return d == users.TouchPod })
			cfg.Faults = nil
			all := jobs(seed)
			for _, j := range all {
				j.Spec.Suspend, j.Spec.Parallelism, j.Spec.Completions = nil, new(int32(15)), new(int32(15))
			}
			runJobs(t, cfg, all)
		})
	}
}

// TestSeedsOfStops stops and starts the process all the time, cleanly or late, and lets the Lease lapse. Commands that
// were not begun are given back, each ends once, and the next process knows only the log and a listing (J-193).
func TestSeedsOfStops(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds(t, 6)) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			cfg := config(seed)
			cfg.Stop, cfg.Lapse = 0.01, 0.02
			cfg.Settings.SlowStart = uint32(1 + seed%5)
			run(t, cfg)
		})
	}
}

// TestSeedsFullOfRefusals refuses every other request, for every possible reason, while users suspend, scale and
// delete. A command in backoff is tried again, is given up when it is not wanted any more, and never makes a second pod
// (J-017, J-058, J-060, J-101).
func TestSeedsFullOfRefusals(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds(t, 6)) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			cfg := config(seed)
			cfg.Faults = apiserver.Rates{
				apiserver.QuotaExceeded: 0.2, apiserver.WebhookDenied: 0.15, apiserver.TooManyRequests: 0.05,
				apiserver.TimeoutBefore: 0.05, apiserver.TimeoutAfter: 0.05, apiserver.TimeoutLate: 0.05,
				apiserver.ServerError: 0.02, apiserver.ServerErrorAfter: 0.02, apiserver.Unavailable: 0.02,
				apiserver.ConnectionRefused: 0.02,
			}
			cfg.World.UserChance = 0.04
			run(t, cfg)
		})
	}
}

// TestSeedsOfClaims lets users orphan, relabel, copy and delete pods all the time, and the Jobs run for longer. Each
// adopted or released pod is counted once, and no pod keeps a finalizer or an owner without a reason (J-172 to J-180).
// Every third seed loses its log, too.
func TestSeedsOfClaims(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds(t, 6)) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			cfg := config(seed)
			cfg.World.UserChance, cfg.World.UsersOff = 0.15, noClaims
			cfg.World.Kubelet.RunTime = upTo(60)
			if seed%3 == 0 {
				cfg.LoseLog = 0.5
			}
			run(t, cfg)
		})
	}
}

// noClaims lists the user actions that do not change which Job a pod belongs to.
var noClaims = []users.Deed{
	users.TouchJob, users.SuspendJob, users.ResumeJob, users.ScaleJob, users.ResizeJob, users.StripFinalizer,
	users.PauseJob, users.LimitJob, users.HurryJob, users.ReplaceJob, users.MeddleJob, users.ReindexPod,
}

// TestSeedsOfMeddling lets users do all that they can to Jobs: change limits, deadlines and policies, pause and resize,
// edit every part of the status but the counters, and give pods other indexes (J-013, J-035, J-044, J-055, J-151,
// J-164). In each seed the users do only some of these, and do them more often.
func TestSeedsOfMeddling(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds(t, 6)) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			cfg := config(seed)
			cfg.World.UserChance, cfg.World.UsersOff = []float64{0.1, 0.3}[seed/2%2], some(seed)
			if seed%3 == 0 {
				cfg.LoseLog = 0.5
			}
			if seed%2 == 0 {
				cfg.World.Kubelet.RunTime, cfg.Settings.PodFailureBackoff = upTo(60), time.Second
			}
			run(t, cfg)
		})
	}
}

// TestSeedsOfRemovals lets users suspend, resume, scale and resize Jobs all the time. The podFailurePolicy of these
// Jobs fails the Job for one exit code only: that of a pod that was asked to stop. The removal of surplus pods must
// never fail the Job (J-133). Every other seed loses its log, too.
func TestSeedsOfRemovals(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds(t, 6)) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			cfg := config(seed)
			cfg.World.UserChance, cfg.World.UsersOff = 0.5, onlyRemovals
			cfg.World.Kubelet.RunTime, cfg.World.Kubelet.CleanStop = upTo(600), 0
			cfg.LoseLog = float64(seed%2) / 2
			all := jobs(seed)
			for _, job := range all {
				job.Spec.PodFailurePolicy = onExitCodes(batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyOnExitCodesOpNotIn, 1)
				job.Spec.PodReplacementPolicy, job.Spec.Template.Spec.RestartPolicy = nil, corev1.RestartPolicyNever
			}
			runJobs(t, cfg, all)
		})
	}
}

// onlyRemovals lists the user actions to switch off, so that the others make Jobs remove pods.
var onlyRemovals = []users.Deed{
	users.DeletePod, users.StripFinalizer, users.RelabelPod, users.RestoreLabels, users.OrphanPod, users.TouchPod, users.TouchJob,
	users.DeleteJob, users.RecreateJob, users.MakeOrphan, users.LimitJob, users.HurryJob, users.ReplaceJob, users.ReindexPod, users.MeddleJob,
}

// TestSeedsOfFailingIndexes lets users change limits and deadlines all the time. The Jobs have a limit per index, and
// their pods run for long. If a pod is deleted because the Job fails, its index has not failed (J-116). Every other
// seed loses its log, too.
func TestSeedsOfFailingIndexes(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds(t, 6)) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			cfg := config(seed)
			cfg.World.UserChance, cfg.World.UsersOff = 0.3, onlyLimits
			cfg.World.Kubelet.RunTime, cfg.LoseLog = upTo(600), float64(seed%2)/2
			all := jobs(seed)
			for _, job := range all {
				s := &job.Spec
				s.Completions, s.CompletionMode, s.BackoffLimitPerIndex = new(max(4, *s.Parallelism)), new(batchv1.IndexedCompletion), new(int32(0))
				s.MaxFailedIndexes, s.SuccessPolicy, s.ActiveDeadlineSeconds = nil, nil, new(int64(30))
			}
			runJobs(t, cfg, all)
		})
	}
}

// onlyLimits lists the user actions to switch off: all except those that can make a Job fail, and TouchJob.
var onlyLimits = slices.DeleteFunc(slices.Clone(users.Deeds), func(d users.Deed) bool {
	return d == users.LimitJob || d == users.HurryJob || d == users.TouchJob
})

// some returns the user actions that a seed switches off: about three of four.
func some(seed uint64) []users.Deed {
	rng := world.Rand(seed, 11)
	return slices.DeleteFunc(slices.Clone(users.Deeds), func(users.Deed) bool { return rng.IntN(4) == 0 })
}

func run(t *testing.T, cfg drive.Config) {
	t.Helper()
	runJobs(t, cfg, jobs(cfg.World.Seed))
}

func runJobs(t *testing.T, cfg drive.Config, jobs []*batchv1.Job) *drive.Driver {
	t.Helper()
	d, err := drive.New(cfg, jobs...)
	if err != nil {
		t.Fatal(err)
	}
	fail := func(err error) {
		t.Helper()
		t.Fatalf("%v\nlast steps:\n%s\nlast records:\n%s\n%s", err, d.History(60), d.Records(300), toRepeat(t))
	}
	if err := d.Steps(1500); err != nil {
		fail(err)
	}
	if err := d.Settle(); err != nil {
		fail(err)
	}
	if err := d.CheckLog(); err != nil {
		fail(err)
	}
	return d
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
	spec.PodFailurePolicy = onExitCodes(actions[rng.IntN(len(actions))], batchv1.PodFailurePolicyOnExitCodesOpIn, []int32{1, 143}[rng.IntN(2):]...)
	spec.PodReplacementPolicy = nil
}

func onExitCodes(action batchv1.PodFailurePolicyAction, operator batchv1.PodFailurePolicyOnExitCodesOperator, codes ...int32) *batchv1.PodFailurePolicy {
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: operator, Values: codes},
	}}}
}

// jobs returns the Jobs of a seed: of every kind, small.
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
		if rng.IntN(3) == 0 { // several Jobs that select the same pods
			shared := map[string]string{users.SharedLabel: "shared"}
			job.Spec.ManualSelector, job.Spec.Selector = new(true), &metav1.LabelSelector{MatchLabels: shared}
			job.Spec.Template.Labels = shared
		}
		if rng.IntN(5) == 0 {
			job.Spec.ActiveDeadlineSeconds = new(int64(5 + rng.IntN(60)))
		}
		if job.Spec.PodFailurePolicy == nil && rng.IntN(4) == 0 {
			job.Spec.PodReplacementPolicy = new(batchv1.Failed)
		}
		if job.Spec.PodFailurePolicy == nil && rng.IntN(6) == 0 {
			job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
		}
		job.Spec.Suspend = new(rng.IntN(8) == 0)
		out = append(out, job)
	}
	return out
}
