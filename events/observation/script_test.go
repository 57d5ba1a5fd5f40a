package observation

import (
	"cmp"
	"errors"
	"log/slog"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/observation/observationtest"
)

// recorder writes down what a feed reports. It is also its keeper.
type recorder struct {
	observationtest.Keeper
	t    *testing.T
	told []events.Observation
	idle bool // commands are not carried out, so no objects need be kept
}

// drain takes all observations that wait.
func (r *recorder) drain(feed *Feed) {
	for o, ok := feed.Take(); ok; o, ok = feed.Take() {
		if !r.idle && r.Lacks(o) {
			r.t.Errorf("%s was told before the keeper had it", line(o))
		}
		r.told = append(r.told, o)
	}
}

// take returns the observations since its last call, one line for each.
func (r *recorder) take() []string {
	var lines []string
	for _, o := range r.told {
		lines = append(lines, line(o))
	}
	r.told = nil
	return lines
}

// cluster stores objects under versions, and shows each change to a feed at once. Package informer's tests have one
// with lists, watches and faults.
type cluster struct {
	t       *testing.T
	version uint64
	objects map[types.UID]metav1.Object
	feed    *Feed // nil until it is started
	told    *recorder
}

type starter = func(change ...func(*Config)) (*Feed, *recorder)

// script runs a test against a cluster. start makes a feed, and lists the cluster's objects.
func script(t *testing.T, test func(t *testing.T, c *cluster, start starter)) {
	c := &cluster{t: t, objects: map[types.UID]metav1.Object{}}
	test(t, c, c.start)
}

func (c *cluster) start(change ...func(*Config)) (*Feed, *recorder) {
	c.t.Helper()
	c.told = &recorder{t: c.t}
	config := Config{
		Mode: events.ModeDelegated, Identity: testIdentity, Key: testKey, Keeper: c.told, Logger: slog.New(slog.DiscardHandler),
	}
	for _, ch := range change {
		ch(&config)
	}
	c.feed = NewFeed(config)
	err := errors.Join(
		c.feed.ListJobs(listed[*batchv1.Job](c), at(c.version)), c.feed.ListPods(listed[*corev1.Pod](c), at(c.version)),
	)
	if config.CronJobs {
		err = errors.Join(err, c.feed.ListCronJobs(listed[*batchv1.CronJob](c), at(c.version)))
	}
	c.took(err)
	return c.feed, c.told
}

// listed returns the objects of a type, by UID.
func listed[O metav1.Object](c *cluster) (list []O) {
	for _, o := range c.objects {
		if o, is := o.(O); is {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b O) int { return cmp.Compare(a.GetUID(), b.GetUID()) })
	return list
}

// took handles the feed's answer.
func (c *cluster) took(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
	c.told.drain(c.feed)
}

// set stores the object under a new version, and returns that version.
func (c *cluster) set(o metav1.Object) uint64 {
	c.t.Helper()
	o = c.versioned(o)
	c.objects[o.GetUID()] = o
	if c.feed == nil {
		return c.version
	}
	switch o := o.(type) {
	case *batchv1.Job:
		c.took(c.feed.JobChanged(o))
	case *corev1.Pod:
		c.took(c.feed.PodChanged(o))
	case *batchv1.CronJob:
		c.took(c.feed.CronJobChanged(o))
	}
	return c.version
}

// remove deletes an object, and returns the version of the deletion.
func (c *cluster) remove(o metav1.Object) uint64 {
	c.t.Helper()
	o = c.versioned(o)
	delete(c.objects, o.GetUID())
	switch o := o.(type) {
	case *batchv1.Job:
		c.took(c.feed.JobDeleted(o))
	case *corev1.Pod:
		c.took(c.feed.PodDeleted(o))
	case *batchv1.CronJob:
		c.took(c.feed.CronJobDeleted(o))
	}
	return c.version
}

// versioned returns a copy of the object with the next version.
func (c *cluster) versioned(o metav1.Object) metav1.Object {
	c.version++
	switch of := o.(type) {
	case *batchv1.Job:
		o = of.DeepCopy()
	case *corev1.Pod:
		o = of.DeepCopy()
	case *batchv1.CronJob:
		o = of.DeepCopy()
	}
	o.SetResourceVersion(at(c.version))
	return o
}
