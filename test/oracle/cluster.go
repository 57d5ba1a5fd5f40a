package oracle

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/world"
)

// cluster is a simulated cluster in which a scenario runs; its controller is not part of it.
type cluster struct {
	world   *world.World
	actor   string                  // the controller's name in the recorded writes
	client  *apiserver.Client       // the controller's client
	runner  *apiserver.Client       // the controller's client for writes about CronJobs
	user    *apiserver.Client       // the client of users, kubelets and admission policies
	jobs    map[string]*batchv1.Job // the Jobs that the scenario may create, by name
	crons   map[string]*batchv1.CronJob
	rules   []denial                // rules of an admission policy that refuse requests of the controller
	allowed time.Time               // when the scenario last ended all refusals (action "allow")
	held    map[apiserver.Kind]bool // kinds of objects whose watches deliver nothing for now
	// number of writes that the controller may make before it is killed; negative for no limit
	budget int
	fall   *fall                  // the request at which the controller is killed; nil for none
	spent  bool                   // the controller's process was killed, and no other one was started yet
	begin  func(lost bool) error  // starts the controller again; lost says whether without its log
	skew   atomic.Int64           // error of the controller's clock, in nanoseconds
	step   func(by time.Duration) // tells the controller that its clock was set; nil if it is not told
	events map[eventKey]int       // how often the controller reported each Kubernetes Event
}

// eventKey identifies a Kubernetes Event about a Job or a CronJob.
type eventKey struct{ job, kind, reason, message string }

// fall says at which request the controller is killed: at the next one with this verb. fault decides whether that
// request still takes effect.
type fall struct {
	verb  string
	fault apiserver.Fault
}

// denial is a rule that makes the simulated API server refuse some requests of the controller.
type denial struct {
	verb  string // create, delete and patch are about pods, status is about Jobs; deeds.go has the other verbs
	ref   *podRef
	fault apiserver.FaultKind
	once  bool
}

func newCluster(s Scenario, seed uint64, actor string) (*cluster, error) {
	nodes, err := kubelets(s.Nodes)
	if err != nil {
		return nil, err
	}
	c := &cluster{
		actor: actor, world: world.New(world.Config{Seed: seed, Kubelet: nodes}), jobs: map[string]*batchv1.Job{}, crons: map[string]*batchv1.CronJob{}, held: map[apiserver.Kind]bool{},
		budget: -1, events: map[eventKey]int{},
	}
	c.client, c.runner, c.user = c.world.Server.Client(actor), c.world.Server.Client(runner(actor)), c.world.Server.Client("somebody")
	for _, line := range s.Jobs {
		job, err := newJob(line)
		if err != nil {
			return nil, err
		}
		c.jobs[job.Name] = job
	}
	for _, line := range s.CronJobs {
		cronJob, err := newCronJob(line)
		if err != nil {
			return nil, err
		}
		c.crons[cronJob.Name] = cronJob
	}
	return c, nil
}

// runner returns the name under which the controller actor writes about CronJobs. The checker of Jobs
// (internal/dev/sim/invariants) knows its usual name, and would report these writes as errors.
func runner(actor string) string { return actor + ", for CronJobs" }

// reads lists the verbs of requests that change nothing.
var reads = map[string]bool{"get": true, "list": true, "getcron": true}

// admit returns the fault that a request of the controller gets, if any. pod is the pod to be created; nil for other
// requests.
func (c *cluster) admit(verb, name string, pod *corev1.Pod) apiserver.Fault {
	if c.budget == 0 {
		c.spent = true
	}
	if c.spent {
		return apiserver.Fault{Kind: apiserver.ConnectionRefused}
	}
	if c.fall != nil && c.fall.verb == verb {
		c.spent = true
		return c.fall.fault
	}
	// Only writes count down to the kill: a kill after a read would be like one after the write before it.
	if c.budget > 0 && !reads[verb] {
		c.budget--
	}
	if pod == nil && verb != "status" {
		pod = c.world.Server.Pod(namespace, name)
	}
	for i, rule := range c.rules {
		if rule.verb == verb && (rule.ref == nil || rule.ref.meets(pod, name)) {
			if rule.once {
				c.rules = slices.Delete(c.rules, i, i+1)
			}
			return apiserver.Fault{Kind: rule.fault}
		}
	}
	return apiserver.Fault{}
}

// settle makes all steps of the cluster that are due now. It reports whether there were any.
func (c *cluster) settle() bool { return c.world.Settle() }

// faults maps the words of a scenario to kinds of faults that a request can get.
var faults = map[string]apiserver.FaultKind{
	"webhook": apiserver.WebhookDenied, "quota": apiserver.QuotaExceeded, "error": apiserver.ServerError,
	"unavailable": apiserver.Unavailable, "lost": apiserver.TimeoutAfter, "timeout": apiserver.TimeoutBefore,
}

// do carries out the actions (deeds) of one step. If the controller was to be killed by now and is still alive, it is
// killed before the first action.
func (c *cluster) do(deeds []string) error {
	c.spent = c.spent || c.budget >= 0 || c.fall != nil
	for _, deed := range deeds {
		if deed == "" {
			continue
		}
		if err := c.deed(strings.Fields(deed)); err != nil {
			return fmt.Errorf("%s: %w", deed, err)
		}
		c.settle()
	}
	// Also make all steps of the cluster that follow from the actions without delay.
	for c.world.Clock.AdvanceTo(c.world.Clock.Now()) > 0 || c.settle() {
		continue
	}
	return nil
}
