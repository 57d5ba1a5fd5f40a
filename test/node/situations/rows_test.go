//go:build linux

package situations

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/jobledger/jobledger/test/internal/causes"
)

// row is a situation.
type row struct {
	name  string              // unique
	job   []option            // of its Job
	named func(string) option // also of its Job, with the name of the namespace
	alone bool                // it acts on the node or its kubelet, so no other row may run
	nopod bool                // no pod is created

	prepare func(*situation) // runs before the Job is created
	stage   func(*situation) // runs after the first pod has come

	// The truth: that of a cause that the generator plays, too, or the fields below.
	cause    string
	did      string
	says     []string // regular expressions: an answer about the Job must match each
	pod      []string // the same for the pod; nil: says
	may      string   // signatures that are true
	exits    []int32
	untold   string // set: nothing that Jobledger reads has the cause
	unseen   string // the same, only for an observer; unseenly is what it says instead
	unseenly string
}

func rows() []row {
	return slices.Concat(exits, kills, pulls, configs, starts, sidecars, deletions, refusals, alone)
}

// tell writes the truth, as far as it is known before the situation is staged.
func (s *situation) tell() {
	r := *s.row
	if r.cause != "" {
		c := causes.Named(r.cause)
		r.did, r.says, r.may, r.exits = words(r.did, c.Did), append(slices.Clone(c.Says), r.says...), words(r.may, c.May), append(slices.Clone(c.Exits), r.exits...)
	}
	if r.unseen != "" && s.mode == observe {
		r.untold, r.says = r.unseen, []string{r.unseenly}
		r.may = words(r.may, "schedule quota refused edit") // named as missing knowledge
	}
	s.told.Name, s.told.Cause, s.told.Mode, s.told.Namespace = r.name, r.name, string(s.mode), s.name
	s.told.Did, s.told.True, s.told.Exits, s.told.Untold = r.did, strings.Fields(r.may), r.exits, r.untold
	for _, w := range r.says {
		s.told.Says = append(s.told.Says, []string{w})
	}
	if r.pod == nil && !r.nopod {
		r.pod = r.says
	}
	for _, w := range r.pod {
		s.told.PodSays = append(s.told.PodSays, []string{w})
	}
}

func words(all ...string) string { return strings.TrimSpace(strings.Join(all, " ")) }

// ends: the situation goes on until the Job has ended.
func ends(s *situation) { s.awaitEnd() }

// exits are programs that end by themselves.
var exits = []row{
	{name: "exit", cause: "exit", job: []option{runs(`sleep 2; echo "db: connection refused by 10.0.0.7:5432" > /dev/termination-log; exit 42`)}, stage: ends},
	{name: "logs", did: "container main exited 4; terminationMessagePolicy takes the end of its log", says: []string{`exit(ed)? 4\b`, `no such table: orders`}, pod: []string{`exit(ed)? 4\b`}, exits: []int32{4},
		job: []option{runs(`sleep 1; echo "panic: no such table: orders"; exit 4`), container(func(c *corev1.Container) {
			c.TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError
		})}, stage: ends},
	{name: "crashloop", cause: "crashloop", job: []option{limit(6), onFailure(), runs("sleep 1; exit 3")}, stage: func(s *situation) {
		s.awaitPod("it waits for the second time", func(p *corev1.Pod) bool {
			c := p.Status.ContainerStatuses
			return len(c) > 0 && c[0].RestartCount == 2 && c[0].State.Waiting != nil && c[0].LastTerminationState.Terminated != nil
		})
		s.pass(3 * second)
	}},
	{name: "restarts", did: "container main exited 3, and was started again in its pod as often as backoffLimit (1) allows", exits: []int32{3, 137, 143},
		says: []string{`exit(ed)? 3`, `backoffLimit`}, pod: []string{`restart|Job fails`}, may: "crashloop", job: []option{limit(1), onFailure(), runs("sleep 1; exit 3")}, stage: ends},
	{name: "failjob", did: "container main exited 42, by which podFailurePolicy fails the Job", exits: []int32{42}, says: []string{`exit(ed)? 42`, `podFailurePolicy`}, pod: []string{`exit(ed)? 42`},
		job: []option{limit(3), runs("sleep 1; exit 42"), rules(batchv1.PodFailurePolicyRule{Action: batchv1.PodFailurePolicyActionFailJob,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{42}}})}, stage: ends},
	{name: "two", did: "main exited 5 and helper exited 6", exits: []int32{5, 6}, says: []string{`exit(ed)? 5|main.*\b5\b`, `helper`},
		job: []option{runs("sleep 1; exit 5"), beside(shell("helper", "sleep 2; exit 6"))}, stage: ends},
	{name: "success", did: "nothing: the Job succeeded", says: []string{`succeeded`}, pod: []string{`succe`}, job: []option{runs("sleep 2")}, stage: ends},
	{name: "rerun", did: "container main exited 42 once, and a rule of its own starts it again; then it succeeded", says: []string{`succeeded`}, pod: []string{`succe`}, exits: []int32{42}, may: "crashloop",
		job: []option{runs("test -e /data/done && exit 0; touch /data/done; exit 42"), volume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}),
			container(func(c *corev1.Container) {
				c.RestartPolicy = new(corev1.ContainerRestartPolicyNever)
				c.RestartPolicyRules = []corev1.ContainerRestartRule{{Action: corev1.ContainerRestartRuleActionRestart,
					ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{42}}}}
			})}, stage: ends},
}

func rules(all ...batchv1.PodFailurePolicyRule) option {
	return func(j *batchv1.Job) { j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: all} }
}
