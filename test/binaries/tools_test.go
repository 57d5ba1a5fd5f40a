package binaries

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// Kubernetes is released as one repository and as its parts; k8s.io/kubernetes v1.X.Y asks for its parts as v0.0.0 and
// means v0.X.Y, which only a replace can say.
func TestToolsReplaceEveryPartOfKubernetesByItsOwnRelease(t *testing.T) {
	root, err := FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, filepath.FromSlash(toolsMarker))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := modfile.Parse(path, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	all, err := versions(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	want := "v0" + strings.TrimPrefix(all["k8s.io/kubernetes"], "v1")
	if !semver.IsValid(want) {
		t.Fatalf("k8s.io/kubernetes has version %q", all["k8s.io/kubernetes"])
	}
	if len(file.Replace) == 0 {
		t.Fatal("no part of Kubernetes is replaced")
	}
	for _, r := range file.Replace {
		if r.Old.Path != r.New.Path || r.New.Version != want {
			t.Errorf("%s is replaced by %s %s, want %s", r.Old.Path, r.New.Path, r.New.Version, want)
		}
	}
}

// The oracle compares with the release that the control plane is built from.
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
	want := tools["k8s.io/kubernetes"]
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

// listedTools are the packages that a go.mod names as tools.
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
