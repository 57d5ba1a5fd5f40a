package projector_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/policy"
)

// J-133: several pods fail the Job. The pod that the log saw failing first is named, whichever ended first.
func TestOfSeveralPodsThatFailTheJobOneIsNamed(t *testing.T) {
	f := newFold()
	ten := int32(10)
	f.record(events.KindSpecStored, &events.JobSpec{
		Hash: "policy", Parallelism: &ten, Completions: &ten, CompletionMode: "NonIndexed",
		PodFailurePolicy: `{"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[9]}}]}`,
	})
	f.see(11, func(s *events.JobSeen) { s.Spec, s.SpecAt = "policy", f.seq })
	for i := range uint64(10) {
		f.pod(named(types.UID(fmt.Sprint("p", i)), i+1))
	}
	for i := range uint64(10) {
		n := 9 - i
		f.pod(both(failed, version(21), named(types.UID(fmt.Sprint("p", n)), n+1), func(p *events.PodSeen) {
			p.Exits = []events.ContainerExit{{Name: "main", Code: 9}}
		}))
	}
	for range 20 {
		if p, m, ok := f.job().FailJobMatch(); !ok || p.UID != "p0" || m.Action != policy.FailJob {
			t.Fatalf("pod %s is named, want p0", p.UID)
		}
	}
}

// J-200: metrics name an action as the API does, and name none where no rule matched.
func TestAnActionIsSpeltAsTheAPIDoes(t *testing.T) {
	for action, want := range map[policy.Action]string{
		policy.NoMatch: "", policy.Count: "Count", policy.Ignore: "Ignore", policy.FailIndex: "FailIndex", policy.FailJob: "FailJob",
	} {
		if got := action.String(); got != want {
			t.Errorf("action %d is spelt %q, want %q", action, got, want)
		}
	}
}
