package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// The functions below handle the Workload and PodGroup of a Job in the API of Kubernetes 1.37. Both objects have the
// names that the built-in controller gives them. So a read by name finds them, whichever controller made them.
// Workloads are listed only for a Job whose owner manages the Workload.

// delegation names the Job's owner, if that owner manages the Workload from which the Job's PodGroup is made; zero if
// it does not.
type delegation struct {
	owner    *metav1.OwnerReference
	template string // name of the template in the owner's Workload; "" for the first
}

// grouped returns the stored Job and, if its owner manages the Workload, that owner. ok is false if the Job is unknown;
// the task is then refused.
func (w *work) grouped() (job *kubewire.Job, by delegation, ok bool) {
	w.result.Evidence.Name = w.Job.Name
	if job, _, _ = w.Objects.at(w.Life, w.Job.UID, 0); job == nil {
		w.refuse(events.RefusedTemplate, "the Job is not known any more")
		return nil, by, false
	}
	var err error
	if by.owner, by.template, err = job.Delegation(); err != nil {
		w.refuse(events.RefusedInvalid, err.Error())
		return nil, by, false
	}
	return job, by, true
}

// findBetaGroup reads the Workload and the PodGroup of the Job in the API of Kubernetes 1.37, and reports which exist
// (J-242, J-244).
func (w *work) findBetaGroup(ctx context.Context) {
	_, by, ok := w.grouped()
	if !ok {
		return
	}
	found := &events.GroupSeen{Delegated: by.owner != nil}
	workload, template, ok := w.workload(ctx, by, found)
	if !ok {
		return
	}
	if template == nil {
		w.found(found)
		return
	}
	found.Workloads, found.Workload, found.WorkloadUsable = 1, workload.Name, true
	group, err := w.Workloads.ReadPodGroup(ctx, w.Job.Namespace, betaPodGroupName(workload.Name, template.Name))
	switch {
	case missing(err):
	case err != nil:
		w.groupFailed(err)
		return
	case ownedBy(group, w.Job): // a group of another Job does not count
		found.PodGroups, found.PodGroup, found.PodGroupUsable = 1, group.Name, true
		if group.MinCount == template.MinCount {
			found.MinCount = group.MinCount
		}
	}
	w.found(found)
}

// workload returns the Workload l of the Job or of its owner, and in it the template t for the Job's PodGroup; nil if
// there is none. It notes in found what it saw. ok is false if the task has ended with an error.
func (w *work) workload(
	ctx context.Context, by delegation, found *events.GroupSeen,
) (l *kubewire.Workload, t *kubewire.GroupTemplate, ok bool) {
	if by.owner != nil {
		return w.ownersWorkload(ctx, by, found)
	}
	l, err := w.Workloads.ReadWorkload(ctx, w.Job.Namespace, betaWorkloadName(w.Job))
	switch {
	case missing(err):
		return nil, nil, true
	case err != nil:
		w.groupFailed(err)
		return nil, nil, false
	case !ownedBy(l, w.Job):
		found.Workload = l.Name
		return nil, nil, true
	case len(l.Templates) != 1 || l.Composite:
		w.refuse(events.RefusedInvalid, fmt.Sprintf("Workload %s has %d podGroupTemplates, and must have exactly 1", l.Name, len(l.Templates)))
		return nil, nil, false
	}
	return l, &l.Templates[0], true
}

// ownersWorkload returns the Workload of the Job's owner, and in it the template for the Job's PodGroup. It lists the
// namespace, because the Workload's name is not known.
func (w *work) ownersWorkload(
	ctx context.Context, by delegation, found *events.GroupSeen,
) (l *kubewire.Workload, t *kubewire.GroupTemplate, ok bool) {
	group, err := schema.ParseGroupVersion(by.owner.APIVersion)
	if err != nil {
		return nil, nil, true // as for the built-in controller, such an owner has no Workload
	}
	owner := kubewire.ControllerRef{APIGroup: group.Group, Kind: by.owner.Kind, Name: by.owner.Name}
	for page := ""; ; {
		all, next, err := w.Workloads.ReadWorkloads(ctx, w.Job.Namespace, page)
		if err != nil {
			w.groupFailed(err)
			return nil, nil, false
		}
		for _, l := range all {
			if l.Controller != owner {
				continue
			}
			found.Workloads, found.Workload = 1, l.Name
			return l, templateOf(l, by.template), true
		}
		if page = next; page == "" {
			return nil, nil, true
		}
	}
}

// templateOf returns the Workload's template called name, or the first one if name is empty; nil for none.
func templateOf(l *kubewire.Workload, name string) *kubewire.GroupTemplate {
	for i := range l.Templates {
		if t := &l.Templates[i]; name == "" || t.Name == name {
			return t
		}
	}
	return nil
}

// makeWorkload creates the Job's Workload in the API of Kubernetes 1.37 (J-243).
func (w *work) makeWorkload(ctx context.Context, c *events.CreateWorkload) {
	job, _, ok := w.grouped()
	if !ok {
		return
	}
	o := w.groupObject(betaWorkloadName(w.Job))
	w.result.Evidence.Name = o.Name
	ref := kubewire.ControllerRef{APIGroup: batchv1.GroupName, Kind: "Job", Name: w.Job.Name}
	body, err := o.Workload(job, ref, groupTemplateName(w.Job), c.MinCount)
	if err != nil {
		w.refuse(events.RefusedInvalid, err.Error())
		return
	}
	made, err := w.Workloads.MakeWorkload(ctx, w.Job.Namespace, body)
	if err != nil {
		w.groupFailed(err)
		return
	}
	w.done(0, made)
}

// makePodGroup creates the Job's PodGroup from the template in its own Workload or in its owner's (J-244).
func (w *work) makePodGroup(ctx context.Context) {
	_, by, ok := w.grouped()
	if !ok {
		return
	}
	l, err := w.Workloads.ReadWorkload(ctx, w.Job.Namespace, w.Workload)
	if err != nil {
		w.groupFailed(err)
		return
	}
	var t *kubewire.GroupTemplate
	if by.owner != nil {
		t = templateOf(l, by.template)
	} else if ownedBy(l, w.Job) && len(l.Templates) == 1 {
		t = &l.Templates[0]
	}
	if t == nil {
		w.refuse(events.RefusedNotFound, fmt.Sprintf("the Workload %s is no longer the one of the Job's PodGroup", w.Workload))
		return
	}
	o := w.groupObject(betaPodGroupName(l.Name, t.Name))
	if by.owner == nil {
		o.Owners = append(o.Owners, metav1.OwnerReference{APIVersion: betaVersion, Kind: "Workload", Name: l.Name, UID: l.UID})
	}
	w.result.Evidence.Name = o.Name
	body, err := o.PodGroup(l.Name, t)
	if err != nil {
		w.refuse(events.RefusedInvalid, err.Error())
		return
	}
	made, err := w.Workloads.MakePodGroup(ctx, w.Job.Namespace, body)
	if err != nil {
		w.groupFailed(err)
		return
	}
	w.done(0, made)
}

const betaVersion = "scheduling.k8s.io/v1beta1"

// groupObject returns the metadata of a new Workload or PodGroup that the Job controls.
func (w *work) groupObject(name string) *kubewire.NewGroupObject {
	o := &kubewire.NewGroupObject{Namespace: w.Job.Namespace, Name: name, Owners: []metav1.OwnerReference{ownerRef(w.Job)}}
	term := w.termAnnotation()
	for _, name := range slices.Sorted(maps.Keys(term)) {
		o.Annotations = append(o.Annotations, kubewire.Pair{Name: name, Value: term[name]})
	}
	return o
}

// resizeGroup sets minCount (how many pods must be scheduled together) of the Workload and of the PodGroup. If the
// Workload belongs to the Job's owner, only the PodGroup changes, to the value in the owner's Workload. The API server
// ignores a patch that changes nothing.
func (w *work) resizeGroup(ctx context.Context, c *events.ResizeGroup) {
	_, by, ok := w.grouped()
	if !ok {
		return
	}
	w.result.Evidence.Name = w.PodGroup
	count := c.MinCount
	if by.owner != nil {
		l, err := w.Workloads.ReadWorkload(ctx, w.Job.Namespace, w.Workload)
		if err != nil {
			w.groupFailed(err)
			return
		}
		t := templateOf(l, by.template)
		if t == nil || t.MinCount == 0 {
			w.done(0, kubewire.Stored{})
			return
		}
		count = t.MinCount
	} else if _, err := w.Workloads.PatchWorkload(ctx, w.Job.Namespace, w.Workload,
		w.resized("/spec/podGroupTemplates/0/schedulingPolicy/gang/minCount", count)); err != nil {
		w.groupFailed(err)
		return
	}
	stored, err := w.Workloads.PatchPodGroup(ctx, w.Job.Namespace, w.PodGroup, w.resized("/spec/schedulingPolicy/gang/minCount", count))
	if err != nil {
		w.groupFailed(err)
		return
	}
	w.done(0, stored)
}

// resized returns a JSON patch that sets path to count. The patch first tests that the Job controls the object, so it
// fails on another owner's object of the same name.
func (w *work) resized(path string, count int32) []byte {
	type step struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	patch, err := json.Marshal([]step{
		{"test", "/metadata/ownerReferences/0/uid", w.Job.UID}, {"replace", path, count},
	})
	if err != nil {
		panic(err) // texts and a number can always be encoded
	}
	return patch
}

// groupFailed ends the task with the outcome that follows from the error. If the server does not have the API of the
// group objects, the task ends as refused.
func (w *work) groupFailed(err error) {
	w.failed(err)
	if unserved(err) {
		w.Unserved()
		e := &w.result.Ended
		e.Ending, e.Class, e.Over = events.Refused, events.RefusedForbidden, false
	}
}

// unserved reports whether the error says that the API server does not know the resource at all.
func unserved(err error) bool { return apierrors.IsNotFound(err) && !missing(err) }

// missing reports whether the error says that the object does not exist.
func missing(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsNotFound(err) {
		return false
	}
	d := status.Status().Details
	return d != nil && d.Name != ""
}

// betaWorkloadName returns the name that the built-in controller gives to the Job's Workload.
func betaWorkloadName(job events.JobRef) string {
	hash := builtinHash(dumped(string(job.UID)))
	return legalCut(job.Name, maxGroupName-len(hash)-1) + "-" + hash
}

// betaPodGroupName returns the name that the built-in controller gives to a PodGroup made from a Workload's template.
func betaPodGroupName(workload, template string) string {
	hash := builtinHash(workload + template)
	room := maxGroupName - len(hash) - 2
	if len(workload)+len(template) > room {
		switch half := room / 2; {
		case len(workload) <= half:
			template = legalCut(template, room-len(workload))
		case len(template) <= half:
			workload = legalCut(workload, room-len(template))
		default:
			workload, template = legalCut(workload, room-half), legalCut(template, half)
		}
	}
	return workload + "-" + template + "-" + hash
}

// legalCut returns at most n bytes of a name, without a dot at the end, because a dash follows. In such a case the
// built-in controller leaves the dot, and the API server rejects its object.
func legalCut(name string, n int) string { return strings.TrimRight(name[:min(len(name), n)], ".") }

// builtinHash returns the hash that the built-in Job controller puts into names.
func builtinHash(text string) string {
	h := fnv.New32a()
	h.Write([]byte(text))
	return rand.SafeEncodeString(strconv.FormatUint(uint64(h.Sum32()), 10))
}

// dumped returns a UID as k8s.io/utils/dump prints it: the text that the built-in controller hashes for names. Quoting
// is unnecessary: a UID has no quote or backslash.
func dumped(uid string) string { return `(types.UID)` + uid }
