package events_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

func TestAJobNeverCollidesWithItsOwnPodNames(t *testing.T) {
	for _, job := range []string{"u1", "u2", "u3"} {
		id := events.Identity{LogID: "0f", Epoch: 3}
		seen := map[string]uint64{}
		for n := uint64(1); n <= 200_000; n++ {
			name := id.PodName(types.UID(job), "demo-", n)
			if other, taken := seen[name]; taken {
				t.Fatalf("job %s: ordinals %d and %d share %s", job, other, n, name)
			}
			seen[name] = n
		}
	}
}

func TestAPodNameDependsOnTheLifeOfTheLogAndTheJob(t *testing.T) {
	base := events.Identity{LogID: "0f", Epoch: 1}
	name := base.PodName("u1", "demo-", 1)
	for what, other := range map[string]string{
		"another epoch": events.Identity{LogID: "0f", Epoch: 2}.PodName("u1", "demo-", 1),
		"another log":   events.Identity{LogID: "1f", Epoch: 1}.PodName("u1", "demo-", 1),
		"another job":   base.PodName("u2", "demo-", 1),
	} {
		if other == name {
			t.Errorf("%s gives the same name %s", what, name)
		}
	}
}

func TestAPodNameFitsTheAPI(t *testing.T) {
	name := events.Identity{LogID: "0f", Epoch: 1}.PodName("u1", strings.Repeat("a", 80), 7)
	if len(name) != 63 {
		t.Errorf("%s has %d characters, want 63 (J-267)", name, len(name))
	}
}

func TestACommandAnnotationSurvivesParsing(t *testing.T) {
	id := events.Identity{LogID: "0f", Epoch: 12}
	gotID, job, ordinal, ok := events.ParseCommand(id.CommandOf("u-1", 42))
	if !ok || gotID != id || job != "u-1" || ordinal != 42 {
		t.Errorf("got %v %s %d %v", gotID, job, ordinal, ok)
	}
	for _, bad := range []string{"", "0f.1", "0f.1/u", "0f/u/1", "0f.x/u/1", "0f.1/u/x", ".1/u/1", "0f.1//1", "0f.1/u/18446744073709551615"} {
		if _, _, _, ok := events.ParseCommand(bad); ok {
			t.Errorf("%q parses", bad)
		}
	}
}

// O-061: pods of all other Jobs have the reserved finalizer.
// O-062: pods of Jobs of our own name have ours, whatever the mode.
func TestTheFinalizerFollowsTheJob(t *testing.T) {
	for managedBy, want := range map[string]string{
		events.ManagedBy:        "jobledger.dev/job-tracking",
		"":                      "batch.kubernetes.io/job-tracking",
		events.BuiltinManagedBy: "batch.kubernetes.io/job-tracking",
	} {
		if got := events.FinalizerFor(managedBy); got != want {
			t.Errorf("a pod of a Job with managedBy %q has the finalizer %s, want %s", managedBy, got, want)
		}
	}
}
