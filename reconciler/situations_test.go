package reconciler_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/notation"
	"github.com/jobledger/jobledger/internal/subject/indexset"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/rules"
)

var update = flag.Bool("update", false, "rewrite what is decided in testdata; say in the commit why it is right")

// TestSituations reads the situations in testdata, with empty lines between them. Each has lines that say what it shows
// (#), a Job, its pods, a line of dashes, and the decision. A field of the Job's status that is not given is set to the
// truth about the pods.
func TestSituations(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no situations: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { runSituations(t, file) })
	}
}

func runSituations(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, block := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
		head, want, situation := strings.Cut(block+"\n", "----\n")
		if !situation {
			out = append(out, block) // only for the reader
			continue
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(head, "# "), "\n")
		t.Run(name, func(t *testing.T) {
			got := newSituation(t, head).decide()
			out = append(out, strings.TrimRight(head+"----\n"+got, "\n"))
			if got != want && !*update {
				t.Errorf("%sdecided\n%swant\n%s", head, got, want)
			}
		})
	}
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(out, "\n\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// situation is a Job with its pods, as a controller finds them that has just begun.
type situation struct {
	t      *testing.T
	world  *projector.World
	now    events.Time
	window uint32        // of slow start; it depends on earlier decisions
	later  time.Duration // how long nothing happens before the decision
	waited time.Duration // for how long it has been as it is
	seq    events.Sequence

	settings events.Settings
	spec     events.JobSpec
	seen     events.JobSeen
	status   events.JobStatus
	given    map[string]bool // properties of the status that the situation gives
	pods     []events.PodSeen
	counts   bool
	unseen   bool

	published *status.Status
}

const theJob = "job"

func newSituation(t *testing.T, script string) *situation {
	s := &situation{
		t: t, world: projector.NewWorld(), now: events.Time(1_700_000_000 * int64(time.Second)),
		spec: notation.NewSpec(), settings: events.DefaultSettings(), given: map[string]bool{}, window: 1000,
	}
	s.settings.Mode, s.settings.ListPace = events.ModeAll, 0 // every pod is new here; a situation with a pace sets it
	s.seen = events.JobSeen{Version: 1, Created: s.now.Add(-100 * time.Second), Managed: true}
	s.status = events.JobStatus{HasUncounted: true, StartTime: s.now.Add(-100 * time.Second).Second()}
	for _, line := range strings.Split(strings.TrimSpace(script), "\n") {
		switch words := strings.Fields(line); words[0] {
		case "job":
			s.each(words[1:], s.jobWord)
		case "status":
			s.each(words[1:], s.statusWord)
		case "pod":
			s.pods = append(s.pods, notation.NewPod(words[1], theJob, uint64(len(s.pods)+1), s.now))
			s.each(words[2:], s.podWord)
		case "pods": // several alike: pods 3 Running
			var n int
			if _, err := fmt.Sscan(words[1], &n); err != nil {
				t.Fatal(err)
			}
			for range n {
				i := len(s.pods)
				p := notation.NewPod(fmt.Sprintf("p%d", i), theJob, uint64(i+1), s.now)
				if s.spec.CompletionMode == "Indexed" {
					p.Index = int32(i)
				}
				s.pods = append(s.pods, p)
				s.each(words[2:], s.podWord)
			}
		case "counts":
			s.counts = true
		default:
			if words[0][0] != '#' {
				t.Fatalf("no such line: %s", line)
			}
		}
	}
	return s
}

func (s *situation) each(words []string, word func(string) (bool, error)) {
	s.t.Helper()
	for _, w := range words {
		if ok, err := word(w); err != nil || !ok {
			s.t.Fatalf("what is %q? %v", w, err)
		}
	}
}

func (s *situation) jobWord(word string) (bool, error) {
	key, value, _ := strings.Cut(word, "=")
	switch key {
	case "deleting":
		s.seen.Deleted = s.now.Second()
	case "foreign":
		s.seen.Managed, s.seen.ManagedBy = false, "example.com/other"
	case "managedBy":
		s.seen.ManagedBy = value
	case "unseen": // the log has only the Job's spec, or pods
		s.unseen = true
	case "unmanaged":
		s.seen.Managed = false
	case "mode":
		s.spec.CompletionMode = value
	case "later":
		d, err := time.ParseDuration(value)
		s.later = d
		return true, err
	case "waited": // the wait for pods that are being deleted, which may end by themselves, is over
		s.waited = s.settings.DeletedPodWait
	case "window":
		_, err := fmt.Sscan(value, &s.window)
		return true, err
	case "atOnce": // limits: atOnce is pods in one decision, uncounted is UIDs in the lists
		_, err := fmt.Sscan(value, &s.settings.MaxPodsPerDecision)
		return true, err
	case "uncounted":
		_, err := fmt.Sscan(value, &s.settings.MaxUncounted)
		return true, err
	case "listPace":
		d, err := time.ParseDuration(value)
		s.settings.ListPace = d
		return true, err
	case "heldAtEnd":
		_, err := fmt.Sscan(value, &s.settings.HeldAtEnd)
		return true, err
	default:
		return notation.Spec(&s.spec, word)
	}
	return true, nil
}

func (s *situation) statusWord(word string) (bool, error) {
	key, _, _ := strings.Cut(word, "=")
	s.given[key] = true
	if key == "none" {
		s.status = events.JobStatus{Ready: events.Unset, Terminating: events.Unset}
		return true, nil
	}
	return notation.Status(&s.status, word, s.now)
}

func (s *situation) podWord(word string) (bool, error) {
	return notation.Pod(&s.pods[len(s.pods)-1], word, s.now)
}

// publish fills in the fields of the status that are not given.
func (s *situation) publish() {
	if s.given["none"] {
		return
	}
	truth := map[string]int32{}
	for _, p := range s.pods {
		if !p.Selected || p.Owner == "" {
			continue
		}
		switch {
		case p.Phase.Terminal():
		case p.Deleted != 0:
			truth["terminating"]++
		default:
			truth["active"]++
			if p.Ready {
				truth["ready"]++
			}
		}
	}
	for key, field := range map[string]*int32{"active": &s.status.Active, "ready": &s.status.Ready, "terminating": &s.status.Terminating} {
		if !s.given[key] {
			*field = truth[key]
		}
	}
	indexes := indexset.Parse(s.status.CompletedIndexes, 1<<30)
	if !s.given["succeeded"] && indexes.Len() > 0 {
		s.status.Succeeded = indexes.Len()
	}
	if s.spec.BackoffLimitPerIndex != nil && !s.given["failedIndexes"] {
		s.status.FailedIndexes = new("")
	}
	if s.spec.Suspend && !s.given["start"] {
		s.status.StartTime = 0
	}
}

func (s *situation) apply(stream events.Stream, kind events.Kind, facts events.Facts, name string) {
	s.seq++
	s.world.Apply(&events.Record{
		Header: events.Header{Sequence: s.seq, Time: s.now.Add(-s.waited), Stream: stream, Kind: kind}, Facts: facts,
		Evidence: events.Evidence{Namespace: "ns", Name: name},
	})
}

// fold returns the Job as the log then has it.
func (s *situation) fold() *projector.Job {
	s.publish()
	stream := events.JobStream(types.UID(theJob))
	s.apply(events.Controller, events.KindControllerStarted, &events.ControllerStarted{RulesVersion: 1, Settings: s.settings}, "")
	s.spec.Hash = "h"
	s.apply(stream, events.KindSpecStored, &s.spec, "")
	s.seen.Spec, s.seen.SpecAt, s.seen.Status = "h", s.seq, &s.status
	if !s.unseen {
		s.apply(stream, events.KindJobAdded, &s.seen, theJob)
	}
	for i := range s.pods {
		s.apply(stream, events.KindPodAdded, &s.pods[i], string(s.pods[i].UID))
	}
	if s.waited > 0 {
		s.waited = 0
		s.apply(stream, events.KindTimerFired, &events.TimerFired{}, "")
	}
	job := s.world.Job(stream)
	job.Window = s.window
	s.published = &job.Base
	return job
}

func (s *situation) decide() string {
	job := s.fold()
	var b strings.Builder
	if s.counts {
		fmt.Fprintf(&b, "decided on %d succeeded, %d failed\n", job.SucceededCount(), job.FailedCount())
	}
	now := s.now.Add(s.later)
	d := rules.DecideWoken(job, now)
	for _, step := range d.Steps {
		fmt.Fprintf(&b, "%s/%s %s\n", step.Stage, step.Rule, step.Reason)
		for i, c := range step.Commands {
			if more := len(step.Commands) - i; i == 4 && more > 5 {
				fmt.Fprintf(&b, "  and %d more\n", more)
				break
			}
			fmt.Fprintf(&b, "  %s\n", s.describe(c))
		}
	}
	wake := d.Wake
	if wake == 0 || d.Progress != 0 && d.Progress < wake {
		wake = d.Progress
	}
	if wake != 0 {
		fmt.Fprintf(&b, "look again in %s\n", wake.Sub(now))
	}
	if b.Len() == 0 {
		return "nothing\n"
	}
	return b.String()
}

// describe adds the details of a command that readers of the log do not need.
func (s *situation) describe(c events.Command) string {
	text := events.Describe(c)
	switch c := c.(type) {
	case *events.CreatePod:
		if c.Template != "t1" {
			text += " of template " + c.Template
		}
		if c.IndexFailures+c.IndexIgnoredFailures > 0 {
			text += fmt.Sprintf(", failed %d, ignored %d", c.IndexFailures, c.IndexIgnoredFailures)
		}
	case *events.WriteStatus:
		for _, list := range []struct {
			what string
			uids []types.UID
		}{{"list as succeeded", c.Change.AddSucceeded}, {"list as failed", c.Change.AddFailed}, {"count", c.Change.Counted}} {
			if len(list.uids) > 0 && len(list.uids) < 10 {
				text += fmt.Sprintf("\n    %s: %s", list.what, list.uids)
			}
		}
		if c.Change.InitUncounted {
			text += "\n    uncountedTerminatedPods is there"
		}
		if c.Change.SetFailedIndexes || c.Change.ClearFailedIndexes {
			text += fmt.Sprintf("\n    failedIndexes is there: %v", c.Change.SetFailedIndexes)
		}
		if at := c.Change.StartTime; at != 0 {
			text += fmt.Sprintf("\n    started %s ago", s.now.Add(s.later).Sub(at))
		}
		if at := c.Change.CompletionTime; at != 0 {
			text += fmt.Sprintf("\n    completed %s ago", s.now.Add(s.later).Sub(at))
		}
		for _, cond := range c.Change.Conditions {
			text += "\n    " + cond.Message
			if now := s.now.Add(s.later).Second(); cond.Since != now || cond.Probed != now {
				text += fmt.Sprintf(" (since %s ago, probed %s ago)", now.Sub(cond.Since), now.Sub(cond.Probed))
			}
		}
		if after := s.published.With(&c.Change); len(after.Conditions) > len(c.Change.Conditions) {
			text += "\n    conditions then:"
			for _, cond := range after.Conditions {
				text += fmt.Sprintf(" %s=%s", cond.Type, cond.Status)
			}
		}
	}
	return text
}
