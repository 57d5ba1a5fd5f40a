package explain_test

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

func (d *drawn) newPod() {
	j := d.aJob()
	if j == nil || j.over || len(j.pods) == 6 {
		return
	}
	p := &drawnPod{}
	p.scenePod = j.pod(d.clock(), d.name(j.e.Name), func(p *scenePod) {
		p.f.Created = cronClock(d.ago())
		if j.spec.CompletionMode == "Indexed" {
			p.f.Index = int32(d.r.IntN(3))
		}
		if d.once(6) {
			p.e.Admitted = []string{draw(d, []string{"", "+containers[istio]", "nodeSelector"})}
		}
		if d.once(8) {
			p.e.Gates = []string{"example.com/gate"}
		}
		p.f.Ordinal = uint64(d.r.IntN(2) * (1 + len(j.pods)))
	})
	j.pods = append(j.pods, p)
}

// pulled are words for what a pod waits for: the word, the container (none while it has no node), and what is said.
var pulled = [][3]string{
	{"Unschedulable", "", "0/3 nodes are available: 3 Insufficient cpu."},
	{"Unschedulable", "",
		"0/3 nodes are available: 1 node(s) had untolerated taint {gpu: true}, 2 node(s) didn't match Pod's node affinity/selector."},
	{"Unschedulable", "", `0/3 nodes are available: persistentvolumeclaim "data" not found.`}, {"SchedulingGated", "", ""},
	{"ContainerCreating", "main", ""}, {"ContainerCreating", "main", ""}, {"PodInitializing", "main", ""},
	{"ImagePullBackOff", "main", imageMissing}, {"ErrImagePull", "main", imageMissing},
	{"ErrImagePull", "side", "not allowed"},
	{"CreateContainerConfigError", "main", `secret "keys" not found`},
	{"CrashLoopBackOff", "main", "back-off 40s restarting failed container"},
	{"InvalidImageName", "main", "Failed to apply default image tag"}, {"Odd", "main", ""},
}

func (d *drawn) podWaits() {
	if p := d.aPod(func(p *drawnPod) bool { return p.goesOn() && p.e.Running == 0 }); p != nil {
		w := draw(d, pulled)
		p.see(d.clock(), waits(w[0], w[1], w[2]))
	}
}

func (d *drawn) podRuns() {
	if p := d.aPod(func(p *drawnPod) bool { return p.goesOn() && p.e.Running == 0 }); p != nil {
		p.runs(d.clock(), draw(d, []string{"node-1", "node-2"}))
		if d.once(3) {
			p.see(d.clock(), func(p *scenePod) { p.f.Ready, p.f.ReadySince = true, cronClock(d.ago()) })
		}
	}
}

// exits are how containers end.
var exits = []struct {
	code            int32
	reason, message string
}{
	{1, "Error", ""}, {1, "Error", "fatal: no such table\nat line 7"}, {2, "Error", ""}, {3, "Error", "bad input"},
	{137, "OOMKilled", ""}, {137, "Error", ""},
	{143, "Error", ""}, {127, "StartError", "exec: no such file"}, {128, "ContainerCannotRun", ""},
	{137, "ContainerStatusUnknown", "The container could not be located"},
}

func (d *drawn) container(p *scenePod, name string, ok bool) {
	x := draw(d, exits)
	if ok {
		x.code, x.reason, x.message = 0, "Completed", ""
	}
	p.exits(name, x.code, d.ago(), func(k *events.ContainerEnd) {
		k.Reason, k.Message = x.reason, x.message
		if k.Started == 0 || d.once(5) {
			k.Started = cronClock(d.ago())
		}
		switch d.r.IntN(24) {
		case 0, 1:
			k.Started, k.Finished = 0, 0
		case 2:
			k.Started = 0
		case 3:
			k.Finished = 0
		}
		if d.once(6) {
			k.Kind = events.InitContainer
		}
	})
}

// endings are words for why a pod's status says that it failed.
var endings = [][2]string{
	{"Evicted", "The node was low on resource: memory."},
	{"Evicted", `Usage of EmptyDir volume "x" exceeds the limit "1Gi". `},
	{"Evicted", "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. "},
	{"NodeShutdown", "Pod was terminated in response to imminent node shutdown."},
	{"DeadlineExceeded", "Pod was active on the node longer than the specified deadline"},
	{"UnexpectedAdmissionError", "no devices"}, {"NodeAffinity", "Pod was rejected"},
}

func (d *drawn) podEnds() {
	p := d.aPod(func(p *drawnPod) bool { return p.goesOn() })
	if p == nil {
		return
	}
	clock := d.clock()
	ok := d.once(3)
	p.see(clock, func(p *scenePod) {
		p.f.Phase = events.PodFailed
		if ok {
			p.f.Phase = events.PodSucceeded
		}
		if d.often(6) {
			p.f.Finished = cronClock(d.ago())
		}
		switch {
		case !ok && d.once(4):
			e := draw(d, endings)
			p.e.Reason, p.e.Message = e[0], e[1]
		case d.often(8):
			d.container(p, "main", ok)
		}
		if d.once(5) {
			d.container(p, "side", true)
		}
		if d.once(8) {
			p.disrupted(draw(d, disruptions), "", d.ago())
		}
		p.e.Running, p.e.StillRun, p.f.Ready, p.f.Waiting, p.e.Waits = 0, nil, false, "", nil
	})
}

func (d *drawn) podCrashes() {
	if p := d.aPod(func(p *drawnPod) bool { return p.goesOn() && p.f.Scheduled }); p != nil {
		p.see(d.clock(), func(p *scenePod) {
			p.f.Restarts++
			p.f.MaxRestarts = p.f.Restarts
			p.e.Containers, p.f.Exits = nil, nil
			d.container(p, "main", false)
			p.e.Containers[0].Again, p.e.Containers[0].Restarts = true, p.f.Restarts
			if d.once(3) {
				p.e.Waits, p.f.Waiting, p.e.Running = []events.ContainerWait{{Name: "main", Reason: "CrashLoopBackOff"}},
					"CrashLoopBackOff", 0
			}
			if d.once(6) {
				p.e.StillRun = []string{"proxy"}
			}
		})
	}
}

func (d *drawn) podCounted() {
	if p := d.aPod(func(p *drawnPod) bool { return !p.goesOn() && p.f.Tracked }); p != nil {
		p.counted(d.clock())
	}
}

var disruptions = []string{"EvictionByEvictionAPI", "PreemptionByScheduler", "DeletionByTaintManager",
	"DeletionByPodGC", "TerminationByKubelet"}

func (d *drawn) podDeleted() {
	p := d.aPod(func(p *drawnPod) bool { return p.f.Deleted == 0 || d.once(4) })
	if p == nil {
		return
	}
	if d.once(3) {
		p.disrupted(draw(d, disruptions), draw(d, []string{"", "because"}), d.ago())
		if i := len(p.e.Conditions) - 1; d.once(6) {
			p.e.Conditions[i].Status, p.f.Conditions[len(p.f.Conditions)-1].Status = "False", "False"
		}
		if d.once(2) {
			p.see(d.clock(), nil)
		}
	}
	if d.often(5) {
		p.deleted(d.clock(), draw(d, []int64{0, 1, 30, 30, 600}))
	}
	if d.once(6) {
		p.e.Finalizers = []string{"example.com/keep"}
		p.see(d.clock(), nil)
	}
}

func (d *drawn) podGone() {
	if p := d.aPod(func(p *drawnPod) bool { return p.f.Deleted != 0 || d.once(8) }); p != nil {
		p.gone(d.clock())
		p.left = true
	}
}

// decided is a decision of ours, and mostly how its command ended.
func (d *drawn) decided() {
	j := d.aJob()
	if j == nil {
		return
	}
	type why struct {
		reason string
		c      events.Command
	}
	all := []why{
		{"MorePodsWanted", &events.CreatePod{Ordinal: uint64(1 + len(j.pods)), Index: events.NoIndex, Template: "t"}},
		{"StatusChanged", &events.WriteStatus{}},
		{"JobFinished", &events.DeleteJob{Job: types.UID(j.of.ID), Expired: cronClock(d.ago())}},
	}
	if p := d.aPod(func(p *drawnPod) bool { return p.j == j.sceneJob }); p != nil {
		for _, reason := range []string{"JobSuspended", "TooManyPods", "DuplicateIndex", "BackoffLimitExceeded",
			"JobSucceeded", "DeadlineExceeded", "JobDeleted"} {
			all = append(all, why{reason, &events.DeletePod{Pod: p.f.UID}})
		}
		all = append(all, why{"PodEnded", &events.DropFinalizer{Pod: p.f.UID}})
	}
	w := draw(d, all)
	at := j.decides(d.clock(), w.reason, "so it is: 1 of 2", w.c)
	switch d.r.IntN(5) {
	case 0:
	case 1:
		class, says := events.RefusalClass(1+d.r.IntN(10)),
			draw(d, []string{"", "exceeded quota: pods=3", `pods "demo" is forbidden: no`})
		j.ended(d.clock(), at, w.c, events.Refused, class, says)
	case 2:
		j.ended(d.clock(), at, w.c, draw(d, []events.Ending{events.OutcomeUnknown, events.Withdrawn}), 0, "")
	default:
		j.ended(d.clock(), at, w.c, events.Done, 0, "")
	}
}

// around is what befalls nodes, the namespace and the controller.
func (d *drawn) around() {
	node := draw(d, []string{"node-1", "node-2"})
	switch d.r.IntN(10) {
	case 0, 1, 2:
		d.node(d.clock(), node, func(f *events.NodeSeen) {
			f.Ready, f.Cordoned, f.Since = events.NodeReadiness(1+d.r.IntN(3)), d.once(3), cronClock(d.ago())
			if d.once(3) {
				f.Pressures = []string{"MemoryPressure"}
			}
			if d.once(4) {
				f.Taints = []string{"ops/drain"}
			}
		})
	case 3:
		d.add(d.clock(), events.Controller, events.KindNodeGone,
			&events.NodeGone{Name: node, UID: types.UID("uid-" + node), Missed: d.once(3)})
	case 4:
		f := &events.NamespaceSeen{Name: "batch", UID: "uid-batch"}
		if d.once(4) {
			f.Deleted = cronClock(d.ago())
		}
		d.add(d.clock(), events.Controller, events.KindNamespaceChanged, f)
	case 5:
		d.add(d.clock(), events.Controller, events.KindClockStepped,
			&events.ClockStepped{Step: draw(d, []time.Duration{time.Minute, -time.Minute, time.Second})})
	case 6, 7:
		d.gap()
	case 8:
		d.add(d.clock(), events.Controller, events.KindPassedOver,
			&events.PassedOver{Since: cronClock(d.ago()), Versions: 3, Open: d.once(2)})
	case 9:
		if d.once(2) {
			d.add(d.clock(), events.Controller, events.KindControllerStopped, &events.ControllerStopped{})
		}
		settings := events.DefaultSettings()
		settings.CronJobs, settings.Mode = d.often(3), draw(d, []events.Mode{events.ModeAll, events.ModeObserve})
		if d.plain {
			settings.CronJobs, settings.Mode = true, events.ModeObserve
			if d.ours {
				settings.Mode = events.ModeAll
			}
		}
		d.add(d.clock(), events.Controller, events.KindControllerStarted, &events.ControllerStarted{Settings: settings})
	}
}

// gap tells that nobody watched for a while.
func (d *drawn) gap() {
	since := d.ago()
	all := []events.Resource{events.Jobs, events.Pods, events.CronJobs}
	version := d.next()
	d.add(d.clock(), events.Controller, events.KindListingStarted, &events.ListingStarted{
		Reason: events.ListingRelisted, Resources: all, LastSeen: cronClock(since),
		LastVersions: []uint64{version, version, version},
	})
	if j := d.aJob(); j != nil && d.once(2) {
		j.see(d.clock(), events.KindJobChanged)
	}
	if d.often(6) {
		d.add(d.clock(), events.Controller, events.KindSynced,
			&events.Synced{Resources: all, Versions: []uint64{version, version, version}})
	}
}
