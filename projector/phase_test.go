package projector_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/projector"
)

// TestThePhasesOfAJob: the phase of a Job, by what the world holds of its stream.
func TestThePhasesOfAJob(t *testing.T) {
	late := events.JobStream("late")
	complete := &events.JobStatus{Conditions: []events.JobCondition{{Type: status.Complete, Status: "True", Since: 7}}}
	var (
		pods = func(f *fold) {
			f.at(late, events.KindPodAdded, pod(func(p *events.PodSeen) { p.UID, p.Owner = "its", "late" }))
		}
		seen = func(f *fold) {
			f.at(late, events.KindJobAdded, &events.JobSeen{Version: 30, Managed: true, Spec: "h", SpecAt: 2, Status: &events.JobStatus{}})
		}
		finished = func(f *fold) {
			f.at(late, events.KindJobChanged, &events.JobSeen{Version: 31, Managed: true, Spec: "h", SpecAt: 2, Status: complete})
		}
		retired = func(f *fold) { f.at(late, events.KindJobRetired, &events.JobRetired{}) }
		gone    = func(f *fold) { f.at(late, events.KindJobDeleted, &events.JobGone{Version: 40}) }
		again   = func(f *fold) {
			f.at(late, events.KindJobChanged, &events.JobSeen{Version: 50, Managed: true, Spec: "h", SpecAt: 2})
		}
		restart = func(f *fold) { f.restart(nil) }
	)
	run := func(steps ...func(*fold)) func(*fold) string {
		return func(f *fold) string {
			var said []string
			for _, step := range steps {
				step(f)
				what := "nothing"
				switch s := f.world.Subject(late).(type) {
				case *projector.Job:
					what = s.Phase().String()
				case *projector.Retired:
					what = s.Phase().String()
				}
				if s := f.world.Subject(late); s != nil && (s.ID() != late || s.Last() != f.world.Previous(late)) {
					what = fmt.Sprintf("%s of %s with its newest record %d", what, s.ID(), s.Last())
				}
				said = append(said, what)
			}
			return strings.Join(said, " ")
		}
	}
	checkFacts(t, []fact{
		{"one after the other", run(pods, seen, finished, retired, gone), "unknown seen finished retired nothing"},
		{"without pods before it", run(seen, finished, retired, gone), "seen finished retired nothing"},
		{"a retired Job that a pod with the finalizer names is looked for again", run(seen, finished, retired, pods, seen), "seen finished retired unknown seen"},
		{"a start leaves a retired Job as it is", run(seen, finished, retired, restart), "seen finished retired retired"},
		{"gone before it finished, with a pod whose finalizer is to go, and seen again", run(seen, pods, gone, again), "seen seen gone seen"},
	})
}
