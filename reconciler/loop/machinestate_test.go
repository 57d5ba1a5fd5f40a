package loop_test

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/reconciler/replay"
	"github.com/jobledger/jobledger/reconciler/rules"
)

// state prints the projection of a Job.
func (m *machine) state(name string) string {
	uid := types.UID("uid-" + name)
	if n := m.lives[name]; n > 1 {
		uid += types.UID(strings.Repeat("'", n-1))
	}
	j := m.loop.World().Job(events.JobStream(uid))
	if j == nil {
		if s := m.loop.World().Retired(events.JobStream(uid)); s != nil {
			ttl := ""
			if s.TTL != events.Unset {
				ttl = fmt.Sprintf(", kept %d s", s.TTL)
			}
			return fmt.Sprintf("a stub of %s/%s, finished %s%s\n", s.Ref.Namespace, s.Ref.Name, s.Finished.Sub(epoch), ttl)
		}
		return "nothing\n"
	}
	t := j.Tally()
	group := ""
	if g := &j.Group; g.Workload != "" {
		group = fmt.Sprintf("; Workload %s, PodGroup %s", g.Workload, g.PodGroup)
	}
	return fmt.Sprintf("active %d ready %d terminating %d succeeded %d failed %d; base %s%s\n",
		t.Active, t.Ready, t.Terminating, j.SucceededCount(), j.FailedCount(), base(&j.Base), group)
}

func base(s *status.Status) string {
	text := fmt.Sprintf("active %d succeeded %d failed %d", s.Active, s.Succeeded, s.Failed)
	if s.Completed.Len() > 0 {
		text += " completed " + s.Completed.Text()
	}
	if n := len(s.UncountedSucceeded) + len(s.UncountedFailed); n > 0 {
		text += fmt.Sprintf(" uncounted %d", n)
	}
	for _, c := range s.Conditions {
		text += " " + c.Type
	}
	return text
}

// check replays the whole log. After the last record the controller must have nothing to decide.
func (m *machine) check() {
	m.t.Helper()
	r := replay.New()
	for rec, err := range m.log.Read(m.t.Context(), 1) {
		m.must(err)
		found, err := r.Record(rec)
		m.must(err)
		for _, d := range found {
			m.t.Errorf("%s", d)
		}
	}
	for _, s := range r.World().Subjects() {
		if d := rules.Decide(s); d.Commands() && r.World().Decides() {
			m.t.Errorf("deciding again for %s yields %v", s.Reference().Name, d.Steps)
		}
	}
}
