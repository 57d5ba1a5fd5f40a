package minors

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/binaries"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/built"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// flavour is a kind of server to test.
type flavour struct {
	minor string   // one of binaries.Minors; empty: the version of test/tools
	off   []string // feature gates that are turned off
	gangs bool     // the gates of gangs are on
	quick bool     // the server gives up a request after ten seconds, so that what a dead one left is soon known
}

// gates of 1.32 that matter when a Job is created, by the field that the API server drops without them.
var gates = map[string]string{
	"managedBy":            "JobManagedBy",
	"podReplacementPolicy": "JobPodReplacementPolicy",
	"successPolicy":        "JobSuccessPolicy",
	"backoffLimitPerIndex": "JobBackoffLimitPerIndex",
}

// flavours returns each version with its defaults, and those with optional gates also without some of them.
func flavours() []flavour {
	var all []flavour
	for _, minor := range binaries.Minors {
		all = append(all, flavour{minor: minor})
	}
	return append(all,
		flavour{},
		flavour{minor: "1.32", off: []string{"JobPodReplacementPolicy", "JobSuccessPolicy", "JobBackoffLimitPerIndex", "WatchList"}},
		flavour{minor: "1.32", off: []string{"JobManagedBy"}},
		flavour{minor: "1.33", off: []string{"JobPodReplacementPolicy"}},
		flavour{minor: "1.34", off: []string{"JobManagedBy", "WatchList"}},
	)
}

func (f flavour) name() string {
	name := f.minor
	if name == "" {
		name = "newest"
	}
	if len(f.off) > 0 {
		name += " without " + strings.Join(f.off, ",")
	}
	return name
}

func (f flavour) options() controlplane.Options {
	gates := map[string]bool{}
	for _, gate := range f.off {
		gates[gate] = false
	}
	o := controlplane.Options{Minor: f.minor, FeatureGates: gates}
	if f.quick {
		o.APIServerArgs = []string{"--request-timeout=10s"}
	}
	if f.gangs {
		return gangOptions(o)
	}
	return o
}

// TestMinors runs all tests on each server, one after the other.
func TestMinors(t *testing.T) {
	if !effort.IsLong() {
		t.Skip("builds older versions of Kubernetes and takes minutes on each: JOBLEDGER_LONG=1")
	}
	program, err := built.Program(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range flavours() {
		t.Run(f.name(), func(t *testing.T) {
			s := newServer(t, f, program)
			s.doctorTellsTheTruth()
			ours, builtin := s.runAll(), s.observeBuiltin()
			s.same(ours, builtin)
		})
	}
}

// TestGatesWithoutWhichJobsDoNotComplete: without JobManagedBy and JobPodReplacementPolicy the API server accepts
// SuccessCriteriaMet only in the status of Jobs with a successPolicy, but Jobledger writes it for every complete Job.
// Doctor says so. The refusal is reported, and retried with a backoff.
func TestGatesWithoutWhichJobsDoNotComplete(t *testing.T) {
	if !effort.IsLong() {
		t.Skip("builds an older version of Kubernetes: JOBLEDGER_LONG=1")
	}
	program, err := built.Program(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, flavour{minor: "1.32", off: []string{"JobManagedBy", "JobPodReplacementPolicy"}}, program)
	s.doctorTellsTheTruth()
	p := s.place("all", controller.NewUser)
	p.start("all", "--cronjobs=false", "--ttl-after-finished=false")
	p.create(newJob("stuck"))
	p.await("the refusal is told", func() bool {
		j, err := p.ours.Job(s.ctx, "stuck")
		return err == nil && len(j.Refused) > 0 && j.Refused[0].Tries > 2
	})
	j, err := p.ours.Job(s.ctx, "stuck")
	if err != nil || !strings.Contains(j.Refused[0].Says, "SuccessCriteriaMet") {
		t.Errorf("get says %+v, %v", j.Refused, err)
	}
	t.Logf("refused: %+v", j.Refused)
	if finished(p.job("stuck")) {
		t.Error("the Job is finished")
	}
	p.stop("SuccessCriteriaMet")
}

// server is a control plane of one flavour.
type server struct {
	*testing.T
	flavour
	ctx     context.Context
	cp      *controlplane.ControlPlane
	client  kubernetes.Interface
	program string
	serves  serves
}

func newServer(t *testing.T, f flavour, program string) *server {
	t.Helper()
	cp := controlplane.ForTest(t, f.options())
	client, err := kubernetes.NewForConfig(cp.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := patience.Several(t.Context(), 2)
	t.Cleanup(cancel)
	s := &server{T: t, flavour: f, ctx: ctx, cp: cp, client: client, program: program}
	s.serves = s.look()
	if s.serves.version != cp.Version() {
		t.Fatalf("the server says that it is %s, and was built as %s", s.serves.version, cp.Version())
	}
	t.Logf("Kubernetes %s: %s", s.serves.version, s.serves)
	for _, field := range slices.Sorted(maps.Keys(gates)) {
		if got, want := s.serves.dropped[field], slices.Contains(f.off, gates[field]); got != want {
			t.Fatalf("the server drops spec.%s: %t, and its gate is off: %t", field, got, want)
		}
	}
	return s
}
