package binaries

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// Kubernetes is released as one repository and also as its parts. k8s.io/kubernetes v1.X.Y requires its parts as v0.0.0
// and means v0.X.Y; only a replace can say this. If the release of a part is not available, another release of its
// minor replaces it, with a comment.
func TestToolsReplaceEveryPartOfKubernetesByItsOwnRelease(t *testing.T) {
	root, err := FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	tools := filepath.Dir(filepath.Join(root, filepath.FromSlash(toolsMarker)))
	all, err := versions(tools)
	if err != nil {
		t.Fatal(err)
	}
	for o, version := range all {
		if o.module != kubernetesModule {
			continue
		}
		if minor, ok := strings.CutPrefix(o.tools, olderPrefix); ok && semver.MajorMinor(version) != "v"+minor {
			t.Errorf("test/tools/%s has Kubernetes %s", o.tools, version)
		}
		path := filepath.Join(tools, o.tools, "go.mod")
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := modfile.Parse(path, data, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := "v0" + strings.TrimPrefix(version, "v1")
		if !semver.IsValid(want) {
			t.Fatalf("k8s.io/kubernetes has version %q", version)
		}
		if len(file.Replace) == 0 {
			t.Fatalf("%s replaces no part of Kubernetes", path)
		}
		for _, r := range file.Replace {
			excused := len(r.Syntax.Suffix) > 0 && semver.MajorMinor(r.New.Version) == semver.MajorMinor(want)
			if r.Old.Path != r.New.Path || r.New.Version != want && !excused {
				t.Errorf("%s: %s is replaced by %s %s, want %s", path, r.Old.Path, r.New.Path, r.New.Version, want)
			}
		}
	}
}

// The oracle must have the same release as the control plane.
func TestOracleHasTheReleaseOfTheTools(t *testing.T) {
	root, err := FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	tools, err := versions(filepath.Dir(filepath.Join(root, filepath.FromSlash(toolsMarker))))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "test", "oracle", "go.mod")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	oracle, err := modfile.Parse(path, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := tools[origin{"", kubernetesModule}]
	for _, r := range oracle.Require {
		if r.Mod.Path == "k8s.io/kubernetes" && r.Mod.Version != want {
			t.Errorf("it is %s, test/tools has %s", r.Mod.Version, want)
		}
	}
	for _, r := range oracle.Replace {
		if strings.HasPrefix(r.Old.Path, "k8s.io/") && r.New.Version != "v0"+strings.TrimPrefix(want, "v1") {
			t.Errorf("%s is replaced by %s, test/tools has %s of Kubernetes", r.Old.Path, r.New.Version, want)
		}
	}
}

// The manifests of deploy/ are made from the chart with the release of Helm that installs it, and compared with the
// output of the kustomize that applies them.
func TestManifestsHaveTheReleasesOfTheTools(t *testing.T) {
	root, err := FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	tools := filepath.Dir(filepath.Join(root, filepath.FromSlash(toolsMarker)))
	manifests, err := requirements(filepath.Join(root, "internal", "dev", "manifests", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for name, module := range map[string]string{Helm: helmModule, Kustomize: "sigs.k8s.io/kustomize/api"} {
		built, err := requirements(filepath.Join(tools, name, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		if built[module] == "" || built[module] != manifests[module] {
			t.Errorf("%s of test/tools has %s %q, internal/dev/manifests has %q", name, module, built[module], manifests[module])
		}
	}
}

func TestToolsListsWhatIsBuilt(t *testing.T) {
	root, err := FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	tools := filepath.Dir(filepath.Join(root, filepath.FromSlash(toolsMarker)))
	listed := make(map[string]map[string]bool) // by the directory of the go.mod below test/tools
	for _, p := range programs {
		if listed[p.tools] == nil {
			listed[p.tools] = listedTools(t, filepath.Join(tools, p.tools, "go.mod"))
		}
		if !listed[p.tools][p.pkg] && !strings.HasPrefix(p.pkg, ownPrefix) {
			t.Errorf("%s is built but no tool of test/tools/%s, so go mod tidy would drop what it needs", p.pkg, p.tools)
		}
	}
}

// listedTools returns the packages that a go.mod names as tools.
func listedTools(t *testing.T, path string) map[string]bool {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := modfile.Parse(path, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	listed := make(map[string]bool)
	for _, tool := range file.Tool {
		listed[tool.Path] = true
	}
	return listed
}
