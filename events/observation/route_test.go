package observation

import (
	"errors"
	"slices"
	"strconv"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// J-016: a pod belongs to the Job that its controller reference names by kind, API group and UID. For any other Job it
// is foreign.
// J-172: a pod that another object controls is not reported.
//
// TestRouting goes through the table in route.go: one Job that is managed, one that is not, and a pod.
func TestRouting(t *testing.T) {
	mine := testJob("mine")
	plain := testJob("plain", managedBy(""))
	theirs := testJob("theirs", managedBy("example.com/other"))
	manual := testJob("manual", selecting(map[string]string{"app": "x"}))
	absent := testJob("absent")
	const ours, builtin = events.TrackingFinalizer, events.BuiltinTrackingFinalizer

	for _, tt := range []struct {
		name string
		mode events.Mode
		pod  *corev1.Pod
		want string // of the pod; empty when it is not told
	}{
		{"a pod of a managed Job is told", events.ModeDelegated, testPod("p", of(mine)), "of mine selected"},
		{
			"a pod of ours that carries our finalizer is tracked", events.ModeDelegated,
			testPod("p", of(mine), finalizer(ours)), "of mine tracked selected",
		},
		{
			"the built-in finalizer does not track a pod of a Job that is given to us", events.ModeAll,
			testPod("p", of(mine), finalizer(builtin)), "of mine selected",
		},
		{
			"the built-in finalizer tracks a pod of a plain Job", events.ModeAll,
			testPod("p", of(plain), finalizer(builtin)), "of plain tracked selected",
		},
		{
			"our finalizer does not track a pod of a plain Job", events.ModeAll,
			testPod("p", of(plain), finalizer(ours)), "of plain selected",
		},
		{
			"a pod of ours whose labels were changed is told as not selected", events.ModeDelegated,
			testPod("p", of(mine), labelled(map[string]string{"app": "demo"})), "of mine",
		},
		{
			"a user's own selector is evaluated (J-181)", events.ModeDelegated,
			testPod("p", of(manual), labelled(map[string]string{"app": "x", "more": "y"})), "of manual selected",
		},
		{
			"a pod outside its Job's own selector is told as not selected", events.ModeDelegated,
			testPod("p", of(manual), labelled(map[string]string{"app": "y"})), "of manual",
		},
		{"a pod of an unmanaged Job is not told", events.ModeDelegated, testPod("p", of(plain)), ""},
		{
			"a pod of an unmanaged Job with the built-in finalizer is none of ours in delegated mode", events.ModeDelegated,
			testPod("p", of(plain), finalizer(builtin)), "",
		},
		{
			"a pod of an unmanaged Job that carries our finalizer is told", events.ModeDelegated,
			testPod("p", of(plain), finalizer(ours)), "of plain tracked selected",
		},
		{
			"a pod of another controller's Job that carries a finalizer we may own is told", events.ModeAll,
			testPod("p", of(theirs), finalizer(builtin)), "of theirs tracked selected",
		},
		{"a pod of a ReplicaSet is not told", events.ModeAll, testPod("p", controlledBy("apps/v1", "ReplicaSet")), ""},
		{
			"a pod of something else called Job is foreign", events.ModeDelegated,
			testPod("p", controlledBy("example.com/v1", "Job"), finalizer(ours)), "tracked foreign",
		},
		{"a pod of a Job nobody has seen waits", events.ModeDelegated, testPod("p", of(absent)), ""},
		{
			"a pod of a Job nobody has seen that carries our finalizer is told", events.ModeDelegated,
			testPod("p", of(absent), finalizer(ours)), "of absent tracked selected",
		},
		{"an ownerless pod that nobody selects waits", events.ModeDelegated, testPod("p", labelled(map[string]string{"a": "b"})), ""},
		{"an ownerless pod without labels is not told", events.ModeDelegated, testPod("p"), ""},
		{
			"an ownerless pod that carries our finalizer is told", events.ModeDelegated,
			testPod("p", finalizer(ours)), "tracked",
		},
		{
			"an ownerless pod with the built-in finalizer is none of ours in delegated mode", events.ModeDelegated,
			testPod("p", finalizer(builtin)), "",
		},
		{
			"an ownerless pod with a managed Job's labels may be adopted by it", events.ModeDelegated,
			testPod("p", labelled(mine.Spec.Template.Labels)), "candidates=[uid-mine]",
		},
		{
			"an ownerless pod with an unmanaged Job's labels may not", events.ModeDelegated,
			testPod("p", labelled(plain.Spec.Template.Labels)), "",
		},
		{
			"an ownerless pod that two Jobs select names both", events.ModeDelegated,
			testPod("p", labelled(map[string]string{controllerUIDLabel: "uid-mine", "app": "x"})), "candidates=[uid-manual uid-mine]",
		},
		{
			"an ownerless pod in another namespace is nobody's", events.ModeDelegated,
			testPod("p", labelled(mine.Spec.Template.Labels), func(p *corev1.Pod) { p.Namespace = "elsewhere" }), "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			script(t, func(t *testing.T, c *cluster, start starter) {
				for _, job := range []*batchv1.Job{mine, plain, theirs, manual} {
					c.set(job)
				}
				_, r := start(func(config *Config) { config.Mode = tt.mode })
				r.take()
				version := c.set(tt.pod)
				want := []string{}
				if tt.want != "" {
					want = append(want, "pod p v"+at(version)+" "+tt.want)
				}
				expect(t, r.take(), want...)
			})
		})
	}
}

func TestPodThatWaitedIsToldWhenItsJobComes(t *testing.T) {
	job := testJob("late", selecting(map[string]string{"app": "late"}))
	for _, tt := range []struct {
		name string
		pod  *corev1.Pod
		job  *batchv1.Job
		want []string
	}{
		{"its own pod", testPod("p", of(job)), job, []string{"job late v2", "pod p v1 of late selected"}},
		{
			"a pod it selects", testPod("p", labelled(map[string]string{"app": "late"})), job,
			[]string{"job late v2", "pod p v1 candidates=[uid-late]"},
		},
		{"a pod it does not select", testPod("p", labelled(map[string]string{"app": "soon"})), job, []string{"job late v2"}},
		{"a pod of a Job that turns out unmanaged", testPod("p", of(job)), testJob("late", managedBy("")), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			script(t, func(t *testing.T, c *cluster, start starter) {
				_, r := start()
				r.take()
				c.set(tt.pod)
				expect(t, r.take())
				c.set(tt.job)
				expect(t, r.take(), tt.want...)
			})
		})
	}
}

func TestProvisionalPodIsToldAgainWhenItsJobComes(t *testing.T) {
	script(t, func(t *testing.T, c *cluster, start starter) {
		_, r := start(func(config *Config) { config.Mode = events.ModeAll })
		r.take()
		job := testJob("a", selecting(map[string]string{"app": "x"}))
		c.set(testPod("p", of(job), finalizer(events.BuiltinTrackingFinalizer)))
		expect(t, r.take(), "pod p v1 of a tracked")
		c.set(job) // and now its own selector matches, and the finalizer is not what it tracks by
		expect(t, r.take(), "job a v2", "pod p v1 of a selected")
	})
}

func TestPodThatWasToldIsToldToTheEnd(t *testing.T) {
	script(t, func(t *testing.T, c *cluster, start starter) {
		job := testJob("a")
		c.set(job)
		pod := testPod("p", of(job))
		c.set(pod)
		_, r := start()
		r.take()
		controlledBy("apps/v1", "ReplicaSet")(pod)
		c.set(pod)
		expect(t, r.take(), "pod p v3 foreign")
		pod.OwnerReferences, pod.Labels = nil, nil
		c.set(pod)
		expect(t, r.take(), "pod p v4")
		c.remove(pod)
		expect(t, r.take(), "pod uid-p gone v5")
	})
}

func TestNothingIsKeptOfPodsThatAreNotOurs(t *testing.T) {
	script(t, func(t *testing.T, c *cluster, start starter) {
		plain := testJob("plain", managedBy(""))
		c.set(plain)
		feed, _ := start()
		for n := range 10 {
			c.set(testPod("of-plain-"+strconv.Itoa(n), of(plain)))
			c.set(testPod("foreign-"+strconv.Itoa(n), controlledBy("apps/v1", "ReplicaSet")))
		}
		waits := testPod("waits", of(testJob("absent")))
		c.set(waits)
		if n := len(feed.pods.known); n != 1 {
			t.Errorf("%d pods are kept, want the one that waits for its Job", n)
		}
		c.remove(waits)
		if n := len(feed.pods.known) + len(feed.pods.orphans) + len(feed.pods.ownerless); n != 0 {
			t.Errorf("%d entries are kept of a cluster without pods of ours", n)
		}
	})
}

// TestFeedByHand drives the feed without a client, as the simulation does.
func TestFeedByHand(t *testing.T) {
	m := NewFeed(Config{Mode: events.ModeDelegated, Identity: testIdentity})
	take := func() []string {
		var lines []string
		for o, ok := m.Take(); ok; o, ok = m.Take() {
			lines = append(lines, line(o))
		}
		return lines
	}
	job := testJob("a")
	job.ResourceVersion = "5"
	if err := m.ListJobs([]*batchv1.Job{job}, "6"); err != nil {
		t.Fatal(err)
	}
	expect(t, take(), "job a v5", "synced [jobs] at [6]")
	if err := m.jobs.Replace(nil, "4", false); !errors.Is(err, ErrOlder) {
		t.Errorf("a list of the past: %v", err)
	}
	expect(t, take())
	m.Relist(events.ListingGap)
	if err := m.ListJobs(nil, "4"); err != nil {
		t.Errorf("a cluster that was restored: %v", err)
	}
	expect(t, take(), "listing [jobs pods]: gap, seen [6 0]", "epoch 2: {Resource:jobs Known:6 Found:4 Object:}",
		"listing [jobs pods]: relist, seen [0 0]", "synced [jobs] at [4]")
	if !m.MustList(events.Pods) {
		t.Error("pods need not be listed anew")
	}
}

func TestOrdinalIsOfThisLifeOfThisLogAndItsJob(t *testing.T) {
	job := testJob("a")
	other := events.Identity{LogID: testIdentity.LogID, Epoch: 2}
	for name, tt := range map[string]struct {
		annotation string
		want       uint64
	}{
		"made by this log":             {testIdentity.CommandOf("uid-a", 7), 7},
		"made in another epoch":        {other.CommandOf("uid-a", 7), 0},
		"made for another Job":         {testIdentity.CommandOf("uid-b", 7), 0},
		"made by something else":       {"7", 0},
		"an annotation that is broken": {testIdentity.CommandOf("uid-a", 7) + "x", 0},
	} {
		pod := testPod("p", of(job), annotated(events.CommandAnnotation, tt.annotation))
		if got := readPod(wire(pod), 1, testIdentity).seen.Ordinal; got != tt.want {
			t.Errorf("%s: ordinal %d, want %d", name, got, tt.want)
		}
	}
}

func TestConditionsAreThoseThatARuleMayRead(t *testing.T) {
	pod := testPod("p", func(p *corev1.Pod) {
		for _, c := range []corev1.PodConditionType{
			corev1.PodReady, corev1.PodScheduled, corev1.DisruptionTarget, "example.com/Gate", corev1.PodInitialized,
		} {
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: c, Status: corev1.ConditionTrue})
		}
	})
	job := testJob("a", func(job *batchv1.Job) {
		job.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.PodScheduled}},
		}}}
	})
	of(job)(pod)
	v := NewFeed(Config{Mode: events.ModeDelegated})
	known, err := v.jobs.routingOfLocked(wireJob(job))
	if err != nil {
		t.Fatal(err)
	}
	v.jobs.known[types.UID("uid-a")] = known
	seen := v.route(readPod(wire(pod), 1, testIdentity)).observation.Facts.(*events.PodSeen)
	var got []string
	for _, c := range seen.Conditions {
		got = append(got, c.Type)
	}
	if want := []string{"PodScheduled", "DisruptionTarget", "example.com/Gate"}; !slices.Equal(got, want) {
		t.Errorf("conditions %q, want %q", got, want)
	}
}

// TestJobsOfOthersAreNamed: J-204, once for each Job that appears, by watch or by list.
func TestJobsOfOthersAreNamed(t *testing.T) {
	var named []string
	m := NewFeed(Config{
		Mode: events.ModeDelegated, Identity: testIdentity, Foreign: func(by string) { named = append(named, by) },
	})
	version := 0
	job := func(name, by string) *batchv1.Job {
		j := testJob(name, managedBy(by))
		version++
		j.ResourceVersion = strconv.Itoa(version)
		return j
	}
	jobs := []*batchv1.Job{job("ours", events.ManagedBy), job("theirs", "example.com/other"), job("plain", "")}
	if err := m.ListJobs(jobs, "5"); err != nil {
		t.Fatal(err)
	}
	again := job("theirs", "example.com/other")
	again.ResourceVersion = "6"
	if err := m.JobChanged(again); err != nil {
		t.Fatal(err)
	}
	late := job("late", "example.com/third")
	late.ResourceVersion = "7"
	if err := m.JobChanged(late); err != nil {
		t.Fatal(err)
	}
	slices.Sort(named)
	expect(t, named, "", "example.com/other", "example.com/third")
}
