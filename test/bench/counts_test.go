package bench

import (
	"strings"
	"testing"

	"github.com/jobledger/jobledger/internal/dev/effort"
)

// TestWhatAPodCosts checks that Jobledger needs no more requests for each pod, and no more commits, than the limits.
// 'make bench-quick', which CI runs, does the same for all workloads and in profile life. Jobs of that profile wait for
// clocks most of a minute, so they run here only with JOBLEDGER_LONG. Time is not judged. (store/boltlog counts the
// syncs of a commit; projector and reconciler count allocations per folded event.)
func TestWhatAPodCosts(t *testing.T) {
	profiles := map[string][]string{Instant: {"w1", "w3", "w3i"}}
	if effort.IsLong() {
		profiles[Life] = []string{"w3", "w4"}
	}
	for profile, workloads := range profiles {
		t.Run(profile, func(t *testing.T) { whatAPodCosts(t, profile, workloads) })
	}
}

func whatAPodCosts(t *testing.T, profile string, workloads []string) {
	report, err := Run(t.Context(), Config{
		Quick: true, Contenders: []string{Ours}, Workloads: workloads, Setting: Setting{Profile: profile},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range append(report.Wrong(), report.Grown()...) {
		t.Error(line)
	}
	for _, o := range report.Outcomes {
		for _, lap := range o.Laps[Ours] {
			t.Logf("%s in %.2f s, others had %.0f %% of the machine: for each pod %v, %.2f commits",
				o.Workload, lap.Figures[keyWall], 100*lap.Others, lap.Requests, lap.Figures[keyCommits])
		}
	}
}

func TestCountsThatGrewAreFound(t *testing.T) {
	lap := func(writes, patches, lists, commits float64) Lap {
		return Lap{
			Jobs: 1, Pods: 400, Figures: map[string]float64{keyWall: 1.5, keyCommits: commits, keyEvents: 13.0 / 400},
			Requests: map[string]float64{
				"create pods": 1, "patch pods": patches / 400, "update jobs/status": writes / 400, "list pods": lists / 400,
			},
		}
	}
	for _, row := range []struct {
		sentence string
		lap      Lap
		want     string
	}{
		{"two writes, one each second, and one for each 45 pods", lap(13, 400, 0, 0.1), ""},
		{"a write more", lap(14, 400, 0, 0.1), "update jobs/status"},
		{"a pod that is patched twice", lap(13, 401, 0, 0.1), "patch pods"},
		{"some that are read", lap(13, 400, 9, 0.1), "list pods"},
		{"a commit for nothing", lap(13, 400, 0, 0.2), "commits"},
		{"an Event that each pod raises the count of", counted(lap(13, 400, 0, 0.1), 26), "Events"},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			oneLine(t, Instant, "w3", row.lap, row.want)
		})
	}
}

// counted returns the lap with that number of requests for Events.
func counted(lap Lap, requests int) Lap {
	lap.Figures[keyEvents] = float64(requests) / float64(lap.Pods)
	return lap
}

// oneLine checks what Grown says of a lap: one line that contains want, or no line if want is empty.
func oneLine(t *testing.T, profile, workload string, lap Lap, want string) {
	t.Helper()
	r := Report{Setting: Setting{Profile: profile}, Outcomes: []*Outcome{{Workload: workload, Laps: map[string][]Lap{Ours: {lap}}}}}
	lines := r.Grown()
	if want == "" && len(lines) > 0 || want != "" && (len(lines) != 1 || !strings.Contains(lines[0], want)) {
		t.Errorf("%q, want one line about %q", lines, want)
	}
}

// TestASlowMachineIsNoGrowth: a Job of one pod that took longer than a second may have published once that its pod is
// active.
func TestASlowMachineIsNoGrowth(t *testing.T) {
	lap := func(writes, lists float64, late int) Lap {
		return Lap{
			Jobs: 8, Pods: 8, Late: late, Figures: map[string]float64{keyWall: 3, keyCommits: 4},
			Requests: map[string]float64{"create pods": 1, "patch pods": 1, "update jobs/status": writes / 8, "list pods": lists / 8},
		}
	}
	for _, row := range []struct {
		sentence string
		lap      Lap
		want     string
	}{
		{"a write for each", lap(8, 0, 0), ""},
		{"one more, of a Job that was late", lap(9, 0, 1), ""},
		{"one more, and nobody was late", lap(9, 0, 0), "update jobs/status"},
		{"two more of one that was late", lap(10, 0, 1), "update jobs/status"},
		{"a list, as after a watch that was lost", lap(8, 1, 0), ""},
		{"two of them", lap(8, 2, 0), "list pods"},
	} {
		t.Run(row.sentence, func(t *testing.T) { oneLine(t, Instant, "w1", row.lap, row.want) })
	}
}

// TestWhatARunCosts: a CronJob's Job is created once, and its status is written when it starts and when it has ended.
func TestWhatARunCosts(t *testing.T) {
	lap := func(creates, statuses, reads, commits float64) Lap {
		return Lap{
			Jobs: 60, Pods: 60, Runs: 60, Figures: map[string]float64{keyWall: 1, keyCommits: commits},
			Requests: map[string]float64{
				"create jobs": creates / 60, "update cronjobs/status": statuses / 60, "get cronjobs": reads / 60,
				"create pods": 1, "patch pods": 1, "update jobs/status": 1,
			},
		}
	}
	for _, row := range []struct {
		sentence string
		lap      Lap
		want     string
	}{
		{"two writes for each", lap(60, 120, 0, 0.5), ""},
		{"a third one of one CronJob", lap(60, 121, 0, 0.5), "update cronjobs/status"},
		{"a Job more", lap(61, 120, 0, 0.5), "create jobs"},
		{"CronJobs that are read", lap(60, 120, 2, 0.5), "get cronjobs"},
		{"three commits for each", lap(60, 120, 0, 3), ""},
		{"four", lap(60, 120, 0, 4), "commits"},
	} {
		t.Run(row.sentence, func(t *testing.T) { oneLine(t, Instant, "w11", row.lap, row.want) })
	}
}

// TestWhatAJobThatRunsCosts: in profile life each second of a Job allows a status write, and each failed pod an Event.
func TestWhatAJobThatRunsCosts(t *testing.T) {
	lap := func(writes, events int) Lap {
		return Lap{
			Jobs: 8, Pods: 9, Failed: 1, Late: 4, Seconds: 20.5,
			Figures:  map[string]float64{keyWall: 21, keyCommits: 4, keyEvents: float64(events) / 9},
			Requests: map[string]float64{"create pods": 1, "patch pods": 1, "update jobs/status": float64(writes) / 9},
		}
	}
	for _, row := range []struct {
		sentence string
		lap      Lap
		want     string
	}{
		{"a write for each Job and for each second", lap(29, 17), ""},
		{"a write more", lap(30, 17), "update jobs/status"},
		{"an Event more", lap(29, 18), "Events"},
	} {
		t.Run(row.sentence, func(t *testing.T) { oneLine(t, Life, "w1", row.lap, row.want) })
	}
}
