package informer

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/events"
)

// cronJobs is a third resource, in one file: the CronJobs with a label, and of those the schedule.
type cronJobs struct {
	resource[*batchv1.CronJob, *knownCronJob]
	reset int // counts the calls of resetLocked
}

type knownCronJob struct {
	entry
	name string
}

// cronJobSeen and cronJobGone stand in for facts that the log does not have yet.
type cronJobSeen struct {
	events.JobSeen
	name, schedule string
}

type cronJobGone struct {
	events.JobGone
	name string
}

func (f *cronJobSeen) String() string {
	return fmt.Sprintf("cronjob %s v%d %s", f.name, f.Version, f.schedule)
}

func (f *cronJobGone) String() string {
	return fmt.Sprintf("cronjob %s gone v%d%s", f.name, f.Version, missedText(f.Missed))
}

func newCronJobs(feed *Feed, version uint64, known ...*batchv1.CronJob) *cronJobs {
	r := &cronJobs{}
	r.resource = newResource(feed, r, events.CronJobs, version)
	for _, c := range known {
		r.known[c.UID] = &knownCronJob{entry{version: 1, told: true}, c.Name}
	}
	return r
}

func (*cronJobs) access(client kubernetes.Interface, namespace string) access {
	api := client.BatchV1().CronJobs(namespace)
	return accessTo(&batchv1.CronJob{}, api.List, api.Watch)
}

func (*cronJobs) strip(c *batchv1.CronJob) {
	c.ManagedFields, c.Spec.JobTemplate = nil, batchv1.JobTemplateSpec{}
}

func (r *cronJobs) takeLocked(c *batchv1.CronJob, version uint64) error {
	known := r.known[c.UID]
	if known == nil {
		if c.Labels["watched"] == "" {
			return nil
		}
		known = &knownCronJob{name: c.Name}
		r.known[c.UID] = known
	}
	known.version = version
	r.tellLocked(c.UID, known, events.Observation{Facts: &cronJobSeen{events.JobSeen{Version: version}, c.Name, c.Spec.Schedule}})
	return nil
}

func (*cronJobs) forgetLocked(types.UID, *knownCronJob) {}

func (*cronJobs) gone(_ types.UID, known *knownCronJob, c *batchv1.CronJob, version uint64) events.Observation {
	return events.Observation{Facts: &cronJobGone{events.JobGone{Version: version, Missed: c == nil}, known.name}}
}

func (*cronJobs) outlived(events.Facts) bool { return true }

func (r *cronJobs) resetLocked() { r.reset++ }

func testCronJob(name, schedule string) *batchv1.CronJob {
	return &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, UID: types.UID("uid-" + name), CreationTimestamp: metav1.NewTime(epoch),
			Labels: map[string]string{"watched": "yes"},
		},
		Spec: batchv1.CronJobSpec{Schedule: schedule},
	}
}

// withCronJobs starts an informer of three resources, whose log has seen the given CronJobs, and that version of the resource.
func withCronJobs(t *testing.T, client kubernetes.Interface, version uint64, known ...*batchv1.CronJob) (*Informer, *cronJobs, *recorder) {
	t.Helper()
	r := &recorder{t: t, kept: map[types.UID]bool{}}
	config := Config{
		Client: client, Mode: events.ModeDelegated, Identity: testIdentity, Key: testKey, Sink: r, Keeper: r,
		Logger: slog.New(slog.DiscardHandler),
	}
	if err := config.validate(); err != nil {
		t.Fatal(err)
	}
	feed := NewFeed(config)
	third := newCronJobs(feed, version, known...)
	feed.resources = append(feed.resources, third)
	i := newInformer(config, feed)
	runInformer(t, i)
	return i, third, r
}

// A third resource says what is seen of its objects; lists, watches, relists, what was missed and rewinds come with the rest.
func TestThirdResource(t *testing.T) {
	for name, client := range map[string]func(*cluster) kubernetes.Interface{
		"lists":             func(c *cluster) kubernetes.Interface { return c.client() },
		"lists that stream": (*cluster).streaming,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { followThird(t, client) })
		})
	}
}

func followThird(t *testing.T, client func(*cluster) kubernetes.Interface) {
	c := newCluster()
	nightly, hourly, unlabelled := testCronJob("nightly", "0 0"), testCronJob("hourly", "0 *"), testCronJob("other", "1 1")
	unlabelled.Labels = nil
	c.set(nightly)    // 1
	c.set(unlabelled) // 2
	i, third, r := withCronJobs(t, client(c), 1, testCronJob("lost", ""))
	expect(t, r.take(),
		"synced [jobs] at [2]", "synced [pods] at [2]",
		"cronjob nightly v1 0 0", "cronjob lost gone v2 missed", "synced [cronjobs] at [2]")

	c.set(hourly)
	nightly.Spec.Schedule = "0 1"
	c.set(nightly)
	c.set(unlabelled)
	expect(t, r.take(), "cronjob hourly v3 0 *", "cronjob nightly v4 0 1")
	c.remove(unlabelled)
	c.remove(hourly)
	expect(t, r.take(), "cronjob hourly gone v7")
	if n := len(third.known); n != 1 {
		t.Errorf("%d CronJobs are kept, want the one that exists and is watched", n)
	}

	c.expire("cronjobs")
	c.remove(nightly)
	c.set(hourly)
	relist()
	expect(t, r.take(), "listing [cronjobs]: relist, seen [7]",
		"cronjob hourly v9 0 *", "cronjob nightly gone v9 missed", "synced [cronjobs] at [9]")

	i.Relist(events.ListingGap)
	relist()
	told := r.take()
	slices.Sort(told) // the three are listed side by side
	expect(t, told, "cronjob hourly v9 0 *", "listing [jobs pods cronjobs]: gap, seen [2 2 9]",
		"synced [cronjobs] at [9]", "synced [jobs] at [9]", "synced [pods] at [9]")
	if !i.Sure() {
		t.Error("all three are watched, and it is not sure")
	}
}

// The answer to a write of a third resource's object counts as one of a Job's does: a list that is behind it proves a rewind, and
// all resources are listed again.
func TestThirdResourceProvesARewind(t *testing.T) {
	feed := NewFeed(Config{Mode: events.ModeDelegated, Identity: testIdentity, Key: testKey, Logger: slog.New(slog.DiscardHandler)})
	third := newCronJobs(feed, 0)
	feed.resources = append(feed.resources, third)
	listed := func() error {
		hourly := testCronJob("hourly", "0 *")
		hourly.ResourceVersion = "3"
		return third.takeList([]*batchv1.CronJob{hourly}, "3")
	}
	if err := listed(); err != nil {
		t.Fatal(err)
	}
	expect(t, drain(feed.queue), "cronjob hourly v3 0 *", "synced [cronjobs] at [3]")
	feed.Wrote(testIdentity, events.CronJobs, "uid-hourly", 5, false)
	if err := listed(); err != nil {
		t.Fatal(err)
	}
	expect(t, drain(feed.queue),
		"epoch 2: {Resource:cronjobs Known:5 Found:3 Object:}",
		"listing [jobs pods cronjobs]: relist, seen [0 0 0]", "cronjob hourly v3 0 *", "synced [cronjobs] at [3]")
	if third.reset != 1 {
		t.Errorf("it was told %d times to forget, want once", third.reset)
	}
	for r, must := range map[events.Resource]bool{events.Jobs: true, events.Pods: true, events.CronJobs: false} {
		if feed.MustList(r) != must {
			t.Errorf("%v must be listed again: %t, want %t", r, !must, must)
		}
	}
}
