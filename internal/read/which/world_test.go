package which_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// thing is an object of a small world. A pod's owner is the Job with that UID.
type thing struct{ kind, namespace, name, uid, owner string }

func (x *thing) stream() events.Stream {
	if x.kind == "cronjob" {
		return events.CronJobStream(types.UID(x.uid))
	}
	return events.JobStream(types.UID(x.uid))
}

func uidOf(begins string, n int) string { return fmt.Sprintf("%s-0000-4000-8000-%012d", begins, n) }

// world has names that several kinds, several namespaces and several lives share. The oldest come first.
var world = []thing{
	{"cronjob", "prod", "nightly", uidOf("c0000001", 1), ""},
	{"cronjob", "prod", "nightly", uidOf("c0000002", 2), ""}, // made again
	{"cronjob", "dev", "nightly", uidOf("c0000003", 3), ""},
	{"cronjob", "dev", "report", uidOf("c0000004", 4), ""},
	{"cronjob", "prod", "both", uidOf("c0000005", 5), ""},
	{"cronjob", "dev", "apart", uidOf("c0000006", 6), ""},
	{"cronjob", "clock", "tick", uidOf("c0000007", 7), ""}, // a namespace without Jobs
	{"job", "prod", "etl", uidOf("a0000001", 1), ""},
	{"job", "prod", "etl", uidOf("a0000002", 2), ""},
	{"job", "dev", "only", uidOf("a0000003", 3), ""},
	{"job", "dev", "only", uidOf("a0000004", 4), ""},
	{"job", "prod", "nightly-29512345", uidOf("a0000005", 5), "nightly"},
	{"job", "prod", "both", uidOf("ab000006", 6), ""},
	{"job", "test", "wide", uidOf("ab000007", 7), ""},
	{"job", "dev", "wide", uidOf("ab000008", 8), ""},
	{"job", "test", "apart", uidOf("a0000009", 9), ""},
	{"job", "test", "deadbeef", uidOf("a000000a", 10), ""},
	{"pod", "prod", "etl-x7f2q", uidOf("a0000002", 2), ""},
	{"pod", "prod", "etl-old4x", uidOf("a0000001", 1), ""},
	{"pod", "dev", "only-m9k1z", uidOf("a0000004", 4), ""},
	{"pod", "dev", "only-etl-k2k2k", uidOf("a0000004", 4), ""},
	{"pod", "test", "wide-q1q1q", uidOf("ab000007", 7), ""},
	{"pod", "dev", "wide-q1q1q", uidOf("ab000008", 8), ""},
	{"pod", "prod", "nightly-29512345-b6b6b", uidOf("a0000005", 5), ""},
}

// populated is the log of the world.
func populated(t *testing.T) *memlog.Log {
	t.Helper()
	log := memlog.New(events.Identity{LogID: "0f0f", Epoch: 1})
	last := map[events.Stream]events.Sequence{}
	add := func(s events.Stream, kind events.Kind, f events.Facts, e events.Evidence) {
		n := log.Head().Sequence + 1
		c := log.Append(events.Batch{Records: []events.Record{{
			Header: events.Header{
				Sequence: n, Time: events.At(time.Date(2026, 3, 14, 12, 0, int(n), 0, time.UTC)), Stream: s, Previous: last[s],
				Kind:     kind,
				Critical: kind.Critical(), Last: true,
			},
			Facts: f, Evidence: e, FactsSalt: events.Salt{1}, EvidenceSalt: events.Salt{2},
		}}}, true)
		<-c.Done()
		if err := c.Err(); err != nil {
			t.Fatal(err)
		}
		last[s] = n
	}
	add(events.Controller, events.KindLogCreated, &events.LogCreated{LogID: "0f0f", Epoch: 1, Format: events.Format},
		events.Evidence{})
	for i := range world {
		x := &world[i]
		e, version := events.Evidence{Namespace: x.namespace, Name: x.name}, uint64(i+1)
		switch x.kind {
		case "cronjob":
			add(x.stream(), events.KindCronJobAdded, &events.CronJobSeen{Version: version, Schedule: "0 3 * * *",
				Created: log.Head().Time}, e)
		case "job":
			if x.owner != "" {
				e.Origin = &events.Origin{Kind: "CronJob", Name: x.owner, UID: types.UID(world[1].uid)}
			}
			if x.name == "wide" {
				e.Origin = &events.Origin{Kind: "JobSet", Name: "nightly", UID: types.UID(world[1].uid)}
			}
			f := &events.JobSeen{Version: version, Generation: 1, Managed: true, Created: log.Head().Time}
			if x.name == "wide" && x.namespace == "dev" {
				f.Status = &events.JobStatus{Failed: 1, Conditions: []events.JobCondition{{Type: status.Failed, Status: "True",
					Since: log.Head().Time}}}
			}
			add(x.stream(), events.KindJobAdded, f, e)
		default: // a pod is seen, and seen again
			for range 2 {
				add(x.stream(), events.KindPodAdded, &events.PodSeen{UID: types.UID("pod-" + x.name), Version: version,
					Owner: types.UID(x.uid), Phase: events.PodRunning}, e)
			}
		}
	}
	return log
}

// asking is a finder of the world, and what it notes.
type asking struct {
	which.Finder
	notes []string
}

func finderOf(src history.Source) *asking {
	f := &asking{}
	f.Source, f.Note = src, func(text string) { f.notes = append(f.notes, text) }
	return f
}

func sourceOf(log store.Reader) history.Source {
	return history.Local{Log: log, Lists: joblist.New(joblist.Config{Log: log}), Damage: &store.Damage{}}
}

// having returns the streams of the things of a kind and a name in a namespace, the newest first.
func having(kind, namespace, name string) (all []events.Stream) {
	for i := range world {
		if x := &world[i]; x.kind == kind && x.namespace == namespace && x.name == name {
			all = append([]events.Stream{x.stream()}, all...)
		}
	}
	return all
}

// places returns where things of some kinds and a name are, in all namespaces but one: "job dev".
func places(but, name string, kinds ...string) (all []string) {
	for _, space := range []string{"clock", "dev", "prod", "test"} {
		for _, kind := range kinds {
			if space != but && len(having(kind, space, name)) > 0 {
				all = append(all, kind+" "+space)
			}
		}
	}
	return all
}

// pool are the names of the world, and some that nothing has.
func pool() (names []string) {
	for i := range world {
		names = append(names, world[i].name)
	}
	slices.Sort(names)
	return append(slices.Compact(names), "nothing", "etl-zzzzz", "x")
}
