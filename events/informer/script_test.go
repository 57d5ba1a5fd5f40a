package informer

import (
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/observation"
	"github.com/jobledger/jobledger/events/observation/observationtest"
)

// Short names of builders that the tests of package observation use, too.
var (
	testKey, testIdentity      = observationtest.Key, observationtest.Identity
	testJob, testPod           = observationtest.Job, observationtest.Pod
	testCronJob, ofCronJob     = observationtest.CronJob, observationtest.OfCronJob
	wireJob, wire, wireCronJob = observationtest.WireJob, observationtest.WirePod, observationtest.WireCronJob
	of, finalizer, phase       = observationtest.Of, observationtest.Finalizer, observationtest.Phase
	at, line, expect           = observationtest.At, observationtest.Line, observationtest.Expect
)

// recorder is a sink that writes down what it gets, and the keeper. It blocks only on demand.
type recorder struct {
	observationtest.Keeper
	t    *testing.T
	mu   sync.Mutex
	told []events.Observation
	gate chan struct{} // when set, the sink is busy until it is closed
}

func (r *recorder) Observe(o events.Observation) {
	if r.gate != nil {
		<-r.gate
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Lacks(o) {
		r.t.Errorf("%s was told before the keeper had it", line(o))
	}
	r.told = append(r.told, o)
}

// take returns the observations since its last call, one line for each.
func (r *recorder) take() []string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	var lines []string
	for _, o := range r.told {
		lines = append(lines, line(o))
	}
	r.told = nil
	return lines
}

// bubble runs a test against a cluster in virtual time. start begins the informer, and the bubble's end stops it.
func bubble(t *testing.T, test func(t *testing.T, c *cluster, start func(change ...func(*Config)) (*Informer, *recorder))) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		test(t, c, func(change ...func(*Config)) (*Informer, *recorder) { return startInformer(t, c.client(), change...) })
	})
}

func startInformer(t *testing.T, client kubernetes.Interface, change ...func(*Config)) (*Informer, *recorder) {
	t.Helper()
	r := &recorder{t: t}
	config := Config{Client: client, Sink: r, Feed: observation.Config{
		Mode: events.ModeDelegated, Identity: testIdentity, Key: testKey, Keeper: r, Logger: slog.New(slog.DiscardHandler),
	}}
	for _, ch := range change {
		ch(&config)
	}
	i, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	runInformer(t, i)
	return i, r
}

// runInformer runs it until the bubble ends.
func runInformer(t *testing.T, i *Informer) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- i.Run(t.Context()) }()
	t.Cleanup(func() {
		if err := <-ended; err != nil && !strings.Contains(err.Error(), "relied on") {
			t.Errorf("Run: %v", err)
		}
	})
	synctest.Wait()
}
