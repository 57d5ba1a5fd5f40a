package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
)

// Picture is the final state of a cluster as sorted lines, one for each fact. Names and UIDs are replaced by
// descriptions ("pod of a:2"), so that both clusters have the same. Of a time, it says only whether it is set.
type Picture []string

// picture returns the state of the cluster as lines, without those that the lens l leaves out.
func (c *cluster) picture(l lens) (Picture, error) {
	named := c.names()
	var p Picture
	for _, job := range c.world.Server.AllJobs() {
		if len(c.crons) == 0 {
			p = append(p, jobLines(job, named, l)...)
		}
	}
	for _, pod := range c.world.Server.AllPods() {
		line, err := podLine(pod, named)
		if err != nil {
			return nil, err
		}
		p = append(p, line)
	}
	if len(c.crons) > 0 {
		lines, err := c.cronLines(named, l)
		if err != nil {
			return nil, err
		}
		p = append(p, lines...)
	} else {
		p = append(p, c.deletions(named)...)
	}
	counts := map[string]int{}
	for key, n := range c.events {
		if l.hides(key) {
			continue
		}
		line := named.Replace(fmt.Sprintf("event of %s: %s %s %q", key.job, key.kind, key.reason, key.message))
		counts[sent.ReplaceAllString(nameless.ReplaceAllString(line, "pods is forbidden"), "")] += n
	}
	for line, n := range counts {
		if !strings.Contains(line, " Warning Failed") && !repeated(line) && !(l[deletedAgain] && strings.Contains(line, " SuccessfulDelete ")) {
			line = fmt.Sprintf("%s x%d", line, n)
		}
		p = append(p, line)
	}
	slices.Sort(p)
	return p, nil
}

// repeated reports whether an Event is about a lasting problem, so that each sync of the CronJob reports it again.
func repeated(line string) bool {
	for _, reason := range []string{
		"JobAlreadyActive", "UnexpectedJob", "UnknownTimeZone", "UnsupportedSchedule", "UnparseableSchedule", "InvalidSchedule", "TooManyMissedTimes",
	} {
		if strings.Contains(line, " "+reason+" ") {
			return true
		}
	}
	return false
}

// soon is how long after the end of its TTL a Job may still exist, if nothing prevents the deletion. T-072 allows less;
// statuses have only whole seconds.
const soon = 3 * time.Second

// aMinuteLate marks, in a line about a deleted Job, that it was deleted later than soon after its TTL: after the
// longest backoff (J-017), or after refusals of the deletion.
const aMinuteLate = " late"

// deletions returns a line for each Job that the controller deleted. It has no time, but says whether the deletion was
// early or late.
func (c *cluster) deletions(named *strings.Replacer) (lines []string) {
	for _, w := range c.world.Server.Writes(0) {
		before, _ := w.Before.(*batchv1.Job)
		if w.Kind != apiserver.Jobs || w.Actor != c.actor || before == nil || before.DeletionTimestamp != nil {
			continue
		}
		after, _ := w.After.(*batchv1.Job)
		if after != nil && after.DeletionTimestamp == nil {
			continue
		}
		line := fmt.Sprintf("deleted %s foreground=%t", w.UID, after != nil && slices.Contains(after.Finalizers, metav1.FinalizerDeleteDependents))
		expiry, known := expiryOf(before)
		switch late := w.Time.Sub(expiry); {
		// Very late is only noted if no deletion was refused, because the backoffs of the two controllers differ.
		case known && late > soon+time.Minute && expiry.After(c.allowed):
			line += " very late"
		case !known || late > soon:
			line += aMinuteLate
		case w.Time.Before(expiry):
			line += " early"
		}
		lines = append(lines, named.Replace(line))
	}
	return lines
}

// expiryOf returns when the TTL of a finished Job ends. known is false if it has none.
func expiryOf(job *batchv1.Job) (at time.Time, known bool) {
	for _, cond := range job.Status.Conditions {
		if (cond.Type == batchv1.JobComplete || cond.Type == batchv1.JobFailed) && cond.Status == corev1.ConditionTrue && job.Spec.TTLSecondsAfterFinished != nil {
			return cond.LastTransitionTime.Add(time.Duration(*job.Spec.TTLSecondsAfterFinished) * time.Second), true
		}
	}
	return time.Time{}, false
}

// nameless matches the name in the API server's refusal of a create. One controller names its pods, the other lets
// the server choose names, so these texts differ.
var nameless = regexp.MustCompile(`pods \\"[^"]*" is forbidden`)

// sent matches the words that client-go puts before an error of a broken connection.
var sent = regexp.MustCompile(`(Get|Post|Put|Patch|Delete) \\"http://oracle/[^"]*\\": `)

// names returns a replacer that replaces names of pods and UIDs of Jobs, CronJobs and pods, including deleted ones, by
// descriptions.
func (c *cluster) names() *strings.Replacer {
	names := map[string]string{}
	jobs, cronJobs := map[string]int{}, map[string]int{}
	for _, w := range c.world.Server.Writes(0) {
		if w.Before != nil {
			continue
		}
		switch w.Kind {
		case apiserver.Jobs:
			jobs[w.Key.Name]++
			names[string(w.UID)] = fmt.Sprintf("<job %s %d>", w.Key.Name, jobs[w.Key.Name])
		case apiserver.CronJobs:
			cronJobs[w.Key.Name]++
			names[string(w.UID)] = fmt.Sprintf("<cronjob %s %d>", w.Key.Name, cronJobs[w.Key.Name])
		case apiserver.Pods:
			pod := w.After.(*corev1.Pod)
			name := fmt.Sprintf("<pod of %s:%s>", jobOf(pod), indexOf(pod))
			names[w.Key.Name], names[string(w.UID)] = name, name
		}
	}
	var pairs []string
	for _, name := range slices.SortedFunc(maps.Keys(names), func(a, b string) int { return len(b) - len(a) }) {
		pairs = append(pairs, name, names[name])
	}
	return strings.NewReplacer(pairs...)
}

// hides reports whether a picture with this lens (set of differences) leaves out a Kubernetes Event.
func (l lens) hides(key eventKey) bool {
	if l[cronEventsOfTheDead] || l[cronOldCaches] && (key.reason == "UnexpectedJob" || key.reason == "MissingJob") {
		return true
	}
	switch key.reason {
	case "Suspended", "Resumed":
		return l[toldWhenStored] || l[eventsOfTheDead]
	case "SuccessfulCreate", "SuccessfulDelete", "FailedCreate", "FailedDelete":
		return l[eventsOfTheDead]
	}
	return l[eventsOfTheDead] || l[finishesFirst]
}

func jobLines(job *batchv1.Job, named *strings.Replacer, l lens) []string {
	s, of := &job.Status, "job "+job.Name+": "
	if l[finishesFirst] {
		unfinish(s)
	}
	if l[readyMiscounted] {
		s.Ready = nil
	}
	lines := []string{
		fmt.Sprintf("%sactive=%d ready=%s terminating=%s", of, s.Active, number(s.Ready), number(s.Terminating)),
		fmt.Sprintf("%ssucceeded=%d failed=%d", of, s.Succeeded, s.Failed),
		fmt.Sprintf("%scompletedIndexes=%q failedIndexes=%s", of, s.CompletedIndexes, text(s.FailedIndexes)),
		fmt.Sprintf("%sstartTime=%t completionTime=%t", of, s.StartTime != nil, s.CompletionTime != nil),
		fmt.Sprintf("%sdeleted=%t finalizers=%v", of, job.DeletionTimestamp != nil, job.Finalizers),
	}
	if u := s.UncountedTerminatedPods; u == nil {
		lines = append(lines, of+"uncounted is unset")
	} else {
		lines = append(lines, fmt.Sprintf("%suncounted succeeded=%d failed=%d", of, len(u.Succeeded), len(u.Failed)))
	}
	for i, cond := range s.Conditions {
		lines = append(lines, named.Replace(fmt.Sprintf("%scondition %d %s=%s %s %q", of, i, cond.Type, cond.Status, cond.Reason, cond.Message)))
	}
	return lines
}

// unfinish changes the status of a finished Job to that of a Job whose pods are counted and which has not finished.
func unfinish(s *batchv1.JobStatus) {
	s.CompletionTime = nil
	if u := s.UncountedTerminatedPods; u != nil {
		s.Failed += int32(len(u.Failed))
		// In an Indexed Job succeeded follows from the indexes, which are complete already.
		if s.CompletedIndexes == "" {
			s.Succeeded += int32(len(u.Succeeded))
		}
		s.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
	}
	s.Conditions = slices.DeleteFunc(s.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed
	})
}

func number(n *int32) string {
	if n == nil {
		return "unset"
	}
	return fmt.Sprint(*n)
}

func text(s *string) string {
	if s == nil {
		return "unset"
	}
	return fmt.Sprintf("%q", *s)
}

// podLine describes a pod without its name, its node and the annotations that only Jobledger writes.
func podLine(pod *corev1.Pod, named *strings.Replacer) (string, error) {
	annotations := maps.Clone(pod.Annotations)
	delete(annotations, events.CommandAnnotation)
	delete(annotations, events.SealAnnotation)
	delete(annotations, events.TermAnnotation)
	delete(annotations, events.TemplateAnnotation)
	spec := pod.Spec.DeepCopy()
	spec.NodeName = ""
	var owners []string
	for _, o := range pod.OwnerReferences {
		owners = append(owners, fmt.Sprintf("%s %s %s controller=%t block=%t", o.APIVersion, o.Kind, o.UID, yes(o.Controller), yes(o.BlockOwnerDeletion)))
	}
	parts, err := json.Marshal([]any{pod.Labels, annotations, owners, spec})
	if err != nil {
		return "", fmt.Errorf("encode a pod: %w", err)
	}
	return named.Replace(fmt.Sprintf("pod of %s:%s %s deleted=%t finalizers=%v named %s… %s", jobOf(pod), indexOf(pod), pod.Status.Phase,
		pod.DeletionTimestamp != nil, pod.Finalizers, pod.GenerateName, parts)), nil
}

func yes(b *bool) bool { return b != nil && *b }
