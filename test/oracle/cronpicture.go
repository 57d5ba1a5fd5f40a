package oracle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
)

// cronLines returns the lines of a picture about CronJobs: their statuses, their Jobs, and all writes of the controller
// with their times in seconds.
func (c *cluster) cronLines(named *strings.Replacer, l lens) (lines []string, err error) {
	at := c.versions()
	for _, cronJob := range c.world.Server.AllCronJobs() {
		lines = append(lines, cronJobLines(cronJob, at, l)...)
	}
	for _, job := range c.world.Server.AllJobs() {
		line, err := runLine(job)
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	lines = append(lines, c.done(l)...)
	for i := range lines {
		lines[i] = named.Replace(lines[i])
	}
	return lines, nil
}

// versions numbers the versions of each object from 1, so that the numbers are the same in both clusters. The keys of
// the result are UID and resourceVersion.
func (c *cluster) versions() map[string]int {
	at, count := map[string]int{}, map[types.UID]int{}
	for _, w := range c.world.Server.Writes(0) {
		count[w.UID]++
		at[fmt.Sprintf("%s/%d", w.UID, w.Version)] = count[w.UID]
	}
	return at
}

func cronJobLines(cronJob *batchv1.CronJob, versions map[string]int, l lens) (lines []string) {
	of, s := "cronjob "+cronJob.Name+": ", &cronJob.Status
	var active []string
	for _, ref := range s.Active {
		version := versions[string(ref.UID)+"/"+ref.ResourceVersion]
		active = append(active, fmt.Sprintf("%s %s %s/%s %s version %d%s", ref.APIVersion, ref.Kind, ref.Namespace, ref.Name, ref.UID, version, ref.FieldPath))
	}
	return append(lines,
		fmt.Sprintf("%sdeleted=%t finalizers=%v labels=%v annotations=%v generation=%d", of,
			cronJob.DeletionTimestamp != nil, cronJob.Finalizers, cronJob.Labels, cronJob.Annotations, cronJob.Generation),
		fmt.Sprintf("%sactive=%q", of, active),
		of+"lastScheduleTime="+clockTime(s.LastScheduleTime),
		of+"lastSuccessfulTime="+clockTime(s.LastSuccessfulTime),
	)
}

func clockTime(t *metav1.Time) string {
	if t == nil {
		return "unset"
	}
	return t.UTC().Format(time.RFC3339)
}

// runLine describes a Job of a CronJob without its times.
func runLine(job *batchv1.Job) (string, error) {
	var owners []string
	for _, o := range job.OwnerReferences {
		owners = append(owners, fmt.Sprintf("%s %s %s %s controller=%t block=%t", o.APIVersion, o.Kind, o.Name, o.UID, yes(o.Controller), yes(o.BlockOwnerDeletion)))
	}
	ended := ""
	for _, cond := range job.Status.Conditions {
		if cond.Status == corev1.ConditionTrue {
			ended = string(cond.Type)
		}
	}
	parts, err := json.Marshal([]any{job.Labels, job.Annotations, owners, job.Spec})
	if err != nil {
		return "", fmt.Errorf("encode a Job: %w", err)
	}
	return fmt.Sprintf("job %s %s: %s deleted=%t finalizers=%v generate=%q %s", job.Name, job.UID, ended,
		job.DeletionTimestamp != nil, job.Finalizers, job.GenerateName, parts), nil
}

// done returns a line for each write of the controller, with its time. The lens l says what to leave out.
func (c *cluster) done(l lens) (lines []string) {
	for _, w := range c.world.Server.Writes(0) {
		if w.Actor != c.actor && w.Actor != runner(c.actor) {
			continue
		}
		when := " at " + w.Time.UTC().Format(time.RFC3339)
		switch w.Kind {
		case apiserver.Jobs:
			lines = append(lines, runWrite(w)+when)
		case apiserver.CronJobs:
			before, _ := w.Before.(*batchv1.CronJob)
			after, _ := w.After.(*batchv1.CronJob)
			if before == nil || after == nil || w.Subresource != "status" {
				lines = append(lines, fmt.Sprintf("%s cronjob %s%s", w.Verb, w.UID, when))
				continue
			}
			if last := after.Status.LastScheduleTime; !last.Equal(before.Status.LastScheduleTime) {
				lines = append(lines, fmt.Sprintf("stored of %s: last run %s%s", w.UID, clockTime(last), when))
			}
			if last := after.Status.LastSuccessfulTime; !last.Equal(before.Status.LastSuccessfulTime) {
				lines = append(lines, fmt.Sprintf("stored of %s: last success %s%s", w.UID, clockTime(last), when))
			}
		default:
			lines = append(lines, fmt.Sprintf("%s %s %s%s", w.Verb, w.Kind, w.Key.Name, when))
		}
	}
	return lines
}

// runWrite describes a write of the controller to a Job.
func runWrite(w apiserver.Write) string {
	before, _ := w.Before.(*batchv1.Job)
	after, _ := w.After.(*batchv1.Job)
	switch {
	case before == nil:
		return fmt.Sprintf("made %s", w.UID)
	case before.DeletionTimestamp == nil && (after == nil || after.DeletionTimestamp != nil):
		how := "background"
		if after != nil && slices.Contains(after.Finalizers, metav1.FinalizerDeleteDependents) {
			how = "foreground"
		}
		if after != nil && slices.Contains(after.Finalizers, metav1.FinalizerOrphanDependents) {
			how = "orphan"
		}
		return fmt.Sprintf("deleted %s, %s", w.UID, how)
	}
	return fmt.Sprintf("%s %s", w.Verb, w.UID)
}
