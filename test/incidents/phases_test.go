package incidents

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/test/internal/history"
)

// phase is what a Job spent a part of its life on, from its creation to its end, as the watch saw it. If its pods are
// in several phases, the first in this list counts: suspended; running; restarting (a container waits for a restart);
// stopping (a pod was asked to end); starting (a pod has a node); scheduling (a pod has none); held (a pod has ended
// and was deleted, and a foreign finalizer keeps it); waiting (no pod lives).
type phase struct {
	Phase string    `json:"phase"`
	From  time.Time `json:"from"`
	To    time.Time `json:"to"`
}

// phases derives the phases from the versions of a Job and its pods.
func phases(changes []history.Change) (all []phase) {
	pods := map[types.UID]*corev1.Pod{}
	suspended, over := false, false
	for _, c := range changes {
		switch {
		case over:
			return all
		case c.Job != nil:
			suspended = c.Job.Spec.Suspend != nil && *c.Job.Spec.Suspend
			over = c.Gone || finished(c.Job) != nil
		case c.Gone:
			delete(pods, c.Pod.UID)
		default:
			pods[c.Pod.UID] = c.Pod
		}
		at, name := stamp(c.Seen), doing(pods)
		if suspended {
			name = "suspended"
		}
		if n := len(all); n > 0 {
			all[n-1].To = at
			if !over && all[n-1].Phase == name {
				continue
			}
		}
		if !over {
			all = append(all, phase{Phase: name, From: at, To: at})
		}
	}
	return all
}

// order says which of the pods' phases counts.
var order = []string{"running", "restarting", "stopping", "starting", "scheduling", "held"}

func doing(pods map[types.UID]*corev1.Pod) string {
	does := map[string]bool{}
	for _, p := range pods {
		does[doingOf(p)] = true
	}
	for _, name := range order {
		if does[name] {
			return name
		}
	}
	return "waiting"
}

func doingOf(p *corev1.Pod) string {
	switch {
	case ended(p) && p.DeletionTimestamp != nil && slices.ContainsFunc(p.Finalizers, foreign):
		return "held"
	case ended(p):
		return ""
	case p.DeletionTimestamp != nil:
		return "stopping"
	case p.Status.Phase == corev1.PodRunning && waitsAgain(p):
		return "restarting"
	case p.Status.Phase == corev1.PodRunning:
		return "running"
	case p.Spec.NodeName != "":
		return "starting"
	default:
		return "scheduling"
	}
}

func foreign(finalizer string) bool { return !strings.HasSuffix(finalizer, "/job-tracking") }

func waitsAgain(p *corev1.Pod) bool {
	for _, c := range p.Status.ContainerStatuses {
		if c.State.Waiting != nil {
			return true
		}
	}
	return false
}
