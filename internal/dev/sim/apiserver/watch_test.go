package apiserver

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestWatchGivesEveryWriteOnceAndInOrder(t *testing.T) {
	w := newWorld(t, "demo-a")
	cursor := must(w.Watch(Pods, 0))(t)
	w.start(t, "demo-a")
	must(w.CreateJob(ctx, testJob("other")))(t) // another kind
	w.end(t, "demo-a", corev1.PodSucceeded)
	w.Touch("someone", Pods, "default", "demo-a")
	must(w.PatchPod(ctx, "default", "demo-a", dropPatch(w.pods[0])))(t)
	ok(t, w.DeletePod(ctx, "default", "demo-a", "", ""))
	must(w.CreatePod(ctx, podOf(w.job, "demo-a")))(t)

	if n := cursor.Pending(); n != 8 {
		t.Errorf("%d events pending", n)
	}
	var got []string
	last := uint64(0)
	for {
		e, more, err := cursor.Next()
		ok(t, err)
		if !more {
			break
		}
		if e.Version <= last || VersionOf(e.Object) != e.Version {
			t.Errorf("event %s at %d after %d, object at %d", e.Type, e.Version, last, VersionOf(e.Object))
		}
		last = e.Version
		got = append(got, fmt.Sprintf("%s %s", e.Type, e.Object.(*corev1.Pod).Status.Phase))
	}
	want := "ADDED Pending; MODIFIED Pending; MODIFIED Running; MODIFIED Succeeded; MODIFIED Succeeded; MODIFIED Succeeded; DELETED Succeeded; ADDED Pending"
	if strings.Join(got, "; ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "; "), want)
	}
}

func TestStaleListIsThePastAsItWas(t *testing.T) {
	w := newWorld(t, "demo-a", "demo-b")
	var snapshots []List
	snap := func() { snapshots = append(snapshots, w.List(Pods)) }
	snap()
	w.start(t, "demo-a")
	snap()
	ok(t, w.DeletePod(ctx, "default", "demo-a", "", ""))
	snap()
	must(w.PatchPod(ctx, "default", "demo-b", dropPatch(w.pods[1])))(t)
	ok(t, w.DeletePod(ctx, "default", "demo-b", "", ""))
	snap()
	must(w.CreatePod(ctx, podOf(w.job, "demo-c")))(t)
	for _, want := range snapshots {
		got := w.ListStale(Pods, want.Version)
		if got.Version != want.Version || fmt.Sprint(names(got)) != fmt.Sprint(names(want)) {
			t.Errorf("as of %d: %v, was %v", want.Version, names(got), names(want))
		}
	}
	if got := w.ListStale(Pods, w.Version()+100); got.Version != w.Version() || len(got.Items) != 2 {
		t.Errorf("a version to come gave %v at %d", names(got), got.Version)
	}
}

func names(l List) []string {
	var out []string
	for _, o := range l.Items {
		out = append(out, fmt.Sprintf("%s@%s deleting=%v", o.GetName(), o.GetResourceVersion(), o.GetDeletionTimestamp() != nil))
	}
	return out
}

func TestWatchFromAListMissesNothing(t *testing.T) {
	w := newWorld(t, "demo-a")
	list := w.List(Pods)
	must(w.CreatePod(ctx, podOf(w.job, "demo-b")))(t)
	cursor := must(w.Watch(Pods, list.Version))(t)
	e, more, err := cursor.Next()
	if err != nil || !more || e.Object.GetName() != "demo-b" || cursor.Pending() != 0 || cursor.Version() != w.Version() {
		t.Errorf("got %v, %v, %v; %d pending at %d", e, more, err, cursor.Pending(), cursor.Version())
	}
}

func TestWatchesThatAreCut(t *testing.T) {
	w := newWorld(t, "demo-a")
	cut := must(w.Watch(Pods, 0))(t)
	cut.Cut()
	_, _, err := cut.Next()
	wantErr(t, apierrors.IsResourceExpired, err)

	behind := must(w.Watch(Pods, 0))(t)
	current := must(w.Watch(Pods, w.Version()))(t)
	w.Compact(Pods, w.Version())
	_, err = w.Watch(Pods, 0)
	wantErr(t, apierrors.IsResourceExpired, err)
	_, _, err = behind.Next()
	wantErr(t, apierrors.IsResourceExpired, err)
	must(w.CreatePod(ctx, podOf(w.job, "demo-b")))(t)
	if e, more, err := current.Next(); err != nil || !more || e.Object.GetName() != "demo-b" {
		t.Errorf("a watch that was up to date got %v, %v, %v", e, more, err)
	}
}

func TestWhatReadersGetIsTheirs(t *testing.T) {
	w := newWorld(t, "demo-a")
	cursor := must(w.Watch(Pods, 0))(t)
	e, _, _ := cursor.Next()
	for _, o := range []Object{e.Object, w.List(Pods).Items[0], w.Pod("default", "demo-a"), w.AllPods()[0], w.PodsOf(w.job.UID)[0], w.ListStale(Pods, e.Version).Items[0]} {
		o.GetLabels()["spoilt"] = "yes"
	}
	w.pods[0].Labels["spoilt"] = "yes"
	if w.Pod("default", "demo-a").Labels["spoilt"] != "" {
		t.Error("a reader changed the stored pod")
	}
	if w.Job("default", "absent") != nil || w.Pod("default", "absent") != nil {
		t.Error("absent objects should be nil")
	}
}

func TestTheWriteLogHoldsBeforeAndAfter(t *testing.T) {
	w := newWorld(t, "demo-a")
	from := len(w.Writes(0))
	w.start(t, "demo-a")
	must(w.PatchPod(ctx, "default", "demo-a", dropPatch(w.pods[0])))(t)
	ok(t, w.Delete(ctx, Pods, "default", "demo-a", DeleteOptions{GraceSeconds: new(int64)}))
	var got []string
	for _, x := range w.Writes(from) {
		got = append(got, fmt.Sprintf("%s %s/%s %s %v->%v", x.Actor, x.Verb, x.Subresource, x.Key, x.Before != nil, x.After != nil))
	}
	want := "test create/binding default/demo-a true->true; test patch/status default/demo-a true->true; " +
		"test patch/ default/demo-a true->true; test delete/ default/demo-a true->false"
	if strings.Join(got, "; ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "; "), want)
	}
}

// TestSameSeedSameHistory: UIDs, names and versions repeat with the same seed, and differ with another.
func TestSameSeedSameHistory(t *testing.T) {
	history := func(seed uint64) string {
		s := newServer(seed)
		c := s.Client("test")
		job := must(c.CreateJob(ctx, testJob("demo")))(t)
		for range 20 {
			pod := podOf(job, "")
			pod.GenerateName = "demo-"
			must(c.CreatePod(ctx, pod))(t)
		}
		var out strings.Builder
		seen := map[string]bool{}
		for _, x := range s.Writes(0) {
			fmt.Fprintln(&out, x.Version, x.Key, x.UID)
			if seen[string(x.UID)] {
				t.Errorf("UID %s twice", x.UID)
			}
			seen[string(x.UID)] = true
		}
		return out.String()
	}
	one, again := history(7), history(7)
	if one != again {
		t.Error("one seed gave two histories")
	}
	if one == history(8) {
		t.Error("two seeds gave one history")
	}
}
