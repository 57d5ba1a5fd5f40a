//go:build linux

package node

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/jobledger/jobledger/test/binaries"
)

// Image describes a container image that a test builds: a few files, without a base image.
type Image struct {
	Name       string            // name with the tag, such as busybox:1.37
	Files      map[string]string // by path in the image: the file on this machine; its mode is kept
	Links      map[string]string // by path in the image: the target of the link
	Entrypoint []string
	User       string // numeric user and group; empty: root
}

// Make writes the image as an OCI archive into dir, with the tool of 'make image', and returns the path. It needs Go
// modules from the network, so call it in Prepare.
func (i Image) Make(ctx context.Context, dir string) (archive string, err error) {
	repository, err := binaries.FindRoot()
	if err != nil {
		return "", err
	}
	root, err := os.MkdirTemp("", "jobledger-image-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(root) }() // an error only leaves temporary files behind
	if err := i.layOut(root); err != nil {
		return "", fmt.Errorf("make the image %s: %w", i.Name, err)
	}
	archive = filepath.Join(dir, strings.NewReplacer("/", "-", ":", "-").Replace(i.Name)+".oci.tar")
	args := []string{"run", ".", "tree", "--root", root, "--name", i.Name, "--out", archive}
	if len(i.Entrypoint) > 0 {
		args = append(args, "--entrypoint", strings.Join(i.Entrypoint, ","))
	}
	if i.User != "" {
		args = append(args, "--user", i.User)
	}
	return archive, runIn(ctx, filepath.Join(repository, "internal", "dev", "image"), "go", args...)
}

// layOut writes the files of the image into root.
func (i Image) layOut(root string) error {
	if err := os.Mkdir(filepath.Join(root, "tmp"), 0o777); err != nil {
		return err
	}
	if err := os.Chmod(filepath.Join(root, "tmp"), 0o777|os.ModeSticky); err != nil {
		return err
	}
	for path, source := range i.Files {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := copyFile(path, source); err != nil {
			return err
		}
	}
	for path, target := range i.Links {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.Symlink(target, path); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(path, source string) error {
	in, err := os.Open(source)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm())
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}

// runIn runs a program in a directory, with cgo off, so that programs that it builds need no libraries.
func runIn(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "PWD="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// BuildProgram builds a program of the module test into file, statically linked.
func BuildProgram(ctx context.Context, pkg, file string) error {
	root, err := binaries.FindRoot()
	if err != nil {
		return err
	}
	return runIn(ctx, filepath.Join(root, "test"), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", file, pkg)
}

// Busybox returns an image of Debian's busybox, with a link for each of its commands. It has the name that our examples
// use.
func Busybox(ctx context.Context) (Image, error) {
	list, err := exec.CommandContext(ctx, busyboxFile, "--list").Output()
	if err != nil {
		return Image{}, fmt.Errorf("list the commands of busybox: %w", err)
	}
	i := Image{Name: "busybox:1.37", Files: map[string]string{"bin/busybox": busyboxFile}, Links: map[string]string{}}
	for _, command := range strings.Fields(string(list)) {
		if command != "busybox" {
			i.Links["bin/"+command] = "busybox"
		}
	}
	return i, nil
}

// The image of the pause container, the first process of each pod.
const (
	pauseName    = "jobledger.test/pause:1"
	pauseArchive = "jobledger.test-pause-1.oci.tar"
)

func makePause(ctx context.Context, dir string) error {
	i := Pause(dir)
	if err := BuildProgram(ctx, "./node/pause", i.Files["pause"]); err != nil {
		return err
	}
	_, err := i.Make(ctx, dir)
	return err
}

// Pause returns the image of the pause container, the first process of each pod. Main builds the program into dir
// before it calls Prepare.
func Pause(dir string) Image {
	return Image{Name: pauseName, Files: map[string]string{"pause": filepath.Join(dir, "pause")}, Entrypoint: []string{"/pause"}, User: "65535:65535"}
}
