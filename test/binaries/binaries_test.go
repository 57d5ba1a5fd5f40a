package binaries

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/semver"
)

// repository makes a directory that looks like the repository, with the given tools go.mod.
func repository(t *testing.T, gomod string) string {
	t.Helper()
	root := t.TempDir()
	path := filepath.Join(root, filepath.FromSlash(toolsMarker))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(gomod), 0o644); err != nil {
		t.Fatal(err)
	}
	below := map[string]string{
		"containerd": containerdVersion, "coredns": corednsVersion, "kueue": kueueVersion, "jobset": jobSetVersion,
		"helm": helmVersion, "kustomize": kustomizeVersion, "versitygw": versityVersion,
	}
	for _, minor := range Minors {
		below[olderPrefix+minor] = "module m\n\ngo 1.26.0\n\nrequire k8s.io/kubernetes v" + minor + ".9\n"
	}
	for name, gomod := range below {
		below := filepath.Join(filepath.Dir(path), name)
		if err := os.Mkdir(below, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(below, "go.mod"), []byte(gomod), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

const someVersions = `module m

go 1.26.0

require (
	go.etcd.io/etcd/etcdctl/v3 v3.6.16
	go.etcd.io/etcd/etcdutl/v3 v3.6.16
	go.etcd.io/etcd/server/v3 v3.6.16
	k8s.io/kubernetes v1.36.3
	sigs.k8s.io/kwok v0.8.0
)
`

const (
	containerdVersion = "module m\n\ngo 1.26.0\n\nrequire github.com/containerd/containerd/v2 v2.4.2\n"
	corednsVersion    = "module m\n\ngo 1.26.0\n\nrequire github.com/coredns/coredns v1.15.0\n"
	kueueVersion      = "module m\n\ngo 1.26.0\n\nrequire sigs.k8s.io/kueue v0.17.0\n"
	jobSetVersion     = "module m\n\ngo 1.26.0\n\nrequire sigs.k8s.io/jobset v0.11.1\n"
	helmVersion       = "module m\n\ngo 1.26.0\n\nrequire helm.sh/helm/v4 v4.3.1\n"
	kustomizeVersion  = "module m\n\ngo 1.26.0\n\nrequire sigs.k8s.io/kustomize/kustomize/v5 v5.8.2\n"
	versityVersion    = "module m\n\ngo 1.26.0\n\nrequire github.com/versity/versitygw v1.8.0\n"
)

// versionOf returns the version of a program in someVersions.
func versionOf(p program) string {
	if minor := p.minor(); minor != "" {
		return "v" + minor + ".9"
	}
	switch p.module {
	case "k8s.io/kubernetes":
		return "v1.36.3"
	case "sigs.k8s.io/kwok":
		return "v0.8.0"
	case containerdModule:
		return "v2.4.2"
	case "github.com/coredns/coredns":
		return "v1.15.0"
	case kueueModule:
		return "v0.17.0"
	case jobSetModule:
		return "v0.11.1"
	case helmModule:
		return "v4.3.1"
	case kustomizeModule:
		return "v5.8.2"
	case versityModule:
		return "v1.8.0"
	}
	return "v3.6.16"
}

// install writes a program and its stamp as a finished build would.
func install(t *testing.T, s Set, p program, version string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(s.dir, stampDir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(s.dir, p.minor()), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, p.file()), []byte("program"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(stampPath(s.dir, p.label()), []byte(p.stamp(version)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestStaleProgramsAreThoseMissingOrOfAnotherVersion(t *testing.T) {
	tests := []struct {
		name   string
		change func(t *testing.T, s Set)
		want   []string
	}{
		{"nothing is built when every program is current", func(*testing.T, Set) {}, nil},
		{"what a cluster does not run is not built for it", func(t *testing.T, s Set) { remove(t, s.Path(Etcdutl)) }, nil},
		{"a missing program is built", func(t *testing.T, s Set) { remove(t, s.Path(Kwok)) }, []string{Kwok}},
		{"a program without a stamp is built", func(t *testing.T, s Set) { remove(t, stampPath(s.dir, Etcd)) }, []string{Etcd}},
		{"a program of another version is built", func(t *testing.T, s Set) { install(t, s, programs[0], "v3.6.15") }, []string{Etcd}},
		{"a new version of a module is a new version of all its programs",
			func(_ *testing.T, s Set) { s.versions[origin{"", kubernetesModule}] = "v1.36.4" },
			[]string{APIServer, ControllerManager, Scheduler}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := repository(t, someVersions)
			want, err := versions(filepath.Join(root, "test", "tools"))
			if err != nil {
				t.Fatal(err)
			}
			s := Set{dir: t.TempDir(), versions: want}
			for _, p := range programs {
				install(t, s, p, want[p.origin()])
			}
			tt.change(t, s)
			var got []string
			for _, p := range stale(s, Cluster) {
				got = append(got, p.name)
			}
			if strings.Join(got, " ") != strings.Join(tt.want, " ") {
				t.Errorf("stale = %v, want %v", got, tt.want)
			}
		})
	}
}

// TestEstimateFollowsTheMachine: the first estimate is for two idle cores, the next ones follow the speed of this
// machine.
func TestEstimateFollowsTheMachine(t *testing.T) {
	for _, row := range []struct {
		so         pace
		cold, want time.Duration
	}{
		{pace{}, 75 * time.Second, 75 * time.Second},
		{pace{took: 150 * time.Second, cold: 75 * time.Second}, 285 * time.Second, 570 * time.Second}, // a busy machine
		{pace{took: 3 * time.Second, cold: 75 * time.Second}, 285 * time.Second, 11 * time.Second},    // most of it is cached
	} {
		if got := row.so.estimate(row.cold); got != row.want {
			t.Errorf("after %+v: %s for %s, want %s", row.so, got, row.cold, row.want)
		}
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// TestAnOlderMinorHasFilesOfItsOwn: the files are separate from those of test/tools, and are built only if a caller
// asks for that minor.
func TestAnOlderMinorHasFilesOfItsOwn(t *testing.T) {
	root := repository(t, someVersions)
	want, err := versions(filepath.Join(root, "test", "tools"))
	if err != nil {
		t.Fatal(err)
	}
	s, dir := Set{versions: want}, t.TempDir()
	s.dir = dir
	for _, p := range ours {
		install(t, s, p, versionOf(p))
	}
	if got := stale(s, Cluster); len(got) != 0 {
		t.Errorf("without a minor %v are built", got)
	}
	s.minor = Minors[0]
	var files []string
	for _, p := range stale(s, Cluster) {
		files = append(files, p.file())
	}
	if got, want := strings.Join(files, " "), "1.32/kube-apiserver 1.32/kube-controller-manager 1.32/kube-scheduler"; got != want {
		t.Errorf("of minor %s %q are built, want %q", s.minor, got, want)
	}
	if s.Path(APIServer) != filepath.Join(dir, "1.32", APIServer) || s.Version(APIServer) != "v1.32.9" || s.Path(Etcd) != filepath.Join(dir, Etcd) {
		t.Errorf("of minor %s the API server is %s %s, and etcd %s", s.minor, s.Path(APIServer), s.Version(APIServer), s.Path(Etcd))
	}
	if _, err := Ensure(t.Context(), Config{Root: root, Dir: dir, Minor: "1.31"}); err == nil || !strings.Contains(err.Error(), "1.31 of Kubernetes is not built here") {
		t.Errorf("Ensure of 1.31 = %v", err)
	}
}

func TestEnsureReturnsAtOnceWhenEverythingIsCurrent(t *testing.T) {
	root := repository(t, someVersions)
	dir := t.TempDir()
	s := Set{dir: dir}
	for _, p := range programs {
		install(t, s, p, versionOf(p))
	}
	var said strings.Builder
	got, err := Ensure(t.Context(), Config{Root: root, Dir: dir, Progress: &said})
	if err != nil {
		t.Fatal(err)
	}
	if got.Version(APIServer) != "v1.36.3" || got.Path(Etcd) != filepath.Join(dir, "etcd") {
		t.Errorf("Ensure = %+v", got)
	}
	if said.Len() != 0 {
		t.Errorf("Ensure said %q, want nothing", said.String())
	}
}

func TestEnsureWaitsForAnotherBuilder(t *testing.T) {
	root := repository(t, someVersions)
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, stampDir), 0o755); err != nil {
		t.Fatal(err)
	}
	// A flock belongs to the open file, so a second descriptor of this process acts like another process.
	other, err := acquire(t.Context(), filepath.Join(dir, stampDir, "lock"), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*lockPoll)
	defer cancel()
	var said strings.Builder
	if _, err := Ensure(ctx, Config{Root: root, Dir: dir, Progress: &said}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Ensure while another builds = %v, want DeadlineExceeded", err)
	}
	if !strings.Contains(said.String(), "waiting for it") {
		t.Errorf("Ensure said %q, want that it waits", said.String())
	}

	// The other one finishes: all programs are current, and nothing is built.
	s := Set{dir: dir}
	for _, p := range programs {
		install(t, s, p, versionOf(p))
	}
	other.release()
	if _, err := Ensure(t.Context(), Config{Root: root, Dir: dir, Progress: &said}); err != nil {
		t.Fatalf("Ensure after the other one finished = %v", err)
	}
}

func TestBuildTellsWhatTheCompilerSaid(t *testing.T) {
	root := repository(t, someVersions)
	toolsDir := filepath.Join(root, "test", "tools")
	if err := os.WriteFile(filepath.Join(toolsDir, "main.go"), []byte("package main\n\nfunc main() { undefined() }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(toolsDir, "go.mod"), []byte("module m\n\ngo 1.26.0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	p := program{name: "broken", pkg: "m", vars: noVars}
	install(t, Set{dir: dir}, p, "v1")
	var said strings.Builder
	err := build{program: p, version: "v1", toolsDir: toolsDir, dir: dir}.run(t.Context(), newProgress(&said, "broken", time.Second))
	if err == nil || !strings.Contains(err.Error(), "undefined: undefined") {
		t.Fatalf("build of a broken program = %v, want the compiler's words", err)
	}
	if _, err := os.Stat(stampPath(dir, "broken")); !os.IsNotExist(err) {
		t.Errorf("a failed build left its stamp: %v", err)
	}
}

func TestTheRepositoryNamesEveryVersion(t *testing.T) {
	root, err := FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	got, err := versions(filepath.Join(root, "test", "tools"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range programs {
		if !semver.IsValid(got[p.origin()]) {
			t.Errorf("%s has version %q", p.module, got[p.origin()])
		}
	}
}

func TestKubernetesVersionIsLinkedIn(t *testing.T) {
	got := programs[1].ldflags("v1.36.3")
	for _, want := range []string{
		"-X k8s.io/component-base/version.gitVersion=v1.36.3",
		"-X k8s.io/component-base/version.gitMajor=1 ",
		"-X k8s.io/component-base/version.gitMinor=36 ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("ldflags %q lack %q", got, want)
		}
	}
}
