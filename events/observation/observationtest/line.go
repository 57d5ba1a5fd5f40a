package observationtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
)

// Line writes an observation in the form of the tests.
func Line(o events.Observation) string {
	switch f := o.Facts.(type) {
	case *events.JobSeen:
		s := fmt.Sprintf("job %s v%d", o.Job.Name, f.Version)
		if !f.Managed {
			s += " unmanaged"
		}
		if o.CronJob != "" {
			s += " of " + string(o.CronJob)
		}
		return s
	case *events.JobGone:
		return fmt.Sprintf("job %s gone v%d%s", o.Job.Name, f.Version, missedText(f.Missed))
	case *events.PodSeen:
		return podLine(o, f)
	case *events.PodGone:
		s := fmt.Sprintf("pod %s gone v%d%s", f.UID, f.Version, missedText(f.Missed))
		if o.Job.Name != "" {
			s += " of " + o.Job.Name
		}
		return s
	case *events.CronJobSeen:
		return fmt.Sprintf("cronjob %s v%d %s", o.Job.Name, f.Version, f.Schedule)
	case *events.CronJobGone:
		return fmt.Sprintf("cronjob %s gone v%d%s", o.Job.Name, f.Version, missedText(f.Missed))
	case *events.RunSeen:
		return fmt.Sprintf("run %s v%d of %s", f.Name, f.Version, o.CronJob)
	case *events.RunGone:
		return fmt.Sprintf("run %s gone v%d of %s%s%s", f.Job, f.Version, o.CronJob, missedText(f.Missed), map[bool]string{true: " left"}[f.Left])
	case *events.ListingStarted:
		return fmt.Sprintf("listing %v: %s, seen %v", f.Resources, f.Reason, f.LastVersions)
	case *events.EpochChanged:
		return fmt.Sprintf("epoch %d: %+v", f.Epoch, f.Rewind)
	case *events.Synced:
		return fmt.Sprintf("synced %v at %v", f.Resources, f.Versions)
	}
	return fmt.Sprintf("%T", o.Facts)
}

func podLine(o events.Observation, f *events.PodSeen) string {
	s := fmt.Sprintf("pod %s v%d", o.Evidence.Name, f.Version)
	if o.Job.Name != "" {
		s += " of " + o.Job.Name
	}
	if f.Phase.Terminal() {
		s += " " + f.Phase.String()
	}
	for _, flag := range []struct {
		on   bool
		text string
	}{{f.Tracked, "tracked"}, {f.Selected, "selected"}, {f.Foreign, "foreign"}} {
		if flag.on {
			s += " " + flag.text
		}
	}
	if len(f.Candidates) > 0 {
		s += fmt.Sprintf(" candidates=%v", f.Candidates)
	}
	return s
}

func missedText(missed bool) string {
	if missed {
		return " missed"
	}
	return ""
}

// Expect compares lines with the wanted ones.
func Expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("told:\n%s\nwant:\n%s", g, w)
	}
}
