package projector

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/indexset"
	"github.com/jobledger/jobledger/internal/subject/status"
)

// TestCountsThatAreKeptEqualCountsThatAreMadeAnew: counts that are kept pod by pod equal a recount of all pods, after
// every record of random Jobs. Pods come, change and go, commands about them are decided, status writes are confirmed
// or refused, and specs change.
//
// J-026: active, ready and terminating pods.
// J-032: pods that decisions count as succeeded and failed.
// J-039: the completed indexes, also when the pod that completed one is gone.
// J-052: the lowest indexes that need a pod.
// J-118: the failed pod of an index that is held.
func TestCountsThatAreKeptEqualCountsThatAreMadeAnew(t *testing.T) {
	for seed := range uint64(80) {
		r := newRandomJob(seed)
		for step := range 100 {
			what := r.step()
			kept := r.counts()
			r.job.recount()
			if anew := r.counts(); kept != anew {
				t.Fatalf("seed %d, step %d, %s (-kept +made anew):\n%s", seed, step, what,
					cmp.Diff(strings.Split(kept, "\n"), strings.Split(anew, "\n")))
			}
		}
	}
}

// randomJob is a Job of a random kind with random events.
type randomJob struct {
	rng   *rand.Rand
	world *World
	job   *Job
	spec  events.JobSpec
	seq   events.Sequence
	now   events.Time
	pods  []*events.PodSeen
	next  int
}

func newRandomJob(seed uint64) *randomJob {
	r := &randomJob{rng: rand.New(rand.NewPCG(seed, 7)), world: NewWorld(), now: 1e18}
	settings := events.DefaultSettings()
	settings.Mode = events.ModeAll
	r.apply(events.Controller, events.KindControllerStarted, &events.ControllerStarted{RulesVersion: 1, Settings: settings})
	r.spec = events.JobSpec{
		Parallelism: new(int32(4)), Completions: new(int32(6)), CompletionMode: "NonIndexed", BackoffLimit: new(int32(6)),
		RestartPolicy: "OnFailure", Template: "t",
	}
	if r.rng.IntN(4) > 0 {
		r.spec.CompletionMode = "Indexed"
		r.spec.SuccessPolicy = `{"rules":[{"succeededIndexes":"0,2-3","succeededCount":2},{"succeededCount":5}]}`
		if r.rng.IntN(3) > 0 {
			r.spec.BackoffLimitPerIndex = new(int32(1))
		}
	}
	switch r.rng.IntN(3) {
	case 0:
		r.spec.PodReplacementPolicy = "Failed"
	case 1:
		r.spec.PodFailurePolicy = `{"rules":[{"action":"Ignore","onExitCodes":{"operator":"In","values":[7]}},` +
			`{"action":"FailIndex","onExitCodes":{"operator":"In","values":[8]}},{"action":"FailJob","onExitCodes":{"operator":"In","values":[9]}}]}`
	}
	r.see(&events.JobStatus{Ready: events.Unset, Terminating: events.Unset})
	return r
}

func (r *randomJob) apply(s events.Stream, kind events.Kind, facts events.Facts) {
	r.seq++
	r.now += 1e9
	r.world.Apply(&events.Record{Header: events.Header{Sequence: r.seq, Time: r.now, Stream: s, Kind: kind}, Facts: facts})
}

func (r *randomJob) record(kind events.Kind, facts events.Facts) {
	r.apply(events.JobStream("job"), kind, facts)
}

// see shows the Job's object with that status and the present spec.
func (r *randomJob) see(status *events.JobStatus) {
	spec := r.spec
	spec.Hash = fmt.Sprint(*spec.Completions, spec.Suspend)
	r.record(events.KindSpecStored, &spec)
	r.record(events.KindJobChanged, &events.JobSeen{
		Version: uint64(r.seq) * 10, Managed: true, Spec: spec.Hash, SpecAt: r.seq, Status: status,
	})
	r.job = r.world.Job(events.JobStream("job"))
}

// step makes a random event, and says which.
func (r *randomJob) step() string {
	switch n := r.rng.IntN(20); {
	case n < 6 || len(r.pods) == 0:
		return r.podComes()
	case n < 13:
		return r.podChanges()
	case n < 14:
		k := r.rng.IntN(len(r.pods))
		uid := r.pods[k].UID
		r.pods = slices.Delete(r.pods, k, k+1)
		r.record(events.KindPodDeleted, &events.PodGone{UID: uid, Version: uint64(r.seq) * 10})
		return fmt.Sprintf("pod %s goes", uid)
	case n < 16:
		return r.podCommand()
	case n < 19:
		return r.write()
	}
	if r.rng.IntN(3) == 0 {
		r.spec.Completions = new(int32(4 + r.rng.IntN(5)))
		r.see(r.job.Base.Record())
		return "completions change"
	}
	r.record(events.KindDecided, &events.Decision{RulesVersion: 1, Steps: []events.Step{{Commands: []events.Command{
		&events.CreatePod{Ordinal: r.job.Ordinal + 1, Index: r.index(), Template: "t"},
	}}}})
	return "a pod is being created"
}

func (r *randomJob) index() int32 {
	if r.spec.CompletionMode != "Indexed" {
		return events.NoIndex
	}
	return int32(r.rng.IntN(9)) - 1
}

func (r *randomJob) podComes() string {
	r.next++
	p := &events.PodSeen{
		UID: types.UID(fmt.Sprintf("p%d", r.next)), Version: uint64(r.seq) * 10, Phase: events.PodPending, Created: r.now, Tracked: true,
		Owner: "job", Selected: true, Index: r.index(), IndexFailures: uint32(r.rng.IntN(3)), IndexIgnoredFailures: uint32(r.rng.IntN(2)),
	}
	if creates := r.job.Creates(); len(creates) > 0 && r.rng.IntN(2) == 0 {
		p.Ordinal, p.Index = creates[0].Ordinal, creates[0].Index
	}
	r.pods = append(r.pods, p)
	r.record(events.KindPodAdded, p)
	return fmt.Sprintf("pod %s comes with index %d", p.UID, p.Index)
}

func (r *randomJob) podChanges() string {
	k := r.rng.IntN(len(r.pods))
	p := *r.pods[k]
	p.Version = uint64(r.seq) * 10
	what := ""
	switch r.rng.IntN(11) {
	case 0, 1, 2:
		if p.Phase.Terminal() {
			return "nothing"
		}
		p.Phase = []events.PodPhase{events.PodRunning, events.PodUnknown, events.PodSucceeded, events.PodFailed, events.PodFailed}[r.rng.IntN(5)]
		if p.Ready = p.Phase == events.PodRunning && r.rng.IntN(2) == 0; p.Phase.Terminal() {
			p.Finished = r.now / 8e9 * 8e9 // several pods end at one time
		}
		if p.Phase == events.PodFailed {
			p.Exits = []events.ContainerExit{{Name: "main", Code: int32(5 + r.rng.IntN(5))}}
		}
		what = p.Phase.String()
	case 3:
		p.Deleted, what = r.now, "deleting"
	case 4:
		p.Tracked, what = false, "untracked"
	case 5:
		p.Restarts++
		what = "restarted"
	case 6:
		p.Selected, what = !p.Selected, "relabelled"
	case 7:
		p.Index, what = r.index(), "said to have another index"
	case 8:
		p.IndexFailures, what = uint32(r.rng.IntN(3)), "said to have failed otherwise"
	case 9:
		p.Tracked, what = true, "tracked again"
	default:
		p.Ready, what = !p.Ready && p.Phase == events.PodRunning, "ready or not"
	}
	r.pods[k] = &p
	r.record(events.KindPodChanged, &p)
	return fmt.Sprintf("pod %s (index %d): %s", p.UID, p.Index, what)
}

// podCommand decides on a command about a pod, and often records its end.
func (r *randomJob) podCommand() string {
	uid := r.pods[r.rng.IntN(len(r.pods))].UID
	p := r.job.Pod(uid)
	if p == nil || p.Drop() != nil || p.Delete() != nil {
		return "nothing"
	}
	var c events.Command = &events.DeletePod{Pod: uid}
	if p.Held() {
		c = &events.DropFinalizer{Pod: uid, ThenDelete: r.rng.IntN(2) == 0 && p.Active()}
		if p.Stage() != Released && p.Phase.Terminal() {
			return "nothing"
		}
	}
	r.record(events.KindDecided, &events.Decision{RulesVersion: 1, Steps: []events.Step{{Commands: []events.Command{c}}}})
	if r.rng.IntN(3) > 0 {
		r.ended(r.seq)
	}
	return events.Describe(c)
}

func (r *randomJob) ended(decided events.Sequence) {
	ended := events.CommandEnded{Command: events.CommandID{Decided: decided}, Ending: events.Done, Version: uint64(r.seq+1) * 10, Sent: true}
	switch r.rng.IntN(6) {
	case 0:
		ended.Ending, ended.Class = events.Refused, events.RefusedNotFound
	case 1:
		ended.Ending = events.OutcomeUnknown
	case 2:
		ended.Ending, ended.Class = events.Refused, events.RefusedServer
	}
	r.record(events.KindCommandEnded, &ended)
}

// write decides on a status write like the reconciler's, or ends the one in flight. The write accounts for some pods,
// and now and then it ends the Job.
func (r *randomJob) write() string {
	if r.job.Write() != nil {
		r.record(events.KindCommandEnded, &events.CommandEnded{
			Command: r.job.Write().Name(), Ending: []events.Ending{events.Done, events.Done, events.Refused}[r.rng.IntN(3)],
			Class: events.RefusedServer, Version: uint64(r.seq+1) * 10, Sent: true,
		})
		return "the status write ends"
	}
	c := events.StatusChange{InitUncounted: true}
	var completed indexset.Set
	for p := range r.job.Unlisted() {
		switch {
		case r.rng.IntN(3) == 0:
		case p.Phase == events.PodSucceeded && r.job.Indexed:
			completed.Add(p.Index)
		case p.Phase == events.PodSucceeded:
			c.AddSucceeded = append(c.AddSucceeded, p.UID)
		default:
			c.AddFailed = append(c.AddFailed, p.UID)
		}
	}
	c.CompleteIndexes = completed.Text()
	for _, uid := range slices.Concat(r.job.Base.UncountedSucceeded, r.job.Base.UncountedFailed) {
		if r.job.Countable(uid) {
			c.Counted = append(c.Counted, uid)
		}
	}
	if r.job.PerIndex {
		failed := r.job.NewlyFailed()
		c.SetFailedIndexes, c.FailIndexes = true, failed.Text()
	}
	if r.rng.IntN(25) == 0 {
		kind := []string{status.FailureTarget, status.SuccessCriteriaMet}[r.rng.IntN(2)]
		if !r.job.failing && !r.job.succeeding {
			c.Conditions = []events.JobCondition{{Type: kind, Status: "True"}}
		}
	}
	r.record(events.KindDecided, &events.Decision{RulesVersion: 1, Steps: []events.Step{{Commands: []events.Command{
		&events.WriteStatus{Base: r.job.Version, Change: c},
	}}}})
	return "a status is being written"
}

// counts writes all counts that are kept of pods.
func (r *randomJob) counts() string {
	j := r.job
	var b strings.Builder
	fmt.Fprintf(&b, "%+v\n%d succeeded, %d failed; completed %q, failed indexes %q, taken %q, free %v, crowded %v\n", j.tally,
		j.SucceededCount(), j.FailedCount(), j.completed.Text(), j.index.failed.Text(), j.taken.Text(), j.FreeIndexes(20), j.Crowded())
	rule, met := j.SuccessRuleMet()
	fmt.Fprintf(&b, "progress %v, rule %d met %v, fresh %d, released %d, surplus %d, removing %v, in doubt %v\n",
		j.progress, rule, met, j.UnlistedLen(), j.ReleasedLen(), j.SurplusLen(), j.Removing(), j.PodsInDoubt())
	for _, uid := range slices.Sorted(func(yield func(types.UID) bool) {
		for uid := range j.uncounted {
			if !yield(uid) {
				return
			}
		}
	}) {
		fmt.Fprintf(&b, "uncounted %s failed %v\n", uid, j.uncounted[uid])
	}
	for i := range int32(10) {
		for _, p := range j.Occupants(i) {
			fmt.Fprintf(&b, "index %d: %s\n", i, p.UID)
		}
		if p := j.Held(i); p != nil {
			fmt.Fprintf(&b, "held of %d: %s\n", i, p.UID)
		}
		if n := j.index.active[i]; n != 0 {
			fmt.Fprintf(&b, "active of %d: %d\n", i, n)
		}
		if n := len(j.index.fallen[i]); n != 0 {
			fmt.Fprintf(&b, "fallen of %d: %d\n", i, n)
		}
	}
	for _, p := range j.Pods() {
		fmt.Fprintf(&b, "%s stage %d match %+v share %+v\n", p.UID, p.stage, p.match, p.in)
	}
	return b.String()
}
