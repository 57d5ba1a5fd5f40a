package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// TestTheLicencesOfAllModulesAreKnown: each module in the controller has a known licence. The SBOM names it, and the
// image has its text.
func TestTheLicencesOfAllModulesAreKnown(t *testing.T) {
	out, err := output("../../..", []string{"GOFLAGS="}, "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}} {{.Version}}{{end}}", "./cmd/jobledger")
	if err != nil {
		t.Fatal(err)
	}
	var modules []*debug.Module
	seen := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) == 2 && !seen[f[0]] {
			seen[f[0]] = true
			modules = append(modules, &debug.Module{Path: f[0], Version: f[1]})
		}
	}
	if len(modules) < 40 {
		t.Fatalf("%d modules: this tests nothing", len(modules))
	}
	all, err := termsOf("../../..", runtime.Version(), modules)
	if err != nil {
		t.Fatal(err)
	}
	text := textOf(all)
	for _, a := range all {
		if len(a.ids()) == 0 || !bytes.Contains(text, []byte("\n"+a.module+" "+a.version+"\n")) {
			t.Errorf("%s has the licences %v", a.module, a.ids())
		}
		for _, own := range a.texts {
			if !bytes.Contains(text, []byte(strings.TrimSpace(own))) {
				t.Errorf("a text of %s is missing", a.module)
			}
		}
	}
	bill, err := release{version: "v1", goVersion: runtime.Version()}.bill(program{
		arch: "amd64", info: &debug.BuildInfo{Deps: modules}, terms: all,
	})
	if err != nil {
		t.Fatal(err)
	}
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(bill), cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	for _, c := range *bom.Components {
		if c.Licenses == nil || len(*c.Licenses) == 0 || (*c.Licenses)[0].License.ID == "" {
			t.Errorf("the SBOM names no licence of %s", c.Name)
		}
	}
	t.Logf("%d modules, %d bytes of licences", len(all), len(text))
}

// TestAModuleWithoutALicence: such a module is refused, because it may not be passed on.
func TestAModuleWithoutALicence(t *testing.T) {
	dir := t.TempDir()
	var m terms
	if err := m.read(dir); err == nil {
		t.Error("one without a file is taken")
	}
	if err := os.WriteFile(filepath.Join(dir, "LICENSE"), []byte("You may look at it."), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := m.read(dir); err == nil {
		t.Error("one whose licence nobody knows is taken")
	}
}

// TestTheImageHasTheLicences: the image has the licences of all modules, and of Go itself.
func TestTheImageHasTheLicences(t *testing.T) {
	dir := built(t, small(t), "--platform", "linux/"+runtime.GOARCH)
	index, _ := opened(t, filepath.Join(dir, "jobledger-v1.2.3.oci.tar"))
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	img, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	files := mutate.Extract(img)
	defer files.Close()
	root := t.TempDir()
	unpack(t, files, root)
	text, err := os.ReadFile(filepath.Join(root, "licenses.txt"))
	if err != nil || !strings.Contains(string(text), "std "+runtime.Version()) || !strings.Contains(string(text), "The Go Authors") {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestFilesThatGitDoesNotKnow: untracked files change the bytes. The statement says so, and a release with them is
// refused.
func TestFilesThatGitDoesNotKnow(t *testing.T) {
	for name, ignored := range map[string]bool{"cmd/jobledger/more.go": false, "cmd/jobledger/hidden.go": true, "notes.txt": false} {
		source := small(t)
		if ignored {
			if err := os.WriteFile(filepath.Join(source, ".git/info/exclude"), []byte("hidden.go\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(source, name), []byte("package main\n\nfunc init() { println(1) }\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		args := []string{"--source", source, "--out", dir, "--platform", "linux/" + runtime.GOARCH}
		err := run(append(args, "--version", "v1.2.3"), io.Discard)
		if err == nil || !strings.Contains(err.Error(), "v1.2.3 is a release") || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if err := run(args, io.Discard); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "jobledger-v1.2.3-dirty.intoto.json"))
		if err != nil {
			t.Fatal(err)
		}
		var s statement
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		if dirty := s.Predicate.BuildDefinition.ExternalParameters["uncommittedChanges"]; dirty != true {
			t.Errorf("%s: uncommittedChanges is %v", name, dirty)
		}
	}
}

// TestTheBillsAlone: --sbom writes only the SBOMs.
func TestTheBillsAlone(t *testing.T) {
	all := contents(t, built(t, small(t), "--sbom"))
	if len(all) != 2 || all["jobledger-v1.2.3-amd64.cdx.json"] == nil {
		t.Errorf("%d files", len(all))
	}
}
