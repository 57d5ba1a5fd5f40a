package main

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// TestATreeBecomesAnImage: the image has the files with their modes, the links and the directories, all owned by root,
// and the start command.
func TestATreeBecomesAnImage(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "bin", "one"), []byte("program"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("one", filepath.Join(root, "bin", "two")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "image.oci.tar")
	err := run([]string{"tree", "--root", root, "--name", "small:1", "--user", "7:8", "--entrypoint", "/bin/one,-x", "--out", file}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	index, entry := opened(t, file)
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	if got := entry.Annotations["io.containerd.image.name"]; got != "docker.io/library/small:1" {
		t.Errorf("containerd imports it as %s", got)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	img, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	config, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if c := config.Config; c.User != "7:8" || strings.Join(c.Entrypoint, " ") != "/bin/one -x" {
		t.Errorf("user %s, entrypoint %s", c.User, c.Entrypoint)
	}
	files := mutate.Extract(img)
	defer files.Close()
	var got []string
	for r := tar.NewReader(files); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		got = append(got, h.FileInfo().Mode().String()+" "+h.Name+" "+h.Linkname)
		if h.Uid != 0 || h.Gid != 0 {
			t.Errorf("%s is %d's", h.Name, h.Uid)
		}
	}
	want := "drwxr-xr-x bin \n-rwxr-xr-x bin/one \nLrwxrwxrwx bin/two one"
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("files:\n%s\nwant:\n%s", text, want)
	}
}

func TestATreeNeedsANameWithATag(t *testing.T) {
	err := run([]string{"tree", "--root", t.TempDir(), "--out", filepath.Join(t.TempDir(), "x"), "--name", "small"}, io.Discard)
	if !errors.As(err, new(usageError)) {
		t.Errorf("%v, want that it is a mistake in the flags", err)
	}
}
