package verdict_test

import (
	"context"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/drive"
	"github.com/jobledger/jobledger/internal/dev/sim/kubelet"
	"github.com/jobledger/jobledger/internal/dev/sim/world"
)

// TestVerdictsOnJobsThatWerePlayed plays Jobs in a simulated cluster, and reads the verdicts in their logs: in the
// record by which the Job retires, and in that of the decision that ended it, which Kubernetes Events show.
func TestVerdictsOnJobsThatWerePlayed(t *testing.T) {
	for _, row := range []struct {
		sentence string
		job      func(*batchv1.JobSpec, map[string]string)
		then     func(*game)
		want     string
	}{
		{"a Job of one pod that succeeds", func(*batchv1.JobSpec, map[string]string) {}, nil,
			"COMPLETE after 5 s: 1 pod succeeded"},
		{"three pods that fail alike", func(s *batchv1.JobSpec, pod map[string]string) {
			s.BackoffLimit = new(int32(2))
			pod[kubelet.AnnotationOutcome], pod[kubelet.AnnotationExitCode] = kubelet.OutcomeFail, "3"
		}, nil,
			"FAILED after 45 s: all 3 tries exited 3 (container main); backoffLimit is 2"},
		{"a Job that survives two failures", func(s *batchv1.JobSpec, pod map[string]string) {
			s.BackoffLimit = new(int32(2))
			pod[kubelet.AnnotationFailAttempts], pod[kubelet.AnnotationExitCode] = "2", "7"
		}, nil,
			"COMPLETE after 45 s: 1 pod succeeded; survived: 2 tries exited 7 (container main)"},
		{"a deadline that passes while pods run", func(s *batchv1.JobSpec, pod map[string]string) {
			s.Parallelism, s.Completions, s.ActiveDeadlineSeconds = new(int32(2)), new(int32(2)), new(int64(15))
			pod[kubelet.AnnotationOutcome] = kubelet.OutcomeRun
		}, nil,
			"FAILED after 15 s: activeDeadlineSeconds 15 passed; 2 pods were stopped"},
		{"a rule of the podFailurePolicy", func(s *batchv1.JobSpec, pod map[string]string) {
			s.PodFailurePolicy = failJobOn(42)
			pod[kubelet.AnnotationOutcome], pod[kubelet.AnnotationExitCode] = kubelet.OutcomeFail, "42"
		}, nil,
			"FAILED after 5 s: 1 try exited 42 (container main); podFailurePolicy.rules[0] is FailJob"},
		{"a limit for each index", func(s *batchv1.JobSpec, pod map[string]string) {
			s.Parallelism, s.Completions, s.CompletionMode = new(int32(4)), new(int32(4)), new(batchv1.IndexedCompletion)
			s.BackoffLimitPerIndex = new(int32(1))
			pod[kubelet.AnnotationFailIndexes], pod[kubelet.AnnotationExitCode] = "1,3", "17"
			pod[kubelet.AnnotationOutcome] = kubelet.OutcomeSucceed
		}, nil,
			"FAILED after 20 s: indexes 1,3 of 4 failed; 4 tries exited 17; backoffLimitPerIndex is 1"},
		{"too many failed indexes", func(s *batchv1.JobSpec, pod map[string]string) {
			s.Parallelism, s.Completions, s.CompletionMode = new(int32(1)), new(int32(4)), new(batchv1.IndexedCompletion)
			s.BackoffLimitPerIndex, s.MaxFailedIndexes = new(int32(0)), new(int32(0))
			pod[kubelet.AnnotationFailIndexes], pod[kubelet.AnnotationExitCode] = "2", "17"
			pod[kubelet.AnnotationOutcome] = kubelet.OutcomeSucceed
		}, nil,
			"FAILED after 15 s: index 2 of 4 failed, maxFailedIndexes is 0; 1 try exited 17 (container main)"},
		{"a rule of the successPolicy", func(s *batchv1.JobSpec, pod map[string]string) {
			s.Parallelism, s.Completions, s.CompletionMode = new(int32(3)), new(int32(3)), new(batchv1.IndexedCompletion)
			s.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededCount: new(int32(1))}}}
			pod[kubelet.AnnotationOutcome] = kubelet.OutcomeSucceed
		}, nil,
			"COMPLETE after 5 s: successPolicy.rules[0] is met by index 0 of 3; 2 pods were stopped"},
		{"a pod that somebody deletes", func(s *batchv1.JobSpec, pod map[string]string) {
			pod[kubelet.AnnotationRunFor] = "30s"
		}, func(g *game) {
			g.wait(10 * time.Second)
			g.deletePod()
		},
			"COMPLETE after 52 s: 1 pod succeeded; survived: 1 try was deleted before its end"},
		{"a Job that is suspended and resumed", func(s *batchv1.JobSpec, pod map[string]string) {
			pod[kubelet.AnnotationRunFor] = "30s"
		}, func(g *game) {
			g.wait(10 * time.Second)
			g.change(func(s *batchv1.JobSpec) { s.Suspend = new(true) })
			g.wait(20 * time.Second)
			g.change(func(s *batchv1.JobSpec) { s.Suspend = new(false) })
		},
			"COMPLETE 1m02s after its creation, 20 s of it suspended: 1 pod succeeded; 1 pod was stopped"},
		{"containers that are started again", func(s *batchv1.JobSpec, pod map[string]string) {
			s.BackoffLimit, s.Template.Spec.RestartPolicy = new(int32(2)), corev1.RestartPolicyOnFailure
			pod[kubelet.AnnotationOutcome], pod[kubelet.AnnotationExitCode] = kubelet.OutcomeFail, "3"
		}, nil,
			"FAILED after 8 s: container main restarted 2 times after exit 3; backoffLimit is 2"},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			g := play(t, row.job, row.then)
			var retired, decided string
			for rec, err := range g.Log().Read(context.Background(), 1) {
				if err != nil {
					t.Fatal(err)
				}
				switch rec.Facts.(type) {
				case *events.JobRetired:
					retired = rec.Evidence.Sentence
				case *events.Decision:
					if rec.Evidence.Sentence != "" {
						decided = rec.Evidence.Sentence
					}
				}
			}
			if retired != row.want {
				t.Errorf("the verdict is\n\t%s\nwant\n\t%s", retired, row.want)
			}
			if decided != retired {
				t.Errorf("the decision says\n\t%s\nand the record by which the Job retires\n\t%s", decided, retired)
			}
			if retired == "" {
				t.Log(g.Records(40))
			}
			if err := g.CheckLog(); err != nil {
				t.Error(err)
			}
		})
	}
}

// game is a Job that is played.
type game struct {
	*drive.Driver
	t *testing.T
}

func play(t *testing.T, change func(*batchv1.JobSpec, map[string]string), then func(*game)) *game {
	t.Helper()
	seconds := func(n int) kubelet.Range {
		return kubelet.Range{Min: time.Duration(n) * time.Second, Max: time.Duration(n) * time.Second}
	}
	pod := map[string]string{kubelet.AnnotationOutcome: kubelet.OutcomeSucceed}
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "demo"},
		Spec: batchv1.JobSpec{
			ManagedBy: new(events.ManagedBy),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Annotations: pod},
				Spec:       corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "sim"}}},
			},
		},
	}
	change(&job.Spec, pod)
	d, err := drive.New(drive.Config{Settings: events.DefaultSettings(), World: world.Config{
		Kubelet: kubelet.Config{Schedule: seconds(1), Start: seconds(1), RunTime: seconds(3)},
	}}, job)
	if err != nil {
		t.Fatal(err)
	}
	g := &game{Driver: d, t: t}
	if then != nil {
		then(g)
	}
	g.must(d.Settle())
	return g
}

func (g *game) must(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatalf("%v\nlast records:\n%s", err, g.Records(30))
	}
}

// wait plays on for as long.
func (g *game) wait(d time.Duration) { g.must(g.Pass(d)) }

func (g *game) change(change func(*batchv1.JobSpec)) {
	job := g.World.Server.Job("default", "demo")
	change(&job.Spec)
	_, err := g.World.Server.Client("user").UpdateJob(context.Background(), job)
	g.must(err)
}

func (g *game) deletePod() {
	pod := g.World.Server.AllPods()[0]
	g.must(g.World.Server.Client("user").DeletePod(context.Background(), pod.Namespace, pod.Name, pod.UID, ""))
}

func failJobOn(code int32) *batchv1.PodFailurePolicy {
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action: batchv1.PodFailurePolicyActionFailJob,
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{code},
		},
	}}}
}
