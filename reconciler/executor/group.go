package executor

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
	"github.com/jobledger/jobledger/internal/wire/v1alpha2"
)

// findGroup looks for the Job's Workload, by its reference to the Job, and for the PodGroup made from it (J-242,
// J-244), in the API of Kubernetes 1.36. It lists the namespace: Workloads are not watched, and each Job is looked up
// once. If the server lacks these objects or denies access, the Job has no group.
func (w *work) findGroup(ctx context.Context) {
	w.result.Evidence.Name = w.Job.Name
	if w.Groups == nil {
		w.refuse(events.RefusedInvalid, "gang scheduling is not set up here")
		return
	}
	found := &events.GroupSeen{}
	workloads, err := w.Groups.ListWorkloads(ctx, w.Job.Namespace)
	if w.cannotSee(err, found) {
		return
	}
	for i := range workloads {
		if l := &workloads[i]; isFor(l, w.Job) {
			found.Workloads++
			found.Workload, found.WorkloadUsable = l.Name, ownedBy(l, w.Job) && len(l.Spec.PodGroupTemplates) == 1
		}
	}
	if found.WorkloadUsable = found.WorkloadUsable && found.Workloads == 1; found.WorkloadUsable {
		groups, err := w.Groups.ListPodGroups(ctx, w.Job.Namespace)
		if w.cannotSee(err, found) {
			return
		}
		for i := range groups {
			if g := &groups[i]; madeOf(g, found.Workload) {
				found.PodGroups++
				found.PodGroup, found.PodGroupUsable = g.Name, ownedBy(g, w.Job)
			}
		}
		found.PodGroupUsable = found.PodGroupUsable && found.PodGroups == 1
	}
	w.found(found)
}

// cannotSee reports whether the search must end, because a read failed with err, and sets the task's outcome: unknown
// or refused. If the server lacks the resource or denies access, the task ends with the result that there is no group.
func (w *work) cannotSee(err error, found *events.GroupSeen) bool {
	if err == nil {
		return false
	}
	w.failed(err)
	if apierrors.IsNotFound(err) { // an empty list is no error, so the server does not know the resource
		w.Unserved()
	}
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		*found = events.GroupSeen{Unavailable: true}
		w.found(found)
	}
	return true
}

// found ends the search for the Job's Workload and PodGroup with what it has found.
func (w *work) found(f *events.GroupSeen) {
	w.observe(events.Observation{Job: w.Job, Facts: f})
	w.done(0, kubewire.Stored{})
}

func isFor(l *v1alpha2.Workload, job events.JobRef) bool {
	r := l.Spec.ControllerRef
	return r != nil && *r == controllerRef(job)
}

func controllerRef(job events.JobRef) v1alpha2.ControllerRef {
	return v1alpha2.ControllerRef{APIGroup: batchv1.GroupName, Kind: "Job", Name: job.Name}
}

func madeOf(g *v1alpha2.PodGroup, workload string) bool {
	r := g.Spec.PodGroupTemplateRef
	return r != nil && r.Workload != nil && r.Workload.WorkloadName == workload
}

func ownedBy(o metav1.Object, job events.JobRef) bool {
	owner := metav1.GetControllerOf(o)
	return owner != nil && owner.UID == job.UID
}

// createWorkload creates the Workload with which the pods of a Job are scheduled together (a gang) (J-243).
func (w *work) createWorkload(ctx context.Context, c *events.CreateWorkload) {
	w.result.Evidence.Name = workloadName(w.Job)
	ref := controllerRef(w.Job)
	created, err := w.Groups.CreateWorkload(ctx, &v1alpha2.Workload{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.Job.Namespace, Name: w.result.Evidence.Name, Annotations: w.termAnnotation(),
			OwnerReferences: []metav1.OwnerReference{ownerRef(w.Job)},
		},
		Spec: v1alpha2.WorkloadSpec{
			ControllerRef: &ref,
			PodGroupTemplates: []v1alpha2.PodGroupTemplate{{
				Name: groupTemplateName(w.Job),
				SchedulingPolicy: v1alpha2.Policy{
					Gang: &v1alpha2.GangPolicy{MinCount: c.MinCount},
				},
			}},
		},
	})
	if err != nil {
		w.failed(err)
		return
	}
	w.done(0, kubewire.StoredOf(created))
}

// createPodGroup creates the PodGroup from its Workload's template (J-244).
func (w *work) createPodGroup(ctx context.Context) {
	l, err := w.Groups.GetWorkload(ctx, w.Job.Namespace, w.Workload)
	if err != nil {
		w.failed(err)
		return
	}
	if !ownedBy(l, w.Job) || len(l.Spec.PodGroupTemplates) != 1 {
		w.refuse(events.RefusedNotFound, fmt.Sprintf("the Workload %s is no longer the Job's", w.Workload))
		return
	}
	t := &l.Spec.PodGroupTemplates[0]
	w.result.Evidence.Name = podGroupName(l.Name, t.Name, w.Job)
	created, err := w.Groups.CreatePodGroup(ctx, &v1alpha2.PodGroup{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.Job.Namespace, Name: w.result.Evidence.Name, Annotations: w.termAnnotation(),
			OwnerReferences: []metav1.OwnerReference{ownerRef(w.Job), {
				APIVersion: v1alpha2.GroupVersion.String(), Kind: "Workload", Name: l.Name, UID: l.UID,
			}},
		},
		Spec: v1alpha2.PodGroupSpec{
			PodGroupTemplateRef: &v1alpha2.TemplateRef{
				Workload: &v1alpha2.WorkloadTemplateRef{WorkloadName: l.Name, PodGroupTemplateName: t.Name},
			},
			SchedulingPolicy: t.SchedulingPolicy.DeepCopy(),
		},
	})
	if err != nil {
		w.failed(err)
		return
	}
	w.done(0, kubewire.StoredOf(created))
}

const (
	maxGroupName = validation.DNS1123SubdomainMaxLength
	groupHashLen = 10
	templateTail = "-pgt-0"
)

// workloadName returns the name of the Job's Workload: the Job's name, shortened if necessary, and a hash of its UID.
func workloadName(job events.JobRef) string {
	return cut(job.Name, maxGroupName-1-groupHashLen) + "-" + groupHash(string(job.UID))
}

// groupTemplateName returns the name of the pod group template in the Job's Workload, a DNS label.
func groupTemplateName(job events.JobRef) string {
	name := strings.ReplaceAll(job.Name, ".", "-")
	return cut(name, validation.DNS1123LabelMaxLength-len(templateTail)) + templateTail
}

// podGroupName returns the name of the PodGroup made from a Workload's template. If the name is too long, the names of
// Workload and template are shortened.
func podGroupName(workload, template string, job events.JobRef) string {
	room := maxGroupName - 2 - groupHashLen
	if len(workload)+len(template) > room {
		template = cut(template, max(room/2, room-len(workload)))
		workload = cut(workload, room-len(template))
	}
	return workload + "-" + template + "-" + groupHash(string(job.UID)+"/"+workload+"/"+template)
}

// cut returns at most n bytes of a name, without a dash or dot at the end.
func cut(name string, n int) string {
	return strings.TrimRight(name[:min(len(name), n)], "-.")
}

func groupHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])[:groupHashLen]
}
