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

// cluster is a simulated cluster in which a scenario is played. The controller is not part of it.
type cluster struct {
	world   *world.World
	actor   string                  // the name under which the controller writes
	client  *apiserver.Client       // of the controller
	runner  *apiserver.Client       // of the controller, for CronJobs
	user    *apiserver.Client       // of everyone else
	jobs    map[string]*batchv1.Job // as the scenario says
	crons   map[string]*batchv1.CronJob
	rules   []denial                // of admission, for the controller's requests
	allowed time.Time               // when the last "allow" was
	held    map[apiserver.Kind]bool // watches that show nothing new
	budget  int                     // writes that the controller may still make before it dies; negative for no limit
	fall    *fall                   // the request at which the controller dies; nil for none
	spent   bool                    // the controller is dead
	begin   func(lost bool) error   // starts the controller anew
	skew    atomic.Int64            // of the controller's clock, in nanoseconds
	step    func(by time.Duration)  // tells the controller that its clock was set; nil if it is not told
	events  map[eventKey]int        // Kubernetes Events
}

// eventKey is an Event about a Job or a CronJob.
type eventKey struct{ job, kind, reason, message string }

// fall is a request at which the controller dies. The fault decides whether the request takes effect.
type fall struct {
	verb  string
	fault apiserver.Fault
}

// denial refuses some of the controller's requests.
type denial struct {
	verb  string // create, delete, patch (of pods), status (of Jobs), and the other verbs in deeds.go
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

// runner is the name under which the controller writes for CronJobs. The referee of Jobs would not allow these writes
// under the other name.
func runner(actor string) string { return actor + ", for CronJobs" }

// reads are the verbs that change nothing.
var reads = map[string]bool{"get": true, "list": true, "getcron": true}

// admit decides what goes wrong with a request of the controller. pod is the pod to be created; nil for other requests.
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
	if c.budget > 0 && !reads[verb] { // a kill after a read equals a kill after the write before it
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

// settle lets all effects happen that take no time.
func (c *cluster) settle() bool { return c.world.Settle() }

// faults are the kinds of faults by their words in a scenario.
var faults = map[string]apiserver.FaultKind{
	"webhook": apiserver.WebhookDenied, "quota": apiserver.QuotaExceeded, "error": apiserver.ServerError,
	"unavailable": apiserver.Unavailable, "lost": apiserver.TimeoutAfter, "timeout": apiserver.TimeoutBefore,
}

// do lets actions happen. A controller that is due to die is dead before the first one.
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
	for c.world.Clock.AdvanceTo(c.world.Clock.Now()) > 0 || c.settle() { // with its effects without delay
		continue
	}
	return nil
}
