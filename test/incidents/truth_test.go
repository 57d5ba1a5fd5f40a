package incidents

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/history"
)

// truth is what happened to one Job. Times are those at which the test saw it, unless a comment names the API server.
type truth struct {
	Incident  int    `json:"incident"`
	Title     string `json:"title"`
	Namespace string `json:"namespace"`
	Job       string `json:"job"`
	UID       string `json:"uid"`

	// The last state in the API server: Complete, Failed, or Deleted if the Job went without an end; reason and message
	// of the condition; the counts.
	Result    string `json:"result"`
	Reason    string `json:"reason,omitempty"`
	Message   string `json:"message,omitempty"`
	Succeeded int32  `json:"succeeded"`
	Failed    int32  `json:"failed"`

	// What the script did, as a sentence, and words that an answer must all have.
	Cause    string   `json:"cause"`
	Says     []string `json:"says"`
	FirstPod string   `json:"firstPod,omitempty"` // the pod with which it began
	// Words of Says that the log of this mode cannot have, and what an answer has in their place.
	Untold *untold `json:"untold,omitempty"`
	Played string  `json:"played,omitempty"` // what the script wrote in place of a component
	Note   string  `json:"note,omitempty"`

	CreatedBy string     `json:"createdBy"`
	Edits     []edit     `json:"edits,omitempty"`
	Deletion  *deletion  `json:"deletion,omitempty"` // of the Job
	Deleted   []deletion `json:"deleted"`            // pods that had not ended before
	Refused   []refusal  `json:"refused,omitempty"`
	Pods      []pod      `json:"pods"`
	Phases    []phase    `json:"phases"`
	Gap       *gap       `json:"gap"` // while no controller watched

	want string // the expected result of outcome
}

// outcome returns the truth in few words, to compare with the intention of the script.
func (t *truth) outcome() string {
	text := t.Result
	if t.Reason != "" {
		text += " " + t.Reason
	}
	text += fmt.Sprintf(", %d deleted", len(t.Deleted))
	if len(t.Refused) > 0 {
		text += ", refused"
	}
	return text
}

// untold is something that no record can tell, because the API does not.
type untold struct {
	Says    []string `json:"says"`    // the words
	Because string   `json:"because"` // the reason
	Instead []string `json:"instead"` // what an answer must say, so that silence is not taken for an answer
}

type edit struct {
	By      string    `json:"by"`
	Manager string    `json:"manager"`
	What    string    `json:"what"`
	At      time.Time `json:"at"`
}

// deletion says who requested it, and when, by the API server's audit log.
type deletion struct {
	Pod  string    `json:"pod,omitempty"`
	By   string    `json:"by"`
	Ours bool      `json:"ours"` // requested by Jobledger
	How  string    `json:"how"`  // delete, evict, deletecollection
	At   time.Time `json:"at"`
}

// refusal is a group of requests that were refused with the same message.
type refusal struct {
	By      string    `json:"by"`
	What    string    `json:"what"`
	Code    int       `json:"code"`
	Message string    `json:"message"`
	Times   int       `json:"times"`
	First   time.Time `json:"first"`
	Last    time.Time `json:"last"`
}

// pod is one try.
type pod struct {
	Pod     string     `json:"pod"`
	UID     string     `json:"uid"`
	Index   string     `json:"index,omitempty"`
	Node    string     `json:"node,omitempty"`
	Phase   string     `json:"phase"`              // the last
	Exit    *int32     `json:"exit,omitempty"`     // of container main
	Why     string     `json:"why,omitempty"`      // the kubelet's reason for its end
	Created time.Time  `json:"created"`            // when it was seen
	Started *time.Time `json:"started,omitempty"`  // container main, by the kubelet
	Ended   *time.Time `json:"finished,omitempty"` // container main, by the kubelet
	Gone    *time.Time `json:"gone,omitempty"`     // when it was seen
}

// gap is the time from the kill of the controller until it was ready again.
type gap struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

func now() time.Time { return stamp(time.Now()) }

func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// truths returns the truths of the scene's Jobs, from the watch and the audit log.
func (s *scene) truths(writes []controlplane.Write) (told []truth, err error) {
	writes = slices.DeleteFunc(slices.Clone(writes), func(w controlplane.Write) bool { return w.Namespace != s.name && w.Name != s.name })
	for _, t := range s.told {
		changes := s.history.Changes(types.UID(t.UID))
		t.ending(changes)
		t.tries(changes)
		t.deletions(changes, writes)
		t.refusals(writes)
		t.Phases = phases(changes)
		told = append(told, *t)
		if got := t.outcome(); got != t.want {
			err = errors.Join(err, fmt.Errorf("incident %d, Job %s: %s; it was to be: %s", t.Incident, t.Job, got, t.want))
		}
	}
	return told, err
}

// ending takes the result from the last version of the Job that the watch saw.
func (t *truth) ending(changes []history.Change) {
	t.Result = "Deleted"
	for _, c := range changes {
		if c.Job == nil {
			continue
		}
		t.Succeeded, t.Failed = c.Job.Status.Succeeded, c.Job.Status.Failed
		if end := finished(c.Job); end != nil {
			t.Result, t.Reason, t.Message = string(end.Type), end.Reason, end.Message
		}
	}
}

// tries takes the pods from the watch.
func (t *truth) tries(changes []history.Change) {
	at := map[types.UID]int{}
	for _, c := range changes {
		if c.Pod == nil {
			continue
		}
		i, known := at[c.Pod.UID]
		if !known {
			i = len(t.Pods)
			at[c.Pod.UID] = i
			t.Pods = append(t.Pods, pod{Created: stamp(c.Seen)})
		}
		t.Pods[i].see(c)
	}
	if t.FirstPod == "" && len(t.Pods) > 0 {
		first := slices.IndexFunc(t.Pods, func(p pod) bool { return p.Phase != string(corev1.PodSucceeded) })
		t.FirstPod = t.Pods[max(first, 0)].Pod
	}
}

func (p *pod) see(c history.Change) {
	p.Pod, p.UID, p.Node, p.Phase = c.Pod.Name, string(c.Pod.UID), c.Pod.Spec.NodeName, string(c.Pod.Status.Phase)
	p.Index = c.Pod.Annotations[batchv1.JobCompletionIndexAnnotation]
	if c.Gone {
		p.Gone = new(stamp(c.Seen))
	}
	for _, x := range c.Pod.Status.ContainerStatuses {
		if x.Name != "main" {
			continue
		}
		if x.State.Running != nil {
			p.Started = &x.State.Running.StartedAt.Time
		}
		if end := x.State.Terminated; end != nil {
			p.Exit, p.Why, p.Started, p.Ended = &end.ExitCode, end.Reason, &end.StartedAt.Time, &end.FinishedAt.Time
		}
	}
}

// deletions looks in the audit log for who deleted the Job, and its pods that had not ended or had been disrupted by
// then.
func (t *truth) deletions(changes []history.Change, writes []controlplane.Write) {
	t.Deleted = []deletion{}
	made, seen := map[types.UID]time.Time{}, map[types.UID]bool{} // first seen; deletion seen
	for _, c := range changes {
		uid := types.UID(t.UID)
		if c.Pod != nil {
			uid = c.Pod.UID
		}
		if made[uid].IsZero() {
			made[uid] = c.Seen
		}
		switch {
		case c.Job != nil && (c.Gone || c.Job.DeletionTimestamp != nil) && t.Deletion == nil:
			t.Deletion = asked(writes, "jobs", t.Job, made[uid])
		case c.Pod != nil && (c.Gone || c.Pod.DeletionTimestamp != nil) && !seen[uid]:
			seen[uid] = true
			if d := asked(writes, "pods", c.Pod.Name, made[uid]); d != nil && (!ended(c.Pod) || disrupted(c.Pod)) {
				d.Pod = c.Pod.Name
				t.Deleted = append(t.Deleted, *d)
			}
		}
	}
}

func disrupted(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue
	})
}

// asked returns the first request since then that deleted the object.
func asked(writes []controlplane.Write, resource, name string, since time.Time) *deletion {
	for _, w := range writes {
		if w.Code >= http.StatusMultipleChoices || w.At.Before(since) {
			continue
		}
		how := w.Verb
		switch {
		case w.Verb == "delete" && w.Resource == resource && w.Name == name:
		case w.Verb == "create" && w.Resource == resource+"/eviction" && w.Name == name:
			how = "evict"
		case w.Verb == "deletecollection" && w.Resource == resource:
		default:
			continue
		}
		return &deletion{By: w.User, Ours: w.User == ours, How: how, At: stamp(w.At)}
	}
	return nil
}

// refusals notes the controllers' refused requests in the namespace.
func (t *truth) refusals(writes []controlplane.Write) {
	for _, w := range writes {
		if w.Code < http.StatusBadRequest || w.User != ours && w.User != builtin || w.Code == http.StatusConflict || w.Code == http.StatusNotFound {
			continue
		}
		what := w.Verb + " " + w.Resource
		i := slices.IndexFunc(t.Refused, func(r refusal) bool { return r.By == w.User && r.What == what && r.Code == w.Code })
		if i < 0 {
			i = len(t.Refused)
			t.Refused = append(t.Refused, refusal{By: w.User, What: what, Code: w.Code, Message: w.Message, First: stamp(w.At)})
		}
		t.Refused[i].Times++
		t.Refused[i].Last = stamp(w.At)
	}
}
