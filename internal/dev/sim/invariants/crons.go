package invariants

import (
	"fmt"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/subject/schedule"
	"github.com/jobledger/jobledger/internal/subject/zones"
)

// cron is what the checker knows about one CronJob.
type cron struct {
	uid      types.UID
	key      apiserver.Key
	now      *batchv1.CronJob // the CronJob as stored; after its deletion, as it was last
	gone     bool
	versions []*batchv1.CronJob
	runs     map[types.UID]*run
	names    map[string]bool // names of all Jobs that it ever had
	// names of Jobs that a restore of the cluster removed, which the log of another controller may still have
	undone  map[string]bool
	meddled bool // other clients, or the TTL, deleted Jobs of it, or a Job does not name it as its owner any more
}

// run is what the checker knows about one Job of a CronJob.
type run struct {
	now  *batchv1.Job // the Job as stored
	gone bool
	made bool      // the controller created it
	late bool      // the server created it after the caller had stopped waiting
	due  time.Time // due time for which it was created; zero for none
}

// slack is the longest time from a decision until its request has an effect.
const slack = 10 * time.Minute

func (c *Checker) wroteCron(w apiserver.Write) {
	k := c.crons[w.UID]
	if k == nil {
		k = &cron{
			uid: w.UID, key: w.Key, runs: map[types.UID]*run{}, names: map[string]bool{}, undone: map[string]bool{},
		}
		c.crons[w.UID] = k
	}
	before, _ := w.Before.(*batchv1.CronJob)
	after, _ := w.After.(*batchv1.CronJob)
	if w.Actor == c.cfg.Actor {
		c.checkCronWrite(w, k, before, after)
	}
	if after == nil {
		k.gone = true
		return
	}
	k.now, k.versions = after, append(k.versions, after)
}

// checkCronWrite checks that the controller writes only the status of a CronJob, that the times in it only increase,
// and that a Job existed for each due time that is published as started.
func (c *Checker) checkCronWrite(w apiserver.Write, k *cron, before, after *batchv1.CronJob) {
	if before == nil || after == nil || w.Subresource != "status" || !equality.Semantic.DeepEqual(before.Spec, after.Spec) {
		c.reportCron("C-001", w.Version, k, "the controller may only write statuses of CronJobs, this is %s", w.Verb)
		return
	}
	was, is := before.Status.LastScheduleTime, after.Status.LastScheduleTime
	if !was.Equal(is) {
		switch {
		case is == nil || was != nil && !is.After(was.Time):
			c.reportCron("C-243", w.Version, k, "lastScheduleTime goes from %v to %v", was, is)
		case !k.names[nameOf(k, is.Time)] && !k.undone[nameOf(k, is.Time)]:
			c.reportCron("C-243", w.Version, k, "lastScheduleTime is %v, and there was never a Job %s", is, nameOf(k, is.Time))
		}
	}
	if was, is := before.Status.LastSuccessfulTime, after.Status.LastSuccessfulTime; was != nil && (is == nil || is.Before(was)) {
		c.reportCron("C-244", w.Version, k, "lastSuccessfulTime goes from %v to %v", was, is)
	}
}

func nameOf(k *cron, due time.Time) string { return fmt.Sprintf("%s-%d", k.key.Name, due.Unix()/60) }

// cronOf returns the CronJob that a Job names as its controller, in the same namespace; nil for none.
func (c *Checker) cronOf(j *batchv1.Job) *cron {
	if owner := metav1.GetControllerOfNoCopy(j); owner != nil && owner.Kind == "CronJob" {
		if k := c.crons[owner.UID]; k != nil && k.key.Namespace == j.Namespace {
			return k
		}
	}
	return nil
}

// wroteRun checks and notes a write of a Job that belongs to a CronJob, or did.
func (c *Checker) wroteRun(w apiserver.Write, before, after *batchv1.Job) {
	k := c.cronOf(w.Object().(*batchv1.Job))
	if before != nil {
		if had := c.cronOf(before); had != nil && had != k {
			delete(had.runs, w.UID)
			had.meddled = true
		}
	}
	if k == nil {
		return
	}
	r := k.runs[w.UID]
	if r == nil {
		r = &run{made: before == nil && w.Actor == c.cfg.Actor, late: w.Late}
		if due, err := time.Parse(time.RFC3339, w.Object().GetAnnotations()[batchv1.CronJobScheduledTimestampAnnotation]); err == nil {
			r.due = due
		}
		if r.made {
			c.checkRunMade(w, k, r)
		}
		k.runs[w.UID], k.names[w.Key.Name], c.ran[w.UID] = r, true, true
	}
	if w.Verb == "delete" && (w.Actor != c.cfg.Actor || expired(after)) {
		k.meddled = true
	}
	if r.gone = after == nil; !r.gone {
		r.now = after
	}
}

// checkRunMade checks that a CronJob, in the version on which the controller decided, allows the Job that was created
// for it.
func (c *Checker) checkRunMade(w apiserver.Write, k *cron, made *run) {
	if latest := c.latestShown(w.Time.Add(-slack), w.Time); made.due.After(latest) {
		c.reportCron("C-240", w.Version, k, "%s is made for %s; the controller's clock showed at most %s", w.Key.Name, made.due, latest)
	}
	for _, r := range k.sortedRuns() {
		if !r.gone && !r.due.IsZero() && !made.due.IsZero() && r.due.Unix()/60 == made.due.Unix()/60 {
			c.reportCron("C-242", w.Version, k, "%s is made, and %s is there for the same minute", w.Key.Name, r.now.Name)
		}
	}
	seen := k.at(c.decidedOn(w))
	if seen == nil {
		return
	}
	triggered := made.due.IsZero()
	switch {
	case seen.DeletionTimestamp != nil:
		c.reportCron("C-241", w.Version, k, "%s is made of a CronJob that was seen to be deleted", w.Key.Name)
	case triggered:
	case seen.Spec.Suspend != nil && *seen.Spec.Suspend:
		c.reportCron("C-241", w.Version, k, "%s is made of a CronJob that was seen to be suspended", w.Key.Name)
	default:
		if _, err := read(seen); err != nil {
			c.reportCron("C-241", w.Version, k, "%s is made of a CronJob of which was seen: %v", w.Key.Name, err)
		}
	}
	if seen.Spec.ConcurrencyPolicy == batchv1.AllowConcurrent || w.Late || c.forgotten {
		return
	}
	for _, r := range k.sortedRuns() {
		if !r.made || r.late || r.gone || apiserver.JobFinished(r.now) {
			continue
		}
		if seen.Spec.ConcurrencyPolicy == batchv1.ForbidConcurrent || r.now.DeletionTimestamp == nil {
			c.reportCron("C-245", w.Version, k, "%s is made under %s while %s runs", w.Key.Name, seen.Spec.ConcurrencyPolicy, r.now.Name)
		}
	}
}

// checkRunDeleted checks the deletion of a CronJob's Job. It must be in the background, and for one of two reasons: the
// history limit is exceeded, or the policy is Replace.
func (c *Checker) checkRunDeleted(w apiserver.Write, k *cron, before, after *batchv1.Job) {
	if k == nil { // if the Job lost its owner while the request was in flight, nothing can be checked
		return
	}
	if after != nil && (slices.Contains(after.Finalizers, metav1.FinalizerDeleteDependents) || slices.Contains(after.Finalizers, metav1.FinalizerOrphanDependents)) {
		c.reportCron("C-247", w.Version, k, "%s is deleted, and not in the background", before.Name)
	}
	seen := k.at(c.decidedOn(w))
	if seen == nil || w.Late || k.runs[before.UID] == nil {
		return
	}
	if seen.Spec.ConcurrencyPolicy == batchv1.ReplaceConcurrent && k.runs[before.UID].made {
		return
	}
	result := resultOf(before)
	limit := limitOf(seen, result)
	switch {
	case limit == nil:
		c.reportCron("C-120", w.Version, k, "%s is deleted: it runs, or all of its kind are kept", before.Name)
	case !k.meddled && k.finished(result) <= int(*limit):
		c.reportCron("C-121", w.Version, k, "%s is deleted: there are %d %s, and %d are kept", before.Name, k.finished(result), result, *limit)
	}
}

// decidedOn returns the version of the CronJob that the controller had seen when it decided on this write of a Job; 0
// if unknown.
func (c *Checker) decidedOn(w apiserver.Write) uint64 {
	if c.cfg.CronSeen == nil {
		return 0
	}
	return c.cfg.CronSeen(w)
}

// settledCrons returns errors for work on CronJobs that the controller has left undone. It is called when nothing
// happens any more.
func (c *Checker) settledCrons() error {
	c.found = nil
	for _, k := range c.sortedCrons() {
		if !k.gone {
			c.settledCron(c.cfg.Server.Version(), k)
		}
	}
	return c.joined()
}

// settledCron checks that no more finished Jobs exist than the history limits allow, and that the list of active Jobs
// is right.
func (c *Checker) settledCron(version uint64, k *cron) {
	for _, kind := range []batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed} {
		if limit := limitOf(k.now, kind); limit != nil && k.finished(kind) > int(*limit) {
			c.reportCron("C-246", version, k, "%d Jobs are %s, and %d are kept", k.finished(kind), kind, *limit)
		}
	}
	listed := map[types.UID]bool{}
	for _, a := range k.now.Status.Active {
		listed[a.UID] = true
		if r := k.runs[a.UID]; r == nil || r.gone || apiserver.JobFinished(r.now) {
			c.reportCron("C-246", version, k, "%s is in the list of active Jobs, and does not run", a.Name)
		}
	}
	for _, r := range k.sortedRuns() {
		if runs := r.made && !r.gone && !apiserver.JobFinished(r.now); runs && !r.late && !c.forgotten && !listed[r.now.UID] {
			c.reportCron("C-246", version, k, "%s runs, and is not in the list of active Jobs", r.now.Name)
		}
		if !r.made && listed[r.now.UID] {
			c.reportCron("C-246", version, k, "%s is in the list of active Jobs, and somebody else made it", r.now.Name)
		}
	}
}

// Pending checks that the controller wakes in time for each CronJob that can start a Job: at most 100 ms after the next
// due time. Call it only when the controller has seen everything, no request has failed lately, and nothing is left to
// do now. wake is the time, by the controller's own clock, at which it will wake; zero for never.
func (c *Checker) Pending(now, wake time.Time) error {
	c.found = nil
	for _, k := range c.sortedCrons() {
		when, err := read(k.now)
		if k.gone || err != nil || k.now.DeletionTimestamp != nil || k.now.Spec.Suspend != nil && *k.now.Spec.Suspend {
			continue
		}
		from := now
		// If the clock was set back, due times count from the anchor, which is later than now (C-225).
		if anchor := anchorOf(k.now); anchor.After(from) {
			from = anchor
		}
		by := when.Next(from).Add(100 * time.Millisecond)
		if when.Every() { // With an interval such as @every 90s, due times count from the last one.
			by = c.paced(k, when, now, when.Wake(anchorOf(k.now), now))
		}
		if never := when.Next(from).IsZero(); !never && (wake.IsZero() || wake.After(by)) {
			c.reportCron("C-248", c.cfg.Server.Version(), k, "at %s the next look is at %s; it is due by %s", now, wake, by)
		}
	}
	return c.joined()
}

// paced returns the latest time at which the controller must wake for a CronJob that is due several times in a minute
// (C-085). A minute gets at most one Job. So this is the next due time; or, if no Job can be created in this minute,
// the first due time of the next minute.
func (c *Checker) paced(k *cron, when schedule.Schedule, now, by time.Time) time.Time {
	minute := now.Truncate(time.Minute).Add(time.Minute)
	if !by.Before(minute) || !c.startsNone(k, when, by.Add(-100*time.Millisecond)) {
		return by
	}
	return when.WakeFrom(anchorOf(k.now), minute)
}

// startsNone reports whether no Job can be created for the due times of a minute. The reason is that the name of this
// minute's Job exists, that the policy forbids a Job, or that each due time is too late before the next wake.
func (c *Checker) startsNone(k *cron, when schedule.Schedule, due time.Time) bool {
	spec := &k.now.Spec
	switch name := fmt.Sprintf("%s-%d", k.key.Name, due.Unix()/60); {
	case c.cfg.Server.Job(k.key.Namespace, name) != nil:
		return true
	case spec.ConcurrencyPolicy == batchv1.ForbidConcurrent && len(k.now.Status.Active) > 0:
		return true
	}
	late := spec.StartingDeadlineSeconds
	return late != nil && time.Duration(*late)*time.Second < when.Next(due).Sub(due)
}

func anchorOf(k *batchv1.CronJob) time.Time {
	if at := k.Status.LastScheduleTime; at != nil {
		return at.Time
	}
	return k.CreationTimestamp.Time
}

// read parses the schedule of a CronJob. An error says why the CronJob cannot start anything.
func read(k *batchv1.CronJob) (schedule.Schedule, error) {
	find := func(name string) (*time.Location, error) {
		rules, ok := zones.Find(name)
		if !ok {
			return nil, schedule.UnknownZone(name)
		}
		return time.LoadLocationFromTZData(name, rules.TZif)
	}
	var in *time.Location
	if k.Spec.TimeZone != nil {
		at, err := schedule.Locate(*k.Spec.TimeZone, find)
		if err != nil {
			return schedule.Schedule{}, err
		}
		in = at
	}
	return schedule.Parse(k.Spec.Schedule, in, find)
}

// resultOf returns how a Job has finished (C-102); empty while it runs.
func resultOf(j *batchv1.Job) batchv1.JobConditionType {
	for _, cond := range j.Status.Conditions {
		if cond.Status == corev1.ConditionTrue && (cond.Type == batchv1.JobComplete || cond.Type == batchv1.JobFailed) {
			return cond.Type
		}
	}
	return ""
}

// limitOf returns how many finished Jobs with this result the CronJob keeps; nil for all. For running Jobs it returns
// nil.
func limitOf(k *batchv1.CronJob, result batchv1.JobConditionType) *int32 {
	switch result {
	case batchv1.JobComplete:
		return k.Spec.SuccessfulJobsHistoryLimit
	case batchv1.JobFailed:
		return k.Spec.FailedJobsHistoryLimit
	default:
		return nil
	}
}

// finished returns how many of the CronJob's Jobs exist and have finished with this result.
func (k *cron) finished(result batchv1.JobConditionType) (n int) {
	for _, r := range k.runs {
		if !r.gone && resultOf(r.now) == result {
			n++
		}
	}
	return n
}

// at returns the CronJob at a resource version; nil if it did not exist yet.
func (k *cron) at(version uint64) (found *batchv1.CronJob) {
	for _, v := range k.versions {
		if apiserver.VersionOf(v) > version {
			break
		}
		found = v
	}
	return found
}

func (k *cron) sortedRuns() []*run {
	uids := slices.SortedFunc(maps.Keys(k.runs), compareUIDs)
	out := make([]*run, len(uids))
	for i, uid := range uids {
		out[i] = k.runs[uid]
	}
	return out
}

func (c *Checker) sortedCrons() []*cron {
	return slices.SortedFunc(maps.Values(c.crons), func(a, b *cron) int { return compareUIDs(a.uid, b.uid) })
}

// undo goes back to the CronJobs of a backup. away says that another controller exists. Its log may name Jobs that the
// restore removed. If the restored cluster has versions higher than all that this log knows, nothing shows that
// controller that the cluster went back (design 0007), and it takes these Jobs for Jobs that a user deleted.
func (c *Checker) undo(backup map[types.UID]*cron, away bool) {
	was := c.crons
	c.crons = copiedCrons(backup)
	for uid, k := range c.crons {
		maps.Copy(k.undone, was[uid].undone)
		if away {
			maps.Copy(k.undone, was[uid].names)
		}
	}
}

// copiedCrons returns deep copies of what the checker knows about CronJobs, for a backup.
func copiedCrons(crons map[types.UID]*cron) map[types.UID]*cron {
	out := map[types.UID]*cron{}
	for uid, k := range crons {
		twin := *k
		twin.versions, twin.runs = slices.Clone(k.versions), map[types.UID]*run{}
		twin.names, twin.undone = maps.Clone(k.names), maps.Clone(k.undone)
		for job, r := range k.runs {
			same := *r
			twin.runs[job] = &same
		}
		out[uid] = &twin
	}
	return out
}

func (c *Checker) reportCron(rule string, version uint64, k *cron, format string, args ...any) {
	c.found = append(c.found, &Violation{Rule: rule, Version: version, CronJob: fmt.Sprintf("%s (%s)", k.key, k.uid), What: fmt.Sprintf(format, args...)})
}
