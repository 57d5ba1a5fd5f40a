package audit

import (
	"encoding/json"
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/test/controlplane"
)

// Deed is an action, such as "create a pod of Job x". A command asks for it, and a write carries it out. A write and a
// command belong together if their Deeds are equal.
type Deed struct {
	Kind events.CommandKind
	// Object identifies the object. It is the object's UID, except for creates: there it is the command annotation of a
	// pod, or the name of a Job, or empty if the owner decides the name.
	Object string
	// Owner is the Job or CronJob that owns the created, adopted or released object; empty for other actions.
	Owner types.UID
	// Version is the resourceVersion that the object must still have; 0: any.
	Version uint64
}

func (d Deed) String() string {
	text := fmt.Sprintf("%s %s", d.Kind, d.Object)
	if d.Owner != "" {
		text += " of " + string(d.Owner)
	}
	if d.Version != 0 {
		text += fmt.Sprintf(" at version %d", d.Version)
	}
	return text
}

// Write is one write request of the controller. Writes are sorted by the time at which they were sent.
type Write struct {
	Deed
	Namespace, Name string
	ID              string // ID of the request in the audit log
	Code            int    // HTTP code of the API server's answer; 0: the request never reached it
	Told            int    // HTTP code that the controller received; 0: none
}

func (w *Write) String() string {
	return fmt.Sprintf("%s %s/%s: the API server answered %d, the controller was told %d (audit ID %s)",
		w.Deed, w.Namespace, w.Name, w.Code, w.Told, w.ID)
}

// read returns a logged write with its Deed, or a text that says what is wrong with it. It returns nil for a kind of
// write that no decision asks for.
func read(logged *controlplane.Write) (*Write, string) {
	if beside[kind{logged.Group, logged.Verb, logged.Resource}] != "" {
		return nil, ""
	}
	deed, err := deedOf(logged)
	if err != nil {
		return nil, fmt.Sprintf("no command asks for %s %s/%s %s/%s (audit ID %s): %v",
			logged.Verb, logged.Group, logged.Resource, logged.Namespace, logged.Name, logged.ID, err)
	}
	return &Write{Deed: deed, Namespace: logged.Namespace, Name: logged.Name, ID: logged.ID, Code: logged.Code}, ""
}

// kind is the API group, verb and resource of a write. Together they decide which function of deeds reads its body.
type kind struct{ group, verb, resource string }

var deeds = map[kind]func(*controlplane.Write) (Deed, error){
	{"", "create", "pods"}:                       created(events.CommandCreatePod),
	{"", "delete", "pods"}:                       deleted,
	{"", "patch", "pods"}:                        patched,
	{"batch", "update", "jobs/status"}:           updated(events.CommandWriteStatus),
	{"batch", "update", "cronjobs/status"}:       updated(events.CommandWriteCronStatus),
	{"batch", "create", "jobs"}:                  created(events.CommandCreateJob),
	{"batch", "delete", "jobs"}:                  deleted,
	{"scheduling.k8s.io", "create", "workloads"}: created(events.CommandCreateWorkload),
	{"scheduling.k8s.io", "create", "podgroups"}: created(events.CommandCreatePodGroup),
	{"scheduling.k8s.io", "patch", "podgroups"}:  resized,
}

func deedOf(w *controlplane.Write) (Deed, error) {
	read := deeds[kind{w.Group, w.Verb, w.Resource}]
	if read == nil {
		return Deed{}, fmt.Errorf("there is no command that makes such a write")
	}
	return read(w)
}

// created returns a function that reads the Deed (kind, object, owner, version) from the create of an object. of is the
// kind of command that creates such objects.
func created(of events.CommandKind) func(*controlplane.Write) (Deed, error) {
	return func(w *controlplane.Write) (Deed, error) {
		var body struct{ Metadata metav1.ObjectMeta }
		if err := json.Unmarshal([]byte(w.Body), &body); err != nil {
			return Deed{}, fmt.Errorf("read its body: %w", err)
		}
		owner := metav1.GetControllerOf(&body.Metadata)
		if owner == nil {
			return Deed{}, fmt.Errorf("it has no controller")
		}
		d := Deed{Kind: of, Owner: owner.UID}
		switch of {
		case events.CommandCreatePod:
			d.Object = body.Metadata.Annotations[events.CommandAnnotation]
		case events.CommandCreateJob:
			d.Object = w.Name
		}
		return d, nil
	}
}

func updated(of events.CommandKind) func(*controlplane.Write) (Deed, error) {
	return func(w *controlplane.Write) (Deed, error) {
		version, err := versionOf(w.Version)
		return Deed{Kind: of, Object: w.UID, Version: version}, err
	}
}

// deleted returns the Deed (kind, object, owner, version) of a deletion. The resource and the propagation policy show
// which kind of command asked for it.
func deleted(w *controlplane.Write) (Deed, error) {
	var body metav1.DeleteOptions
	if err := json.Unmarshal([]byte(w.Body), &body); err != nil {
		return Deed{}, fmt.Errorf("read its body: %w", err)
	}
	if body.Preconditions == nil || body.Preconditions.UID == nil {
		return Deed{}, fmt.Errorf("it deletes whatever has the name")
	}
	d := Deed{Object: string(*body.Preconditions.UID)}
	if v := body.Preconditions.ResourceVersion; v != nil {
		var err error
		if d.Version, err = versionOf(*v); err != nil {
			return Deed{}, err
		}
	}
	policy := metav1.DeletionPropagation("")
	if body.PropagationPolicy != nil {
		policy = *body.PropagationPolicy
	}
	switch {
	case w.Resource == "pods" && policy == "":
		d.Kind = events.CommandDeletePod
	case w.Resource == "jobs" && policy == metav1.DeletePropagationForeground:
		d.Kind = events.CommandDeleteJob
	case w.Resource == "jobs" && policy == metav1.DeletePropagationBackground:
		d.Kind = events.CommandDeleteRun
	default:
		return Deed{}, fmt.Errorf("it deletes with the policy %q", policy)
	}
	return d, nil
}

func versionOf(text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read its resourceVersion: %w", err)
	}
	return n, nil
}
