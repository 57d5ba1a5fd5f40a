package kubewire

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// This file reads and makes Workloads and PodGroups of scheduling.k8s.io/v1beta1 (Kubernetes 1.37). The scheduling of a
// Job is copied as bytes into the template of a Workload, and from there into a PodGroup. The messages in these fields
// are the same in all three objects, so no unknown field is lost. Only the field numbers differ:
//
//	             Job's spec.scheduling   template of a Workload   spec of a PodGroup
//	policy       1                       2                        3
//	constraints  2                       3                        4
//	disruption   3                       5                        6
//	claims       4                       4                        5

// GroupTemplateAnnotation is an annotation on a Job. It tells the Job's controller to create a PodGroup, from a
// template in the Workload of the Job's owner. The owner sets it to the name of the template.
const GroupTemplateAnnotation = "scheduling.k8s.io/group-template-name"

// Numbers of protobuf fields in a template of a Workload.
const (
	templateName        = 1
	templatePolicy      = 2
	templateConstraints = 3
	templateClaims      = 4
	templateDisruption  = 5
	templatePriority    = 6 // priorityClassName
)

// ControllerRef names the object whose pods a Workload schedules together.
type ControllerRef struct{ APIGroup, Kind, Name string }

// Workload is a Workload of the API server: how the pods of its controller are scheduled. It has the fields that
// Jobledger reads.
type Workload struct {
	metav1.ObjectMeta
	Controller ControllerRef
	Templates  []GroupTemplate
	Composite  bool // it also has templates of groups that consist of groups
}

// GroupTemplate is a template in a Workload, from which PodGroups are made.
type GroupTemplate struct {
	Name     string
	MinCount int32  // minCount of its gang, the number of pods that must fit; 0 for no gang
	bytes    []byte // the template as the server sent it
}

// PodGroup is a PodGroup of the API server: pods that are scheduled together. It has the fields that Jobledger reads.
type PodGroup struct {
	metav1.ObjectMeta
	MinCount int32 // minCount of its gang, the number of pods that must fit; 0 for no gang
}

// ReadWorkload decodes a Workload from an answer of the API server in protobuf.
func ReadWorkload(answer []byte) (*Workload, error) {
	_, raw, err := unwrap(answer)
	if err != nil {
		return nil, err
	}
	return workloadOf(raw)
}

// ReadWorkloads decodes a list of Workloads from an answer in protobuf. next is the token of the next page; empty on
// the last one.
func ReadWorkloads(answer []byte) (all []*Workload, next string, err error) {
	_, raw, err := unwrap(answer)
	for f := (fields{rest: raw}); f.next(&err); {
		switch f.number {
		case 1:
			for in := (fields{rest: f.bytes}); in.next(&err); {
				if in.number == 3 {
					next = in.text()
				}
			}
		case 2:
			w, failed := workloadOf(f.bytes)
			if all = append(all, w); failed != nil {
				err = failed
			}
		}
	}
	return all, next, err
}

func workloadOf(raw []byte) (*Workload, error) {
	w := &Workload{}
	var err error
	for f := (fields{rest: raw}); f.next(&err); {
		switch f.number {
		case 1:
			err = (annotations)(nil).read(&w.ObjectMeta, f.bytes)
		case 2:
			w.readSpec(f.bytes, &err)
		}
	}
	return w, err
}

func (w *Workload) readSpec(b []byte, err *error) {
	for f := (fields{rest: b}); f.next(err); {
		switch f.number {
		case 1:
			for in := (fields{rest: f.bytes}); in.next(err); {
				switch in.number {
				case 1:
					w.Controller.APIGroup = in.text()
				case 2:
					w.Controller.Kind = in.text()
				case 3:
					w.Controller.Name = in.text()
				}
			}
		case 2:
			t := GroupTemplate{bytes: f.bytes}
			for in := (fields{rest: f.bytes}); in.next(err); {
				switch in.number {
				case templateName:
					t.Name = in.text()
				case templatePolicy:
					t.MinCount = minCount(in.bytes, err)
				}
			}
			w.Templates = append(w.Templates, t)
		case 3:
			w.Composite = true
		}
	}
}

// minCount returns how many pods of a policy's gang must fit; 0 for no gang.
func minCount(policy []byte, err *error) (n int32) {
	for f := (fields{rest: policy}); f.next(err); {
		if f.number != policyGang {
			continue
		}
		if _, count := withoutMinCount(f.bytes, err); count != nil {
			n = *count
		}
	}
	return n
}

// ReadPodGroup decodes a PodGroup from an answer of the API server in protobuf.
func ReadPodGroup(answer []byte) (*PodGroup, error) {
	_, raw, err := unwrap(answer)
	g := &PodGroup{}
	for f := (fields{rest: raw}); f.next(&err); {
		switch f.number {
		case 1:
			err = (annotations)(nil).read(&g.ObjectMeta, f.bytes)
		case 2:
			for in := (fields{rest: f.bytes}); in.next(&err); {
				if in.number == templatePolicy+1 {
					g.MinCount = minCount(in.bytes, &err)
				}
			}
		}
	}
	return g, err
}

// NewGroupObject is the metadata of a Workload or PodGroup to create.
type NewGroupObject struct {
	Namespace, Name string
	Annotations     []Pair
	Owners          []metav1.OwnerReference
}

func (o *NewGroupObject) encode(spec []byte) ([]byte, error) {
	meta := appendText(appendText(nil, 1, o.Name), 3, o.Namespace)
	meta = appendPairs(meta, metaAnnotations, o.Annotations)
	for i := range o.Owners {
		owner, err := o.Owners[i].Marshal()
		if err != nil {
			return nil, fmt.Errorf("encode an owner of %s: %w", o.Name, err)
		}
		meta = appendBytes(meta, 13, owner)
	}
	return appendBytes(appendBytes(nil, 1, meta), 2, spec), nil
}

// Workload returns a Workload to create for a Job, as protobuf. It has one template, with the scheduling of the Job and
// the priority class of its pods. count is the minCount of the gang: so many pods must fit; 0 means that pods are
// scheduled one by one.
func (o *NewGroupObject) Workload(job *Job, controller ControllerRef, template string, count int32) ([]byte, error) {
	ref := appendText(nil, 1, controller.APIGroup)
	ref = appendText(appendText(ref, 2, controller.Kind), 3, controller.Name)
	t, err := job.groupTemplate(template, count)
	if err != nil {
		return nil, fmt.Errorf("make a Workload of Job %s/%s: %w", job.Namespace, job.Name, err)
	}
	return o.encode(appendBytes(appendBytes(nil, 1, ref), 2, t))
}

// PodGroup returns a PodGroup to create, as protobuf. It is made from template t of the Workload with the given name.
func (o *NewGroupObject) PodGroup(workload string, t *GroupTemplate) ([]byte, error) {
	ref := appendText(appendText(nil, 1, workload), 2, t.Name)
	spec := appendBytes(nil, 2, ref)
	var err error
	for f := (fields{rest: t.bytes}); ; {
		from := f.rest
		if !f.next(&err) {
			break
		}
		if f.number == templateName {
			continue
		}
		field := from[:len(from)-len(f.rest)]
		_, tagged := protowire.ConsumeVarint(field)
		tag := protowire.EncodeTag(f.number+1, protowire.Type(field[0]&7))
		spec = append(protowire.AppendVarint(spec, tag), field[tagged:]...)
	}
	if err != nil {
		return nil, fmt.Errorf("make a PodGroup after template %s of Workload %s: %w", t.Name, workload, err)
	}
	return o.encode(spec)
}

// groupTemplate returns the template of the pod group in the Job's Workload, made from the Job's spec.scheduling.
// name is the template's name, count the minCount of the gang.
func (j *Job) groupTemplate(name string, count int32) ([]byte, error) {
	var policy, constraints, disruption []byte
	var claims [][]byte
	var priority string
	var err error
	for f := (fields{rest: j.Spec}); f.next(&err); {
		switch f.number {
		case specScheduling:
			for in := (fields{rest: f.bytes}); in.next(&err); {
				switch in.number {
				case 1:
					policy = in.bytes
				case 2:
					constraints = in.bytes
				case 3:
					disruption = in.bytes
				case 4:
					claims = append(claims, in.bytes)
				}
			}
		case specTemplate:
			priority = priorityClass(f.bytes, &err)
		}
	}
	t := appendText(nil, templateName, name)
	t = appendBytes(t, templatePolicy, compiledPolicy(policy, count, &err))
	if len(constraints) > 0 {
		t = appendBytes(t, templateConstraints, constraints)
	}
	for _, c := range claims {
		t = appendBytes(t, templateClaims, c)
	}
	if len(disruption) > 0 {
		t = appendBytes(t, templateDisruption, disruption)
	}
	if priority != "" {
		t = appendText(t, templatePriority, priority)
	}
	return t, err
}

// compiledPolicy returns the bytes of a policy in which the gang has count as its minCount. If count is 0, it returns
// a basic policy, without a gang.
func compiledPolicy(policy []byte, count int32, err *error) []byte {
	basic, gang := false, false
	out := changed(policy, err, func(to []byte, f *fields) []byte {
		switch {
		case f.number == policyBasic:
			basic = true
		case f.number == policyGang && count > 0:
			gang = true
			rest, _ := withoutMinCount(f.bytes, err)
			return appendBytes(to, f.number, appendNumber(rest, gangMinCount, uint64(count)))
		}
		return nil
	})
	switch {
	case count > 0 && !gang:
		out = appendBytes(out, policyGang, appendNumber(nil, gangMinCount, uint64(count)))
	case count == 0 && !basic:
		out = appendBytes(out, policyBasic, nil)
	}
	return out
}

// priorityClass returns the priorityClassName in a pod template; empty if unset.
func priorityClass(template []byte, err *error) string {
	for f := (fields{rest: template}); f.next(err); {
		if f.number == 2 {
			return firstText(f.bytes, 24)
		}
	}
	return ""
}

// Delegation returns the owner of the Job who wants the Job's controller to make a PodGroup, and the name of the
// template in the owner's Workload. It returns nil if there is no such owner.
func (j *Job) Delegation() (*metav1.OwnerReference, string, error) {
	var m metav1.ObjectMeta
	if err := (annotations{GroupTemplateAnnotation}).read(&m, j.Metadata); err != nil {
		return nil, "", fmt.Errorf("read the owner of Job %s/%s: %w", j.Namespace, j.Name, err)
	}
	template, delegated := m.Annotations[GroupTemplateAnnotation]
	if owner := metav1.GetControllerOf(&m); owner != nil && delegated {
		return owner, template, nil
	}
	return nil, "", nil
}
