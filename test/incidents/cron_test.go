package incidents

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/patience"
)

// Incident 20: a run of a CronJob was skipped, and the next one was late. Each CronJob is due every minute, and has its
// own namespace. It takes minutes, so its recordings are separate from those of the table.

// cronTable are its parts. During the last one the controller is away for some time.
var cronTable = []struct {
	name   string
	script func(*cronScene)
	alone  bool
}{
	{name: "cron-forbidden", script: forbidden},
	{name: "cron-suspended", script: suspendedOver},
	{name: "cron-unwatched", script: unwatched, alone: true},
}

// cronScene is one part.
type cronScene struct {
	*scene
	truth cronTruth
}

// forbidden: a run takes longer than two minutes, and the policy is Forbid.
func forbidden(s *cronScene) {
	first := s.create(newJob("report", "report:2", runsFor("135s")), batchv1.ForbidConcurrent)
	s.awaitRun(first.Add(2 * time.Minute))
	s.held(first, first.Add(time.Minute), "Forbid", first)
	s.late(first.Add(2*time.Minute), "Forbid", first)
	s.pass(10 * time.Second)
}

// suspendedOver: one person suspends it, and another one resumes it between two due times.
func suspendedOver(s *cronScene) {
	first := s.create(newJob("ingest", "ingest:8", runsFor("2s")), batchv1.AllowConcurrent)
	s.pass(8 * time.Second)
	s.patch(tom, "spec.suspend false -> true", `{"spec":{"suspend":true}}`)
	s.pass(time.Until(first.Add(2*time.Minute + 15*time.Second)))
	s.patch(maria, "spec.suspend true -> false", `{"spec":{"suspend":false}}`)
	s.awaitRun(first.Add(2 * time.Minute))
	s.held(first, first.Add(time.Minute), "suspended", time.Time{})
	s.late(first.Add(2*time.Minute), "suspended", time.Time{})
	s.awaitRun(first.Add(3 * time.Minute))
}

// unwatched: Jobledger is killed during two due times. Finished runs are not kept, so no Job shows the first of them.
func unwatched(s *cronScene) {
	first := s.create(newJob("sync", "sync:1", runsFor("2s")), batchv1.AllowConcurrent)
	s.pass(time.Until(first.Add(40 * time.Second)))
	s.truth.Gap = &gap{From: now()}
	s.must(s.ours.Kill())
	s.pass(time.Until(first.Add(2*time.Minute + 20*time.Second)))
	s.must(s.ours.Start(s.ctx))
	s.truth.Gap.To = now()
	s.awaitRun(first.Add(3 * time.Minute))
}

// create creates a CronJob as maria, and waits for its first run. It returns the due time of that run.
func (s *cronScene) create(job *batchv1.Job, policy batchv1.ConcurrencyPolicy) time.Time {
	s.t.Helper()
	made, err := s.as(maria).BatchV1().CronJobs(s.name).Create(s.ctx, &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: job.Name, Labels: job.Labels},
		Spec: batchv1.CronJobSpec{
			Schedule: "* * * * *", ConcurrencyPolicy: policy, SuccessfulJobsHistoryLimit: new(int32(0)),
			JobTemplate: batchv1.JobTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: job.Labels}, Spec: job.Spec},
		},
	}, metav1.CreateOptions{FieldManager: "kubectl-create"})
	s.must(err)
	s.truth.Incident, s.truth.Namespace, s.truth.CronJob, s.truth.UID, s.truth.CreatedBy = 20, s.name, made.Name, string(made.UID), maria
	first := made.CreationTimestamp.UTC().Truncate(time.Minute).Add(time.Minute)
	s.awaitRun(first)
	return first
}

// awaitRun waits until the run of a due time was started.
func (s *cronScene) awaitRun(due time.Time) {
	s.t.Helper()
	s.eventually(fmt.Sprintf("the run of %s is started", due), func() bool {
		c, err := s.admin.BatchV1().CronJobs(s.name).Get(s.ctx, s.truth.CronJob, metav1.GetOptions{})
		s.must(err)
		return c.Status.LastScheduleTime != nil && !c.Status.LastScheduleTime.Time.Before(due)
	})
}

func (s *cronScene) patch(user, what, patch string) {
	s.t.Helper()
	_, err := s.as(user).BatchV1().CronJobs(s.name).Patch(s.ctx, s.truth.CronJob, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "kubectl-patch"})
	s.must(err)
	s.truth.Edits = append(s.truth.Edits, edit{By: user, Manager: "kubectl-patch", What: what, At: now()})
}

// held notes that the runs of some due times could not start: the word for the reason, and the due time of the run that
// blocked them.
func (s *cronScene) held(after, through time.Time, word string, by time.Time) {
	for at := after.Add(time.Minute); !at.After(through); at = at.Add(time.Minute) {
		s.late(at, word, by)
	}
}

func (s *cronScene) late(at time.Time, word string, by time.Time) {
	k := kept{Due: at, Says: []string{word}}
	if !by.IsZero() {
		k.Says = append(k.Says, s.runName(by))
	}
	s.truth.Kept = append(s.truth.Kept, k)
}

func (s *cronScene) runName(due time.Time) string {
	return fmt.Sprintf("%s-%d", s.truth.CronJob, due.Unix()/60)
}

// end deletes the CronJob.
func (s *cronScene) end() {
	s.t.Helper()
	how := metav1.DeletePropagationBackground
	s.truth.Ended = now()
	s.must(s.as(janitor).BatchV1().CronJobs(s.name).Delete(s.ctx, s.truth.CronJob, metav1.DeleteOptions{PropagationPolicy: &how}))
}

// TestRecordCronJobs plays incident 20 in both modes and checks the recordings against the truth. With -update it keeps
// them.
func TestRecordCronJobs(t *testing.T) {
	if !effort.IsLong() && !*update {
		t.Skip("takes minutes: make incidents, or JOBLEDGER_LONG=1")
	}
	for _, m := range []mode{cronsRun, cronsObserved} {
		t.Run(string(m), func(t *testing.T) { recordCronJobs(t, m) })
	}
}

func recordCronJobs(t *testing.T, m mode) {
	ctx, cancel := patience.Several(t.Context(), 3)
	defer cancel()
	r := newRecording(t, ctx, m)
	if err := r.ours.Start(ctx); err != nil {
		t.Fatal(err)
	}
	scenes := make([]*cronScene, len(cronTable))
	for i, row := range cronTable {
		s := &cronScene{scene: &scene{incident: incident{number: 20, name: row.name}, recording: r, ctx: ctx}}
		s.script = func(*scene) { row.script(s); s.end() }
		scenes[i] = s
	}
	for _, alone := range []bool{false, true} {
		t.Run(fmt.Sprintf("alone=%t", alone), func(t *testing.T) {
			for i, row := range cronTable {
				if row.alone == alone {
					t.Run(row.name, func(t *testing.T) { t.Parallel(); scenes[i].play(t) })
				}
			}
		})
	}
	if t.Failed() {
		return
	}
	if err := r.ours.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	var truths []cronTruth
	for _, s := range scenes {
		if err := s.started(); err != nil {
			t.Fatal(err)
		}
		truths = append(truths, s.truth)
	}
	out := t.TempDir()
	if *update {
		out = filepath.Join(examples, string(m))
	}
	if err := r.keep(ctx, filepath.Join(out, "log")); err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(truths, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(out, "truth.json"), append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
	checkCronJobs(t, r.program, out)
	askCronJobs(t, r.program, m, out)
}

// cronTruth is what happened to one CronJob.
type cronTruth struct {
	Incident  int    `json:"incident"`
	Namespace string `json:"namespace"`
	CronJob   string `json:"cronJob"`
	UID       string `json:"uid"`
	CreatedBy string `json:"createdBy"`

	Started []run     `json:"started"`        // by the API server's audit log
	Kept    []kept    `json:"kept,omitempty"` // as the script made it
	Edits   []edit    `json:"edits,omitempty"`
	Gap     *gap      `json:"gap"` // while no controller watched
	Ended   time.Time `json:"ended"`
}

// run is a Job that a controller made.
type run struct {
	Due time.Time `json:"due"`
	Job string    `json:"job"`
	By  string    `json:"by"`
	At  time.Time `json:"at"` // when the request arrived
}

// kept is a due time that could not start, for a while or for good. An answer must contain all words of Says.
type kept struct {
	Due  time.Time `json:"due"`
	Says []string  `json:"says"`
}

// dues returns the due times from the first run to the end.
func (t *cronTruth) dues() (all []time.Time) {
	for at := t.Started[0].Due; at.Before(t.Ended); at = at.Add(time.Minute) {
		all = append(all, at)
	}
	return all
}

// run returns the run of a due time; nil: none.
func (t *cronTruth) run(due time.Time) *run {
	if i := slices.IndexFunc(t.Started, func(r run) bool { return r.Due.Equal(due) }); i >= 0 {
		return &t.Started[i]
	}
	return nil
}

// kept returns what kept a due time from starting; nil: nothing.
func (t *cronTruth) kept(due time.Time) *kept {
	if i := slices.IndexFunc(t.Kept, func(k kept) bool { return k.Due.Equal(due) }); i >= 0 {
		return &t.Kept[i]
	}
	return nil
}

// started adds to the truth which runs were made, and by whom.
func (s *cronScene) started() error {
	writes, err := s.cp.Writes()
	if err != nil {
		return err
	}
	for _, w := range writes {
		if w.Verb != "create" || w.Resource != "jobs" || w.Namespace != s.name || w.Code != 201 {
			continue
		}
		var minute int64
		if _, err := fmt.Sscanf(w.Name, s.truth.CronJob+"-%d", &minute); err != nil {
			return fmt.Errorf("the Job %s was made by %s: %w", w.Name, w.User, err)
		}
		s.truth.Started = append(s.truth.Started, run{Due: time.Unix(60*minute, 0).UTC(), Job: w.Name, By: w.User, At: w.At.UTC()})
	}
	if len(s.truth.Started) < 2 {
		return errors.New("fewer than two runs were made in " + s.name)
	}
	slices.SortFunc(s.truth.Started, func(a, b run) int { return a.Due.Compare(b.Due) })
	return nil
}
