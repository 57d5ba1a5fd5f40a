package minors

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/wire/v1alpha2"
	"github.com/jobledger/jobledger/reconciler/executor/kubeapi"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/built"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// withGangs is the only minor version with the Workloads and PodGroups that Jobledger creates.
const withGangs = "1.36"

// TestGang: with --gang-scheduling, on a server that supports it, an Indexed Job with all pods at once gets a Workload
// and a PodGroup before its first pod. Its pods name the PodGroup, a restart keeps both, and the Job ends. Other Jobs
// run as usual. For a Workload that a user made, Jobledger creates the PodGroup. It uses exactly the rights of
// deploy/gang (J-239 to J-248).
func TestGang(t *testing.T) {
	if !effort.IsLong() {
		t.Skip("builds an older version of Kubernetes: JOBLEDGER_LONG=1")
	}
	program, err := built.Program(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, flavour{minor: withGangs, gangs: true}, program)
	p := s.place("gangs", controller.NewUser)
	if err := controller.GrantGangs(t.Context(), s.cp, p.namespace, p.namespace); err != nil {
		t.Fatal(err)
	}
	p.start("all", "--gang-scheduling", "--cronjobs=false", "--ttl-after-finished=false")

	p.create(newJob("gang", indexed(3, 3), runFor("3s")))
	p.create(newJob("suspended", indexed(2, 2), suspended))
	p.create(newJob("fewer-at-once", indexed(3, 2)))
	p.await("the gang's pods are there", func() bool { return len(p.pods("gang")) == 3 })
	group := p.group("gang")
	for name, pod := range p.pods("gang") {
		if g := pod.Spec.SchedulingGroup; g == nil || g.PodGroupName == nil || *g.PodGroupName != group.Name {
			t.Errorf("pod %s is in group %v, want %s", name, g, group.Name)
		}
		if len(pod.OwnerReferences) != 1 {
			t.Errorf("pod %s has owners %v, want only the Job (J-246)", name, pod.OwnerReferences)
		}
	}
	if err := p.ours.Kill(); err != nil {
		t.Fatal(err)
	}
	p.again()
	p.completes("gang", "0-2")
	p.completes("fewer-at-once", "0-2")
	if again := p.group("gang"); again.UID != group.UID {
		t.Errorf("the PodGroup is %s, and was %s before the restart (J-247)", again.UID, group.UID)
	}

	before := p.group("suspended") // it exists before any pod (J-241)
	if pods := p.pods("suspended"); len(pods) != 0 {
		t.Errorf("a suspended Job has %d pods", len(pods))
	}
	p.patch("suspended", `{"spec":{"suspend":false}}`)
	p.completes("suspended", "0,1")
	if after := p.group("suspended"); after.UID != before.UID {
		t.Errorf("the PodGroup is %s, and was %s before the Job was resumed", after.UID, before.UID)
	}
	p.usesWorkloadOfAnother()
	p.stop()
	p.wroteGangs()
}

// usesWorkloadOfAnother: a user creates the Workload of a Job while Jobledger is stopped. So Jobledger looks for a
// PodGroup, and creates it from that Workload.
func (p *place) usesWorkloadOfAnother() {
	p.Helper()
	if err := p.ours.Stop(p.ctx); err != nil {
		p.Fatal(err)
	}
	p.create(newJob("found", indexed(2, 2)))
	if _, err := p.groups().CreateWorkload(p.ctx, &v1alpha2.Workload{
		ObjectMeta: metav1.ObjectMeta{Name: "made", Namespace: p.namespace, OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(p.job("found"), batchv1.SchemeGroupVersion.WithKind("Job")),
		}},
		Spec: v1alpha2.WorkloadSpec{
			ControllerRef: &v1alpha2.ControllerRef{APIGroup: batchv1.GroupName, Kind: "Job", Name: "found"},
			PodGroupTemplates: []v1alpha2.PodGroupTemplate{{
				Name: "all", SchedulingPolicy: v1alpha2.Policy{Gang: &v1alpha2.GangPolicy{MinCount: 2}},
			}},
		},
	}); err != nil {
		p.Fatal(err)
	}
	p.again()
	if group := p.group("found"); group.Spec.PodGroupTemplateRef.Workload.WorkloadName != "made" {
		p.Errorf("the PodGroup is of another Workload: %+v", group.Spec)
	}
	p.completes("found", "0,1")
}

// wroteGangs checks the requests of Jobledger, and the Events.
func (p *place) wroteGangs() {
	p.Helper()
	asked := map[string]int{}
	for _, w := range p.writes() {
		if w.Group == v1alpha2.GroupVersion.Group {
			asked[w.Verb+" "+w.Resource]++
		}
	}
	if asked["create workloads"] != 2 || asked["create podgroups"] != 3 {
		p.Errorf("ours asked for %v, want two Workloads and three PodGroups", asked)
	}
	for _, right := range []string{"get workloads", "list workloads", "list podgroups"} {
		if asked[right] == 0 {
			p.Errorf("deploy/gang gives the right to %s, which nothing used: %v", right, asked)
		}
	}
	events, err := p.client.CoreV1().Events(p.namespace).List(p.ctx, metav1.ListOptions{FieldSelector: "reason=WorkloadCreated"})
	if err != nil || len(events.Items) != 2 || !strings.HasPrefix(events.Items[0].Message, "Created Workload ") {
		p.Errorf("Events %v, %v: want one for each Workload", events.Items, err)
	}
}

// again starts Jobledger as before, on the same log.
func (p *place) again() {
	p.Helper()
	if err := p.ours.Start(p.ctx); err != nil {
		p.Fatal(err)
	}
}

// completes waits for the end of an Indexed Job.
func (p *place) completes(job, indexes string) {
	p.Helper()
	p.await(job+" ends", func() bool { return finished(p.job(job)) })
	got := ended(p.job(job))
	if got.condition != batchv1.JobComplete || got.reason != "CompletionsReached" || got.completed != indexes {
		p.Errorf("Job %s ended as %+v, want the completed indexes %s", job, got, indexes)
	}
}

// group waits for the Job's PodGroup, and checks its Workload.
func (p *place) group(job string) *v1alpha2.PodGroup {
	p.Helper()
	j, api := p.job(job), p.groups()
	var group *v1alpha2.PodGroup
	p.await("Job "+job+" has its PodGroup", func() bool {
		list, err := api.ListPodGroups(p.ctx, p.namespace)
		if err != nil {
			p.Fatal(err)
		}
		for i := range list {
			if metav1.IsControlledBy(&list[i], j) {
				group = &list[i]
			}
		}
		return group != nil
	})
	name := group.Spec.PodGroupTemplateRef.Workload.WorkloadName
	workload, err := api.GetWorkload(p.ctx, p.namespace, name)
	if err != nil {
		p.Fatal(err)
	}
	gang := workload.Spec.PodGroupTemplates[0].SchedulingPolicy.Gang
	if !metav1.IsControlledBy(workload, j) || gang == nil || gang.MinCount != *j.Spec.Parallelism {
		p.Errorf("Workload %s of %s: %+v", name, job, workload.Spec)
	}
	return group
}

// groups returns the client for Workloads and PodGroups.
func (p *place) groups() *kubeapi.Client {
	p.Helper()
	api, err := kubeapi.New(p.client)
	if err != nil {
		p.Fatal(err)
	}
	return api
}

// gangOptions enables the gates and APIs for gangs.
func gangOptions(o controlplane.Options) controlplane.Options {
	for _, gate := range []string{"GenericWorkload", "GangScheduling", "WorkloadWithJob"} {
		o.FeatureGates[gate] = true
	}
	o.RuntimeConfig = map[string]bool{v1alpha2.GroupVersion.String(): true}
	o.AuditReads = true
	return o
}
