package explain_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
)

// drawn is a scene that is drawn by a seed: what befalls its Jobs, pods, nodes and CronJob, in which order, and how
// long after the record before. Scenes that people write hold one thing each. In a drawn one things meet of which
// nobody thought.
type drawn struct {
	*scene
	r    *rand.Rand
	now  time.Duration // since 09:00
	jobs []*drawnJob
	cron *drawnCron
	many int // objects of this scene, for their names

	// plain: of its CronJob only that is drawn which a controller of the log's mode would write. Each minute is a due
	// time.
	plain, ours bool
}

type drawnJob struct {
	*sceneJob
	pods  []*drawnPod
	over  bool // it has ended
	going bool // its deletion was asked for
	left  bool // it is gone
}

type drawnPod struct {
	*scenePod
	left bool
}

// drawnPauses are how long after the record before a record may come: often at once, and around the bounds that answers
// know.
var drawnPauses = []time.Duration{
	0, 0, 0, 0, 0, 0, 500 * time.Millisecond, time.Second, time.Second, 2 * time.Second, 2 * time.Second, 3 * time.Second,
	5 * time.Second, 5 * time.Second,
	6 * time.Second, 9 * time.Second, 10 * time.Second, 20 * time.Second, 30 * time.Second, 45 * time.Second, time.Minute,
	time.Minute, 90 * time.Second,
	2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 40 * time.Minute,
}

func draw[T any](d *drawn, from []T) T { return from[d.r.IntN(len(from))] }

// some is one of the values, or none.
func some[T any](d *drawn, from ...T) *T {
	if i := d.r.IntN(len(from) + 1); i < len(from) {
		return &from[i]
	}
	return nil
}

func (d *drawn) often(n int) bool { return d.r.IntN(n) > 0 }
func (d *drawn) once(n int) bool  { return d.r.IntN(n) == 0 }

// clock is when the next record comes. No scene is longer than some ten hours.
func (d *drawn) clock() string {
	if d.now < 8*time.Hour {
		d.now += draw(d, drawnPauses)
	}
	return d.before(0)
}

// before is a time of day before now.
func (d *drawn) before(by time.Duration) string {
	return time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC).Add(max(d.now-by, 0)).Format("15:04:05.999")
}

func (d *drawn) ago() string { return d.before(draw(d, drawnPauses)) }

func (d *drawn) name(of string) string {
	d.many++
	return fmt.Sprintf("%s-%d", of, d.many)
}

// deeds are what may befall a scene, each as often as it stands here.
var deeds = []func(d *drawn){
	(*drawn).newJob, (*drawn).newPod, (*drawn).newPod, (*drawn).newPod, (*drawn).podWaits, (*drawn).podWaits,
	(*drawn).podRuns, (*drawn).podRuns,
	(*drawn).podEnds, (*drawn).podEnds, (*drawn).podEnds, (*drawn).podCrashes, (*drawn).podCounted, (*drawn).podCounted,
	(*drawn).podDeleted,
	(*drawn).podDeleted, (*drawn).podGone, (*drawn).podGone, (*drawn).jobEdited, (*drawn).jobEnds, (*drawn).jobSuspended,
	(*drawn).jobGoes,
	(*drawn).decided, (*drawn).decided, (*drawn).decided, (*drawn).around, (*drawn).around, (*drawn).onCron,
	(*drawn).onCron, (*drawn).onCron,
}

// drawScene plays a scene.
func drawScene(l *scene, seed uint64, n int) *drawn {
	d := &drawn{scene: l, r: rand.New(rand.NewPCG(seed, 9))} //nolint:gosec // which are drawn is no secret
	return d.play(n)
}

// drawPlain plays a scene whose CronJob is run by us, or by another controller.
func drawPlain(l *scene, seed uint64, n int, ours bool) *drawn {
	d := &drawn{scene: l, r: rand.New(rand.NewPCG(seed, 9))} //nolint:gosec // which are drawn is no secret
	d.plain, d.ours = true, ours
	return d.play(n)
}

func (d *drawn) play(n int) *drawn {
	if d.often(3) {
		w := func() events.Watching { return events.Watching(1 + d.r.IntN(3)) }
		d.tell(d.clock(), events.Controller, events.KindClusterWatched, &events.ClusterWatched{Nodes: w(), Namespaces: w()},
			events.Evidence{})
	}
	if d.once(2) {
		d.newCron()
	} else {
		d.newJob()
	}
	for range n {
		draw(d, deeds)(d)
	}
	return d
}

// aJob is one of the Jobs that are there.
func (d *drawn) aJob() *drawnJob {
	var there []*drawnJob
	for _, j := range d.jobs {
		if !j.left {
			there = append(there, j)
		}
	}
	if len(there) == 0 {
		return nil
	}
	return draw(d, there)
}

// aPod is one of the pods that are there, for which something holds.
func (d *drawn) aPod(is func(p *drawnPod) bool) *drawnPod {
	var there []*drawnPod
	for _, j := range d.jobs {
		for _, p := range j.pods {
			if !p.left && is(p) {
				there = append(there, p)
			}
		}
	}
	if len(there) == 0 {
		return nil
	}
	return draw(d, there)
}

func (p *drawnPod) goesOn() bool { return !p.f.Phase.Terminal() }

func (d *drawn) spec(s *events.JobSpec) {
	s.BackoffLimit, s.Completions, s.Parallelism = some(d, int32(0), 1, 3), some(d, int32(1), 2, 3),
		some(d, int32(0), 1, 2, 3)
	s.ActiveDeadlineSeconds, s.TTLSecondsAfterFinished = some(d, int64(10), 60, 600), some(d, int32(0), 60)
	s.RestartPolicy = draw(d, []string{"Never", "OnFailure"})
	if d.once(4) {
		s.CompletionMode, s.Completions = "Indexed", new(int32(3))
		s.BackoffLimitPerIndex = some(d, int32(0), 1)
		s.MaxFailedIndexes = some(d, int32(0), 1)
	}
	s.PodReplacementPolicy = draw(d, []string{"", "", "Failed"})
	if d.once(4) {
		s.PodFailurePolicy = `{"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[3]}},` +
			`{"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget","status":"True"}]},` +
			`{"action":"FailIndex","onExitCodes":{"containerName":"main","operator":"In","values":[2]}}]}`
		s.Policies = "policies"
	}
	s.Suspend = d.once(6)
}

// templates are of pods, as they are kept.
var templates = []string{
	"", `{"spec":{"containers":[{"name":"main","image":"app:1","resources":{"requests":{"cpu":"2","memory":"4Gi"}}}]}}`,
	`{"spec":{"containers":[{"name":"main","image":"app:2","env":[{"name":"A","value":"1"}]}],"nodeSelector":{"pool":"gpu"},` +
		`"tolerations":[{"key":"gpu","operator":"Exists"}],"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"data"}}]}}`,
}

func (d *drawn) newJob() {
	if len(d.jobs) == 4 {
		return
	}
	clock := d.clock()
	j := &drawnJob{}
	j.sceneJob = d.job(clock, d.name("demo"), draw(d, templates), func(j *sceneJob) {
		d.spec(&j.spec)
		j.seen.Created = cronClock(d.ago())
		j.seen.Managed = d.often(5)
		if d.once(4) {
			j.e.Origin = &events.Origin{Kind: "CronJob", Name: "report", UID: "uid-report"}
		}
	})
	if d.once(8) {
		j.seen.ManagedBy = "example.com/other"
	}
	d.jobs = append(d.jobs, j)
	if d.often(4) {
		j.starts(d.clock())
	}
}

// edits are changes of a Job's spec.
var edits = []func(d *drawn, s *events.JobSpec){
	func(_ *drawn, s *events.JobSpec) { s.Suspend = !s.Suspend },
	func(_ *drawn, s *events.JobSpec) { s.Suspend = !s.Suspend },
	func(d *drawn, s *events.JobSpec) { s.Parallelism = some(d, int32(0), 1, 2, 4) },
	func(d *drawn, s *events.JobSpec) { s.BackoffLimit = some(d, int32(0), 2, 8) },
	func(d *drawn, s *events.JobSpec) { s.ActiveDeadlineSeconds = some(d, int64(5), 3600) },
	func(d *drawn, s *events.JobSpec) { s.Template, s.Redacted = d.name("t"), "other" },
	(*drawn).spec,
}

func (d *drawn) jobEdited() {
	if j := d.aJob(); j != nil && !j.over {
		j.edit(d.clock(), draw(d, []string{"", "kubectl-edit", "kubectl-patch", "kueue", "kube-controller-manager"}),
			func(s *events.JobSpec) { draw(d, edits)(d, s) })
	}
}

func (d *drawn) jobSuspended() {
	if j := d.aJob(); j != nil && !j.over && (j.spec.Suspend || d.once(4)) {
		j.status(d.clock(), func(s *events.JobStatus) {
			s.StartTime = 0
			s.Conditions = []events.JobCondition{{Type: "Suspended", Status: draw(d, truths), Reason: "JobSuspended",
				Since: cronClock(d.ago())}}
			if d.once(5) {
				s.Conditions[0].Since = 0
			}
		})
	}
}

// truths are statuses of conditions: mostly they hold.
var truths = []string{"True", "True", "True", "True", "False"}

// jobEnds are how Jobs end.
var jobEnds = [][3]string{
	{status.Failed, "BackoffLimitExceeded", "Job has reached the specified backoff limit"},
	{status.Failed, "DeadlineExceeded", "Job was active longer than specified deadline"},
	{status.Failed, "PodFailurePolicy",
		"Container main for pod batch/demo-2 failed with exit code 3 matching FailJob rule at index 0"},
	{status.Failed, "FailedIndexes", "Job has failed indexes"},
	{status.Failed, "MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes"},
	{status.Failed, "Odd", "somebody says so"},
	{status.Complete, "CompletionsReached", "Reached expected number of succeeded pods"},
	{status.Complete, "CompletionsReached", ""},
	{status.Complete, "SuccessPolicy", "Matched rules at index 0"},
}

func (d *drawn) jobEnds() {
	j := d.aJob()
	if j == nil || j.over {
		return
	}
	v := draw(d, jobEnds)
	if d.once(2) {
		interim := map[string]string{status.Failed: status.FailureTarget, status.Complete: status.SuccessCriteriaMet}[v[0]]
		j.status(d.clock(), func(s *events.JobStatus) {
			s.Conditions = append(s.Conditions,
				events.JobCondition{Type: interim, Status: draw(d, truths), Reason: v[1], Message: v[2], Since: cronClock(d.ago())})
		})
	}
	if d.often(3) {
		j.ends(d.clock(), v[0], v[1], v[2])
		j.over = true
	}
	if j.over && d.once(3) {
		j.l.tell(d.clock(), j.of, events.KindJobRetired, &events.JobRetired{
			Result: map[string]events.JobResult{status.Failed: events.ResultFailed,
				status.Complete: events.ResultComplete}[v[0]], Reason: events.Reason(v[1]),
			Succeeded: j.stat.Succeeded, Failed: j.stat.Failed, Started: j.stat.StartTime, Finished: cronClock(d.before(0)),
		}, events.Evidence{})
	}
}

func (d *drawn) jobGoes() {
	j := d.aJob()
	if j == nil || d.once(2) {
		return
	}
	if !j.going && d.often(3) {
		j.seen.Deleted, j.going = cronClock(d.ago()), true
		if d.once(3) {
			j.e.Finalizers = []string{draw(d, []string{"foregroundDeletion", "orphan", "example.com/keep"})}
		}
		j.see(d.clock(), events.KindJobChanged)
		return
	}
	j.gone(d.clock())
	j.left = true
}
