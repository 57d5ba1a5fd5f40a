package oracle

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers"
	batchv1informers "k8s.io/client-go/informers/batch/v1"
	"k8s.io/client-go/kubernetes"
	typedbatchv1 "k8s.io/client-go/kubernetes/typed/batch/v1"
	batchv1listers "k8s.io/client-go/listers/batch/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/cronjob"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/ttlafterfinished"

	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/world"
)

func init() {
	// Remove the handlers through which the built-in controller reports errors: their rate limit, one a millisecond,
	// has a clock that would go on from one synctest bubble to the next.
	utilruntime.ErrorHandlers = nil
	klog.SetLogger(logr.Discard())
	// A CronJob without a time zone uses the process's (C-042). Zones come from the Go distribution, as Jobledger's do.
	time.Local = time.UTC
	zones := filepath.Join(runtime.GOROOT(), "lib", "time", "zoneinfo.zip") //nolint:staticcheck // tests run where they are built
	if err := os.Setenv("ZONEINFO", zones); err != nil {
		panic(err)
	}
}

// upstream runs unchanged controllers of Kubernetes in a simulated cluster and a synctest bubble: the Job controller
// and the TTL controller, or the CronJob controller if the scenario has CronJobs.
type upstream struct {
	*cluster
	front *front
	mends *mends // wrappers that make upstream follow our rules; nil: none
	sets  bool   // the scenario sets the controller's clock
	// Used only with mends: cached is the controller's list of CronJobs, statuses makes its status writes, and jobs its
	// reads of Jobs.
	cached   batchv1listers.CronJobLister
	statuses typedbatchv1.CronJobInterface
	jobs     typedbatchv1.JobInterface
	look     func(key string) // adds a CronJob to the controller's work queue; used only with mends
	stop     func()           // ends the running controller; nil if none runs
}

// player runs scenarios with the built-in controllers in a test, and counts the runs.
type player struct {
	*testing.T
	plays int
}

// playUpstream runs a scenario with the built-in controllers, and returns the picture (the final state as lines),
// without what the lens l leaves out. m says in which order goroutines see things that happen at the same time.
func playUpstream(t *player, s Scenario, l lens, seed uint64, m manner) (p Picture, err error) {
	return playMended(t, s, l, seed, m, nil)
}

// playMended does the same as playUpstream, with the mends m: changes that make upstream follow our rules. A nil m
// means none.
func playMended(t *player, s Scenario, l lens, seed uint64, as manner, m *mends) (p Picture, err error) {
	t.plays++
	synctest.Test(t.T, func(*testing.T) {
		err = inBubble(s, seed, as, m, func(c *cluster) error {
			p, err = c.picture(l)
			return err
		})
	})
	return p, err
}

// inBubble runs a scenario with the built-in controllers in a synctest bubble, and calls show with the cluster at the
// end. For as and m see playMended.
func inBubble(s Scenario, seed uint64, as manner, m *mends, show func(*cluster) error) error {
	sleep(time.Until(world.Start)) // first let the bubble's clock reach the start of the simulated cluster's time
	c, err := newCluster(s, seed, "job-controller")
	if err != nil {
		return err
	}
	u := &upstream{cluster: c, front: newFront(c), mends: m, sets: s.does("clock")}
	u.front.manner = as
	u.begin = u.start
	if err := u.start(false); err != nil {
		return err
	}
	defer func() {
		u.stop()
		synctest.Wait()
	}()
	if err := s.play(u); err != nil {
		return err
	}
	u.front.lock()
	defer u.front.unlock()
	return show(c)
}

// start ends the running controller, if there is one, and starts another one. The built-in controllers have no log, so
// lost matters only for mends.
func (u *upstream) start(lost bool) error {
	if u.stop != nil {
		u.stop()
	}
	if lost && u.mends != nil {
		u.mends.forget()
	}
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logr.New(&eventSink{front: u.front})))
	config := &rest.Config{Host: "http://oracle", QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
	client, err := kubernetes.NewForConfigAndClient(config, &http.Client{Transport: u.front.connect(ctx)})
	if err != nil {
		cancel()
		return fmt.Errorf("make a client: %w", err)
	}
	shared := informers.NewSharedInformerFactory(client, 0)
	controllers, err := u.controllers(ctx, client, shared)
	if err != nil {
		cancel()
		return fmt.Errorf("make upstream's controller: %w", err)
	}
	shared.StartWithContext(ctx)
	for _, run := range controllers {
		go run(ctx, 5) // this goroutine ends when ctx ends
	}
	u.stop = cancel
	return nil
}

// controllers returns the Run functions of the controllers that the scenario needs.
func (u *upstream) controllers(ctx context.Context, client kubernetes.Interface, shared informers.SharedInformerFactory) (
	run []func(context.Context, int), err error,
) {
	if len(u.crons) > 0 {
		var jobs batchv1informers.JobInformer = shared.Batch().V1().Jobs()
		var cronJobs batchv1informers.CronJobInformer = shared.Batch().V1().CronJobs()
		if u.mends != nil {
			u.cached, u.statuses, u.jobs = cronJobs.Lister(), mendedCronJobs{client.BatchV1().CronJobs(namespace), u}, client.BatchV1().Jobs(namespace)
			u.mends.listed()
			if err := u.mends.follow(jobs, func(key string) { u.look(key) }); err != nil {
				return nil, err
			}
			client, jobs, cronJobs = mendedClient{client, u}, mendedInformer{jobs, u}, mendedCronInformer{cronJobs, u}
		}
		crons, err := cronjob.NewControllerV2(ctx, jobs, cronJobs, client)
		if err != nil {
			return nil, err
		}
		u.arrange(crons)
		return append(run, crons.Run), nil
	}
	jobs, err := job.NewController(ctx, client, shared.Core().V1().Pods(), shared.Batch().V1().Jobs(), nil, nil)
	if err != nil {
		return nil, err
	}
	expiry := ttlafterfinished.New(ctx, shared.Batch().V1().Jobs(), client)
	return append(run, jobs.Run, expiry.Run), nil
}

// do carries out the actions of a step. Meanwhile the watches deliver nothing; afterwards they deliver the pods first.
// So if an edit makes upstream sync the Job at once, that sync sees the pods that ended at the same time.
func (u *upstream) do(deeds []string) error {
	u.rest()
	u.front.lock()
	u.front.paused = map[apiserver.Kind]bool{apiserver.CronJobs: true, apiserver.Jobs: true, apiserver.Pods: true}
	u.front.unlock()
	u.front.lock()
	err := u.cluster.do(deeds)
	u.front.unlock()
	for _, kinds := range [][]apiserver.Kind{{apiserver.Pods}, {apiserver.CronJobs, apiserver.Jobs}} {
		u.front.lock()
		for _, kind := range kinds {
			delete(u.front.paused, kind)
		}
		u.front.unlock()
		u.rest()
	}
	return err
}

// rest waits until upstream has finished all work that is due now.
func (u *upstream) rest() {
	synctest.Wait()
	// Some work is delayed on purpose: creates by nanoseconds, and each CronJob's key by a moment (patience). Let
	// that time pass, too.
	sleep(100 * patience)
	synctest.Wait()
}

// pass lets the time of the bubble pass, and stops whenever something is due in the cluster.
func (u *upstream) pass(d time.Duration) error {
	end := time.Now().Add(d)
	for {
		synctest.Wait()
		u.front.lock()
		next := end
		if item := u.world.Clock.Next(); item != nil && item.Due.Before(end) {
			next = item.Due
		}
		u.front.unlock()
		wait := time.Until(next)
		if wait <= 0 && next == end {
			return nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-u.front.changed:
		}
		timer.Stop()
	}
}

// sleep waits until d has passed on the clock of the synctest bubble.
func sleep(d time.Duration) { <-time.After(d) }
