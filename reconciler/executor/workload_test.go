package executor

import (
	"fmt"
	"hash/fnv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/wholeapi"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// betaWorld is a world with the groups of Kubernetes 1.37. told counts how often the executor reported that they are
// not served.
type betaWorld struct {
	*world
	told int
}

func newBetaWorld(t *testing.T, change ...func(*batchv1.Job)) *betaWorld {
	b := &betaWorld{}
	b.world = newWorld(t, func(c *Config) {
		c.Workloads, c.Unserved = c.API.(wholeapi.API).Server.(WorkloadAPI), func() { b.told++ }
	})
	if len(change) > 0 {
		job := b.job.DeepCopy()
		for _, c := range change {
			c(job)
		}
		job.ResourceVersion, job.Generation = "999", job.Generation+1
		b.job = job
		b.objects.KeepJob(wire(job))
	}
	return b
}

func asksForGang(job *batchv1.Job) {
	job.Spec.Template.Spec.PriorityClassName = "high"
	job.Spec.Scheduling = &batchv1.JobSchedulingConfiguration{
		SchedulingPolicy: &schedulingv1alpha3.WorkloadPodGroupSchedulingPolicy{Gang: &schedulingv1alpha3.WorkloadPodGroupGangSchedulingPolicy{}},
		DisruptionMode:   &schedulingv1alpha3.WorkloadPodGroupDisruptionMode{All: &schedulingv1alpha3.WorkloadPodGroupAllDisruptionMode{}},
	}
}

// jobSet is an owner that has a Workload of its own.
var jobSet = metav1.OwnerReference{APIVersion: "jobset.x-k8s.io/v1alpha2", Kind: "JobSet", Name: "set", UID: "set", Controller: new(true)}

func delegatedTo(template string) func(*batchv1.Job) {
	return func(job *batchv1.Job) {
		job.OwnerReferences = []metav1.OwnerReference{jobSet}
		job.Annotations = map[string]string{kubewire.GroupTemplateAnnotation: template}
	}
}

// setsWorkload returns the Workload of that owner. It has two templates: workers, a gang of three pods, and driver,
// pods that are scheduled one by one.
func setsWorkload(name string) *schedulingv1beta1.Workload {
	return &schedulingv1beta1.Workload{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: schedulingv1beta1.WorkloadSpec{
			ControllerRef: &schedulingv1beta1.TypedLocalObjectReference{APIGroup: "jobset.x-k8s.io", Kind: "JobSet", Name: "set"},
			PodGroupTemplates: []schedulingv1beta1.PodGroupTemplate{
				{Name: "workers", SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: 3}}},
				{Name: "driver", SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{Basic: &schedulingv1beta1.BasicSchedulingPolicy{}}},
			},
		},
	}
}

// put stores an object that another client makes.
func (b *betaWorld) put(o interface{ Marshal() ([]byte, error) }) {
	b.Helper()
	raw, err := o.Marshal()
	if err == nil {
		switch o.(type) {
		case *schedulingv1beta1.Workload:
			_, err = b.other.MakeWorkload(b.Context(), "default", raw)
		case *schedulingv1beta1.PodGroup:
			_, err = b.other.MakePodGroup(b.Context(), "default", raw)
		}
	}
	if err != nil {
		b.Fatal(err)
	}
}

// stored returns each version of each Workload and PodGroup that the server was given.
func (b *betaWorld) stored() (workloads []*schedulingv1beta1.Workload, groups []*schedulingv1beta1.PodGroup) {
	for _, w := range b.server.Writes(0) {
		switch o := w.After.(type) {
		case *schedulingv1beta1.Workload:
			workloads = append(workloads, o)
		case *schedulingv1beta1.PodGroup:
			groups = append(groups, o)
		}
	}
	return workloads, groups
}

// asked returns what the executor has asked for since the i-th call, as verbs and resources.
func (b *betaWorld) asked(from int) string {
	var all []string
	for _, c := range b.server.Calls(from) {
		if c.Actor == b.client.Actor() {
			all = append(all, c.Verb+" "+string(c.Kind))
		}
	}
	return strings.Join(all, ", ")
}

// makeGroup makes both objects, and returns their names.
func (b *betaWorld) makeGroup(count int32) (workload, group string) {
	b.Helper()
	r := b.do(b.task(&events.CreateWorkload{MinCount: count}))
	b.wants(r, events.Done, 0, true)
	create := b.task(&events.CreatePodGroup{})
	create.Workload = r.Evidence.Name
	made := b.do(create)
	b.wants(made, events.Done, 0, true)
	return r.Evidence.Name, made.Evidence.Name
}

// TestGroupOfAJobOf137: both objects are what the built-in controller makes (J-243, J-244). Making them takes two
// writes and one read, and no list. A search finds them by two reads.
func TestGroupOfAJobOf137(t *testing.T) {
	b := newBetaWorld(t, asksForGang)
	workload, group := b.makeGroup(3)
	if asked := b.asked(1); asked != "create workloads, get workloads, create podgroups" {
		t.Errorf("asked for %s", asked)
	}
	workloads, groups := b.stored()
	if len(workloads) != 1 || len(groups) != 1 {
		t.Fatalf("%d Workloads, %d PodGroups", len(workloads), len(groups))
	}
	w, g := workloads[0], groups[0]
	template := schedulingv1beta1.PodGroupTemplate{
		Name: "demo-pgt-0", PriorityClassName: "high",
		SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: 3}},
		DisruptionMode:   &schedulingv1beta1.DisruptionMode{All: &schedulingv1beta1.AllDisruptionMode{}},
	}
	if diff := cmp.Diff(schedulingv1beta1.WorkloadSpec{
		ControllerRef:     &schedulingv1beta1.TypedLocalObjectReference{APIGroup: "batch", Kind: "Job", Name: "demo"},
		PodGroupTemplates: []schedulingv1beta1.PodGroupTemplate{template},
	}, w.Spec); diff != "" {
		t.Errorf("Workload (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(schedulingv1beta1.PodGroupSpec{
		WorkloadRef:      &schedulingv1beta1.WorkloadReference{WorkloadName: w.Name, TemplateName: template.Name},
		SchedulingPolicy: template.SchedulingPolicy, DisruptionMode: template.DisruptionMode, PriorityClassName: "high",
	}, g.Spec); diff != "" {
		t.Errorf("PodGroup (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]metav1.OwnerReference{ownerRef(b.ref())}, w.OwnerReferences); diff != "" {
		t.Errorf("owners of the Workload (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]metav1.OwnerReference{
		ownerRef(b.ref()), {APIVersion: "scheduling.k8s.io/v1beta1", Kind: "Workload", Name: w.Name, UID: w.UID},
	}, g.OwnerReferences); diff != "" {
		t.Errorf("owners of the PodGroup (-want +got):\n%s", diff)
	}
	from := len(b.server.Calls(0))
	want := &events.GroupSeen{Workloads: 1, WorkloadUsable: true, PodGroups: 1, PodGroupUsable: true, MinCount: 3, Workload: workload, PodGroup: group}
	if diff := cmp.Diff(want, b.search()); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	if asked := b.asked(from); asked != "get workloads, get podgroups" {
		t.Errorf("a search asked for %s", asked)
	}
}

// TestSearchForAGroupOf137 covers J-242 and J-244: what counts, and what is ignored.
func TestSearchForAGroupOf137(t *testing.T) {
	own := func(b *betaWorld) *schedulingv1beta1.Workload {
		return &schedulingv1beta1.Workload{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: betaWorkloadName(b.ref()), OwnerReferences: []metav1.OwnerReference{ownerRef(b.ref())}},
			Spec: schedulingv1beta1.WorkloadSpec{
				ControllerRef: &schedulingv1beta1.TypedLocalObjectReference{APIGroup: "batch", Kind: "Job", Name: "demo"},
				PodGroupTemplates: []schedulingv1beta1.PodGroupTemplate{{
					Name: "t", SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: 3}},
				}},
			},
		}
	}
	group := func(b *betaWorld, count int32) *schedulingv1beta1.PodGroup {
		return &schedulingv1beta1.PodGroup{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "default", Name: betaPodGroupName(betaWorkloadName(b.ref()), "t"), OwnerReferences: []metav1.OwnerReference{ownerRef(b.ref())},
			},
			Spec: schedulingv1beta1.PodGroupSpec{
				SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: count}},
			},
		}
	}
	for _, row := range []struct {
		sentence string
		put      func(*betaWorld)
		want     func(b *betaWorld, f *events.GroupSeen)
	}{
		{"nothing is there", func(*betaWorld) {}, func(*betaWorld, *events.GroupSeen) {}},
		{"a Workload without a PodGroup", func(b *betaWorld) { b.put(own(b)) }, func(b *betaWorld, f *events.GroupSeen) {
			f.Workloads, f.WorkloadUsable, f.Workload = 1, true, betaWorkloadName(b.ref())
		}},
		{"a Workload of that name which the Job does not control", func(b *betaWorld) {
			w := own(b)
			w.OwnerReferences[0].UID = "another"
			b.put(w)
		}, func(b *betaWorld, f *events.GroupSeen) { f.Workload = betaWorkloadName(b.ref()) }},
		{"a Workload of a user under another name, that says it is for the Job", func(b *betaWorld) {
			w := own(b)
			w.Name, w.OwnerReferences = "users", nil
			b.put(w)
		}, func(*betaWorld, *events.GroupSeen) {}},
		{"a PodGroup of that name which the Job does not control", func(b *betaWorld) {
			g := group(b, 3)
			g.OwnerReferences = nil
			b.put(own(b))
			b.put(g)
		}, func(b *betaWorld, f *events.GroupSeen) {
			f.Workloads, f.WorkloadUsable, f.Workload = 1, true, betaWorkloadName(b.ref())
		}},
		{"both, and they differ in size", func(b *betaWorld) {
			b.put(own(b))
			b.put(group(b, 2))
		}, func(b *betaWorld, f *events.GroupSeen) {
			f.Workloads, f.WorkloadUsable, f.Workload = 1, true, betaWorkloadName(b.ref())
			f.PodGroups, f.PodGroupUsable, f.PodGroup = 1, true, betaPodGroupName(f.Workload, "t")
		}},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			b := newBetaWorld(t, asksForGang)
			row.put(b)
			want := &events.GroupSeen{}
			row.want(b, want)
			if diff := cmp.Diff(want, b.search()); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAWorkloadOfAnotherShapeIsRefused: a Job has a Workload that has not exactly one template. The Job does not get
// plain pods for that: the search is refused (J-242).
func TestAWorkloadOfAnotherShapeIsRefused(t *testing.T) {
	b := newBetaWorld(t, asksForGang)
	w := setsWorkload(betaWorkloadName(b.ref()))
	w.OwnerReferences = []metav1.OwnerReference{ownerRef(b.ref())}
	b.put(w)
	r := b.do(b.task(&events.FindGroup{}))
	b.wants(r, events.Refused, events.RefusedInvalid, false)
	if !strings.Contains(r.Evidence.Sentence, "has 2 podGroupTemplates, and must have exactly 1") {
		t.Errorf("it says %q", r.Evidence.Sentence)
	}
}

// TestDelegatedGroup: the PodGroup follows the template that the Job names in the Workload of the Job's owner. The Job
// owns the PodGroup, not the Job's owner (J-242, J-244).
func TestDelegatedGroup(t *testing.T) {
	for _, row := range []struct {
		template string
		count    int32
	}{{"workers", 3}, {"driver", 0}, {"", 3}} {
		t.Run(row.template, func(t *testing.T) {
			b := newBetaWorld(t, asksForGang, delegatedTo(row.template))
			another := setsWorkload("a")
			another.Spec.ControllerRef.Name = "another"
			b.put(another)
			b.put(setsWorkload("sets"))
			if f := b.search(); f.Workload != "sets" || !f.WorkloadUsable || !f.Delegated || f.PodGroups != 0 {
				t.Fatalf("found %+v", f)
			}
			create := b.task(&events.CreatePodGroup{})
			create.Workload = "sets"
			made := b.do(create)
			b.wants(made, events.Done, 0, true)
			_, groups := b.stored()
			g := groups[0]
			if diff := cmp.Diff([]metav1.OwnerReference{ownerRef(b.ref())}, g.OwnerReferences); diff != "" {
				t.Errorf("owners (-want +got):\n%s", diff)
			}
			name := row.template
			if name == "" {
				name = "workers"
			}
			if r := g.Spec.WorkloadRef; r.WorkloadName != "sets" || r.TemplateName != name || g.Name != upstreamPodGroupName("sets", name) {
				t.Errorf("PodGroup %s of %+v", g.Name, r)
			}
			if f := b.search(); f.PodGroup != g.Name || !f.PodGroupUsable || f.MinCount != row.count {
				t.Errorf("found %+v, want a minCount of %d", f, row.count)
			}
		})
	}
}

// TestDelegatedGroupWithoutItsTemplate: the owner's Workload lacks the template that the Job names. No PodGroup can be
// made, and the search says so.
func TestDelegatedGroupWithoutItsTemplate(t *testing.T) {
	b := newBetaWorld(t, delegatedTo("launcher"))
	if f := b.search(); f.Workloads != 0 || !f.Delegated {
		t.Errorf("found %+v without a Workload of the owner", f)
	}
	b.put(setsWorkload("sets"))
	if f := b.search(); f.Workloads != 1 || f.WorkloadUsable || f.Workload != "sets" || !f.Delegated {
		t.Errorf("found %+v without the template", f)
	}
	create := b.task(&events.CreatePodGroup{})
	create.Workload = "sets"
	b.wants(b.do(create), events.Refused, events.RefusedNotFound, false)
}

// TestANameThatIsTaken: the create of a Workload is refused because another owner's Workload has its name (J-245). A
// PodGroup is not made for that Workload.
func TestANameThatIsTaken(t *testing.T) {
	b := newBetaWorld(t, asksForGang)
	b.put(setsWorkload(betaWorkloadName(b.ref())))
	b.wants(b.do(b.task(&events.CreateWorkload{MinCount: 3})), events.Refused, events.RefusedNameTaken, true)
	create := b.task(&events.CreatePodGroup{})
	create.Workload = betaWorkloadName(b.ref())
	b.wants(b.do(create), events.Refused, events.RefusedNotFound, false) // the Workload is not the Job's
}

// TestResizeOfAGroup: both objects get the minCount. Objects that the Job does not control are not changed (J-247).
func TestResizeOfAGroup(t *testing.T) {
	b := newBetaWorld(t, asksForGang)
	workload, group := b.makeGroup(3)
	resize := b.task(&events.ResizeGroup{MinCount: 5})
	resize.Workload, resize.PodGroup = workload, group
	from := len(b.server.Calls(0))
	b.wants(b.do(resize), events.Done, 0, true)
	if asked := b.asked(from); asked != "patch workloads, patch podgroups" {
		t.Errorf("asked for %s", asked)
	}
	if f := b.search(); f.MinCount != 5 {
		t.Errorf("found a minCount of %d in both, want 5", f.MinCount)
	}

	b = newBetaWorld(t, asksForGang)
	b.put(setsWorkload("sets"))
	resize = b.task(&events.ResizeGroup{MinCount: 5})
	resize.Workload, resize.PodGroup = "sets", "none"
	b.wants(b.do(resize), events.Refused, events.RefusedInvalid, true)
	if w, _ := b.stored(); len(w) != 1 || w[0].Spec.PodGroupTemplates[0].SchedulingPolicy.Gang.MinCount != 3 {
		t.Errorf("the Workload of another was changed")
	}
}

// TestResizeOfADelegatedGroup: the PodGroup follows its template, whatever the Job's parallelism is.
func TestResizeOfADelegatedGroup(t *testing.T) {
	for template, asks := range map[string]string{"workers": "get workloads, patch podgroups", "driver": "get workloads"} {
		b := newBetaWorld(t, delegatedTo(template))
		b.put(setsWorkload("sets"))
		create := b.task(&events.CreatePodGroup{})
		create.Workload = "sets"
		made := b.do(create)
		b.wants(made, events.Done, 0, true)
		resize := b.task(&events.ResizeGroup{MinCount: 9})
		resize.Workload, resize.PodGroup = "sets", made.Evidence.Name
		from := len(b.server.Calls(0))
		b.wants(b.do(resize), events.Done, 0, true)
		if asked := b.asked(from); asked != asks {
			t.Errorf("template %s: asked for %s, want %s", template, asked, asks)
		}
		if _, groups := b.stored(); template == "workers" && groups[len(groups)-1].Spec.SchedulingPolicy.Gang.MinCount != 3 {
			t.Errorf("the PodGroup got the Job's parallelism")
		}
	}
}

// TestGroupsThatAreNotServed: each command is refused as forbidden, and the executor reports that the API is not
// served. It does not report this when only an object is missing.
func TestGroupsThatAreNotServed(t *testing.T) {
	create, resize := &events.CreatePodGroup{}, &events.ResizeGroup{MinCount: 1}
	for _, c := range []events.Command{&events.FindGroup{}, &events.CreateWorkload{MinCount: 1}, create, resize} {
		t.Run(c.Traits().Name, func(t *testing.T) {
			b := newBetaWorld(t, asksForGang)
			b.server.ServeGroups(false)
			task := b.task(c)
			task.Workload, task.PodGroup = "w", "g"
			r := b.do(task)
			b.wants(r, events.Refused, events.RefusedForbidden, true)
			if b.told != 1 || r.Evidence.Message == "" {
				t.Errorf("told %d times that the API is not served, message %q", b.told, r.Evidence.Message)
			}
			b.server.ServeGroups(true)
			again := b.task(c)
			again.Workload, again.PodGroup = "w", "g"
			b.do(again)
			if b.told != 1 {
				t.Errorf("told %d times, though the API is served by now", b.told)
			}
		})
	}
}

// TestAGroupOfUnknownEnd: the first try of a create gets no answer, so its end is unknown. The second try meets the
// Workload of the first (J-245).
func TestAGroupOfUnknownEnd(t *testing.T) {
	b := newBetaWorld(t, asksForGang)
	b.client.FailNext(apiserver.Fault{Kind: apiserver.TimeoutAfter})
	b.wants(b.do(b.task(&events.CreateWorkload{MinCount: 3})), events.OutcomeUnknown, 0, true)
	b.wants(b.do(b.task(&events.CreateWorkload{MinCount: 3})), events.Refused, events.RefusedNameTaken, true)
	if f := b.search(); !f.WorkloadUsable {
		t.Errorf("found %+v, want the Workload of the first try", f)
	}
	if workloads, _ := b.stored(); len(workloads) != 1 {
		t.Errorf("%d Workloads", len(workloads))
	}
}

// TestNamesAreThoseOfTheBuiltin: the names are computed as in job_scheduling_manager.go of Kubernetes v1.37.2. They are
// legal, and differ between Jobs of one name.
func TestNamesAreThoseOfTheBuiltin(t *testing.T) {
	for _, name := range []string{"a", "demo", strings.Repeat("x", 63), "with.dots." + strings.Repeat("y", 200), strings.Repeat("z", 253)} {
		job := events.JobRef{Namespace: "default", Name: name, UID: "1b4e28ba-2fa1-11d2-883f-0016d3cca427"}
		workload := betaWorkloadName(job)
		if hash := "-" + upstreamHash("(types.UID)1b4e28ba-2fa1-11d2-883f-0016d3cca427"); workload != name[:min(len(name), 253-len(hash))]+hash {
			t.Errorf("the Workload of %q is %q", name, workload)
		}
		for _, template := range []string{"t", groupTemplateName(job), strings.Repeat("t", 63)} {
			group := betaPodGroupName(workload, template)
			if group != upstreamPodGroupName(workload, template) {
				t.Errorf("the PodGroup of %q and %q is %q, upstream's is %q", workload, template, group, upstreamPodGroupName(workload, template))
			}
			if why := validation.IsDNS1123Subdomain(group); len(why) > 0 {
				t.Errorf("%q: %v", group, why)
			}
		}
		again := job
		again.UID = types.UID("another")
		if betaWorkloadName(again) == workload {
			t.Errorf("two Jobs called %q share the name %q", name, workload)
		}
	}
	if name := betaWorkloadName(events.JobRef{Name: strings.Repeat("a", 241) + "." + strings.Repeat("b", 11), UID: "u"}); len(validation.IsDNS1123Subdomain(name)) > 0 {
		t.Errorf("a name that is cut behind a dot is not legal: %q", name)
	}
}

func upstreamHash(text string) string {
	h := fnv.New32a()
	h.Write([]byte(text))
	return rand.SafeEncodeString(fmt.Sprint(h.Sum32()))
}

// upstreamPodGroupName is computePodGroupName of Kubernetes v1.37.2.
func upstreamPodGroupName(wl, tpl string) string {
	hash := upstreamHash(wl + tpl)
	maxAvailable := validation.DNS1123SubdomainMaxLength - len(hash) - 2
	if len(wl)+len(tpl) > maxAvailable {
		half := maxAvailable / 2
		switch {
		case len(wl) <= half:
			tpl = tpl[:maxAvailable-len(wl)]
		case len(tpl) <= half:
			wl = wl[:maxAvailable-len(tpl)]
		default:
			wl, tpl = wl[:maxAvailable-half], tpl[:half]
		}
	}
	return fmt.Sprintf("%s-%s-%s", wl, tpl, hash)
}
