package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// small makes a program in its own repository, which compiles in a second.
func small(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"go.mod":           "module github.com/jobledger/jobledger\n\ngo 1.26\n",
		"cmd/cli/build.go": "package cli\n\nvar version string\n\nfunc Version() string { return version }\n",
		"cmd/jobledger/main.go": "package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\n\t\"github.com/jobledger/jobledger/cmd/cli\"\n)\n\nfunc main() {\n" +
			"\tif err := os.WriteFile(\"/jobledger\", nil, 0o644); err == nil {\n\t\tpanic(\"it wrote over itself\")\n\t}\n" +
			"\twd, err := os.Getwd()\n\tfmt.Println(cli.Version(), os.Getuid(), wd, err)\n}\n",
	}
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"commit", "-qm", "small"}, {"tag", "v1.2.3"}} {
		if _, err := output(dir, []string{
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_CONFIG_GLOBAL=/dev/null",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z",
		}, "git", args...); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// built runs the command, and returns the directory with its files.
func built(t *testing.T, source string, args ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "dist")
	if err := run(append([]string{"--source", source, "--out", dir}, args...), io.Discard); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestTheSameCommitGivesTheSameBytes: another directory, time or umask changes no byte.
func TestTheSameCommitGivesTheSameBytes(t *testing.T) {
	one := small(t)
	two := filepath.Join(t.TempDir(), "elsewhere")
	if _, err := output(".", nil, "git", "clone", "-q", one, two); err != nil {
		t.Fatal(err)
	}
	a := contents(t, built(t, one))
	defer syscall.Umask(syscall.Umask(0o077))
	b := contents(t, built(t, two))
	if len(a) != 4 {
		t.Errorf("%d files, want the archive, two SBOMs and the statement", len(a))
	}
	for name := range a {
		if !bytes.Equal(a[name], b[name]) {
			t.Errorf("%s differs", name)
		}
	}
}

func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, f := range files {
		if all[filepath.Base(f)], err = os.ReadFile(f); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// opened unpacks the archive, and reads it with the library's reader of image layouts.
func opened(t *testing.T, archive string) (v1.ImageIndex, v1.Descriptor) {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	dir := t.TempDir()
	unpack(t, f, dir)
	path, err := layout.FromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	all, err := path.ImageIndex()
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := all.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(manifest.Manifests) != 1 {
		t.Fatalf("%d images in the archive, want one index of all platforms", len(manifest.Manifests))
	}
	index, err := all.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	return index, manifest.Manifests[0]
}

func unpack(t *testing.T, r io.Reader, dir string) {
	t.Helper()
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, filepath.FromSlash(h.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeDir {
			if err := os.MkdirAll(name, os.FileMode(h.Mode)); err != nil {
				t.Fatal(err)
			}
		} else {
			content, err := io.ReadAll(tr)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, content, os.FileMode(h.Mode)); err != nil {
				t.Fatal(err)
			}
		}
		if os.Getuid() == 0 {
			if err := os.Chown(name, h.Uid, h.Gid); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestTheArchiveIsAnImageOfBothPlatforms: sizes and digests are right, and containerd can import the image by its name.
func TestTheArchiveIsAnImageOfBothPlatforms(t *testing.T) {
	dir := built(t, small(t), "--name", "registry.example.com/team/jobledger")
	index, entry := opened(t, filepath.Join(dir, "jobledger-v1.2.3.oci.tar"))
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	if got, want := entry.Annotations["io.containerd.image.name"], "registry.example.com/team/jobledger:v1.2.3"; got != want {
		t.Errorf("containerd imports it as %s, want %s", got, want)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var platforms []string
	for _, d := range manifest.Manifests {
		platforms = append(platforms, d.Platform.String())
		img, err := index.Image(d.Digest)
		if err != nil {
			t.Fatal(err)
		}
		config, err := img.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if path := strings.Join(config.Config.Env, " "); path != "PATH=/" {
			t.Errorf("%s: the environment is %q: 'kubectl exec … -- jobledger' does not find the program", d.Platform, path)
		}
		if c := config.Config; c.User != "65532:65532" || strings.Join(c.Entrypoint, " ") != "/jobledger" || len(config.RootFS.DiffIDs) != 1 {
			t.Errorf("%s: user %s, entrypoint %s, %d layers", d.Platform, c.User, c.Entrypoint, len(config.RootFS.DiffIDs))
		}
	}
	if got := strings.Join(platforms, " "); got != "linux/amd64 linux/arm64" {
		t.Errorf("platforms %s", got)
	}

	var s statement
	if err := json.Unmarshal(contents(t, dir)["jobledger-v1.2.3.intoto.json"], &s); err != nil {
		t.Fatal(err)
	}
	digest, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if s.Subject[0].Digest["sha256"] != digest.Hex || len(s.Subject) != 4 {
		t.Errorf("the statement is about %v, want the image %s and three files", s.Subject, digest)
	}
}

// TestTheProgramRunsOnNothing runs the program with only the image's files, as the image's user, which cannot write to
// them.
func TestTheProgramRunsOnNothing(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("to change the root directory takes root")
	}
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
	root := t.TempDir()
	for dir := root; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	files := mutate.Extract(img)
	defer files.Close()
	unpack(t, files, root)
	cmd := exec.Command("/jobledger")
	cmd.Dir = logDir
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: user, Gid: user}}
	out, err := cmd.CombinedOutput()
	if want := "v1.2.3 65532 /var/lib/jobledger <nil>\n"; err != nil || string(out) != want {
		t.Errorf("got %q, %v, want %q", out, err, want)
	}
}

func TestMistakesInTheFlags(t *testing.T) {
	for _, row := range []struct{ args, want string }{
		{"--platform linux/riscv64", "--platform linux/riscv64: linux/amd64 and linux/arm64 are built"},
		{"--version v1+dirty", `--version "v1+dirty" cannot be the tag of an image`},
		{"now", `it takes no arguments, and got "now"`},
	} {
		err := run(append([]string{"--source", small(t)}, strings.Fields(row.args)...), io.Discard)
		if !errors.As(err, new(usageError)) || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %s", row.args, err, row.want)
		}
	}
	if err := run([]string{"--source", t.TempDir()}, io.Discard); err == nil || !strings.Contains(err.Error(), "is built from a commit") {
		t.Errorf("outside of a repository: %v", err)
	}
}
