package doctor

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/jobledger/jobledger/events"
)

// The versions of Kubernetes: with the field managedBy, and the newest that the tests know.
var (
	withManagedBy = version.MajorMinor(1, 32)
	newestKnown   = version.MajorMinor(1, 36)
)

// server asks for the version. What a server is too old for is said.
func server(ctx context.Context, c *Config) []Finding {
	info, err := c.Client.Discovery().ServerVersion()
	if err != nil {
		return []Finding{{Level: Unknown, Text: fmt.Sprintf("the API server does not answer: %v", err), Do: "look at --kubeconfig and --context, and at the network"}}
	}
	v, err := version.ParseGeneric(info.GitVersion)
	if err != nil {
		return []Finding{{Level: Unknown, Text: fmt.Sprintf("the API server says that it is %q, which is no version", info.GitVersion)}}
	}
	v = version.MajorMinor(v.Major(), v.Minor())
	var found []Finding
	switch {
	case v.LessThan(withManagedBy) && c.Settings.Mode == events.ModeDelegated:
		found = append(found, Finding{
			Level: Problem, Text: fmt.Sprintf("Kubernetes %s drops spec.managedBy from Jobs, so no Job is ours", info.GitVersion),
			Do: "upgrade to 1.32 or later, or run --manage=observe",
		})
	case v.LessThan(withManagedBy):
		found = append(found, Finding{
			Level: Warning, Text: fmt.Sprintf("Kubernetes %s is older than any version that was tried", info.GitVersion), Do: "upgrade to 1.32 or later",
		})
	case newestKnown.LessThan(v):
		found = append(found, Finding{
			Level: Note, Text: fmt.Sprintf("Kubernetes %s is newer than any version that was tried (%s)", info.GitVersion, newestKnown),
		})
	}
	if c.Settings.GangScheduling {
		if _, err := c.Client.Discovery().ServerResourcesForGroupVersion("scheduling.k8s.io/v1alpha2"); err != nil {
			found = append(found, Finding{
				Level: Problem, Text: "the server has no Workloads and PodGroups (scheduling.k8s.io/v1alpha2), which --gang-scheduling makes",
				Do: "switch on the feature gate GenericWorkload and that API, or run without --gang-scheduling",
			})
		}
	}
	if found == nil {
		return well("Kubernetes " + info.GitVersion)
	}
	return found
}

// The differences of clocks that matter. A certificate or a token can be too young by seconds; a deadline of a Job is off by as much.
const (
	clockWarning = 2 * time.Second
	clockProblem = 30 * time.Second
)

// clock compares ours with the server's, which tells whole seconds.
func clock(_ context.Context, c *Config) []Finding {
	there, ok := c.Clock()
	if !ok {
		return []Finding{{Level: Unknown, Text: "the API server does not say what time it is (no Date in its answers)"}}
	}
	off := c.Now().Sub(there)
	text := fmt.Sprintf("the clock of this machine is %s the API server's", ahead(off))
	const do = "let a time service (chrony, systemd-timesyncd) set both clocks: deadlines and backoffs are counted by this one"
	switch d := off.Abs(); {
	case d >= clockProblem:
		return []Finding{{Level: Problem, Text: text, Do: do}}
	case d >= clockWarning:
		return []Finding{{Level: Warning, Text: text, Do: do}}
	}
	return well("the clock of this machine agrees with the API server's, to a second or two")
}

func ahead(off time.Duration) string {
	if off < 0 {
		return off.Abs().Round(time.Second).String() + " behind"
	}
	return off.Round(time.Second).String() + " ahead of"
}
