package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/spf13/pflag"
)

// tree is an image of arbitrary files: the files of a directory are its only layer. Tests on a real node build their
// images this way.
type tree struct {
	root       string // the directory whose files are the layer
	name       string // name of the image, with its tag
	entrypoint []string
	user       string
	out        string // path of the archive to write
}

// runTree is the command 'image tree': it writes an image of the files of a directory.
func runTree(args []string, out io.Writer) error {
	var t tree
	flags := pflag.NewFlagSet("image tree", pflag.ContinueOnError)
	flags.StringVar(&t.root, "root", "", "directory with the files of the image")
	flags.StringVar(&t.name, "name", "", "name of the image, with its tag")
	flags.StringSliceVar(&t.entrypoint, "entrypoint", nil, "the program and its arguments, separated by commas")
	flags.StringVar(&t.user, "user", "", "numbers of the user and the group that it runs as (default: root)")
	flags.StringVar(&t.out, "out", "", "file for the OCI archive")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return nil
		}
		return usageError{err}
	}
	if _, tag, ok := strings.Cut(t.name, ":"); !ok || !validTag(tag) || t.root == "" || t.out == "" || flags.NArg() > 0 {
		return usageError{fmt.Errorf("it takes --root, --out and --name NAME:TAG, and no arguments")}
	}
	archive, err := t.archive()
	if err != nil {
		return err
	}
	if err := os.WriteFile(t.out, archive, 0o644); err != nil {
		return err
	}
	fmt.Fprintln(out, t.out)
	return nil
}

// archive returns the image as an OCI archive, for this machine's platform.
func (t tree) archive() ([]byte, error) {
	l, err := treeLayer(t.root)
	if err != nil {
		return nil, err
	}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if img, err = mutate.Append(img, mutate.Addendum{Layer: l, MediaType: types.OCILayer, History: v1.History{CreatedBy: "image tree"}}); err != nil {
		return nil, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", runtime.GOARCH
	config.Config = v1.Config{
		User: t.user, Entrypoint: t.entrypoint, WorkingDir: "/",
		Env: []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
	}
	if img, err = mutate.ConfigFile(img, config); err != nil {
		return nil, err
	}
	index := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), mutate.IndexAddendum{
		Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: runtime.GOARCH}},
	})
	return archiveOf(index, t.name, time.Time{})
}

// treeLayer returns a layer with the files below a directory, sorted by name. Root owns all of them.
func treeLayer(root string) (v1.Layer, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		return writeEntry(w, root, path, entry)
	})
	if err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil },
		tarball.WithMediaType("application/vnd.oci.image.layer.v1.tar+gzip"))
}

func writeEntry(w *tar.Writer, root, path string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	link := ""
	if entry.Type() == fs.ModeSymlink {
		if link, err = os.Readlink(path); err != nil {
			return err
		}
	}
	h, err := tar.FileInfoHeader(info, link)
	if err != nil {
		return err
	}
	name, err := filepath.Rel(root, path)
	if err != nil {
		return err
	}
	if h.Name = filepath.ToSlash(name); entry.IsDir() {
		h.Name += "/"
	}
	h.Uid, h.Gid, h.Uname, h.Gname, h.ModTime = 0, 0, "", "", time.Time{}
	if err := w.WriteHeader(h); err != nil || !entry.Type().IsRegular() {
		return err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	_, err = w.Write(content)
	return err
}
