//go:build linux

package installed

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jobledger/jobledger/test/binaries"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/built"
	"github.com/jobledger/jobledger/test/internal/deployed"
	"github.com/jobledger/jobledger/test/node"
)

var plane *controlplane.ControlPlane

func TestMain(m *testing.M) { node.Main(m, prepare, setUp) }

// Files that prepare leaves in the directory of the node.
const (
	chartFile   = "chart.json"
	volumeDir   = "volume"
	imageFiles  = "jobledger-v*.oci.tar"
	busyboxFile = "busybox-1.37.oci.tar"
	kubectlFile = "kubectl-1.36.oci.tar"
	imageTag    = "v0.0.0-installed"
)

// values are the values of the chart.
const values = `
image: {tag: ` + imageTag + `}
log: {maxSize: 200Mi, volume: {size: 1Gi, storageClassName: local}}
`

func prepare(ctx context.Context, dir string) error {
	root, err := binaries.FindRoot()
	if err != nil {
		return err
	}
	if _, err := binaries.Ensure(ctx, binaries.Config{Programs: binaries.Installers}); err != nil {
		return err
	}
	if err := makeImage(ctx, root, dir, "jobledger", imageTag); err != nil {
		return err
	}
	name, tags, err := documentedImages()
	if err != nil {
		return err
	}
	for _, tag := range tags {
		if err := makeImage(ctx, root, dir, name, tag+madeHere); err != nil {
			return err
		}
	}
	objects, err := deployed.Chart(ctx, "jobledger", values)
	if err != nil {
		return err
	}
	list := unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "List"}, Items: objects}
	text, err := json.Marshal(&list)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, chartFile), text, 0o644); err != nil {
		return err
	}
	if _, err := built.Program(ctx, dir); err != nil {
		return err
	}
	busybox, err := node.Busybox(ctx)
	if err != nil {
		return err
	}
	if _, err := busybox.Make(ctx, dir); err != nil {
		return err
	}
	kubectl := busybox
	kubectl.Name = "kubectl:1.36"
	kubectl.Files = map[string]string{"bin/kubectl": filepath.Join(root, "bin", "controlplane", binaries.Kubectl), "bin/busybox": busybox.Files["bin/busybox"]}
	_, err = kubectl.Make(ctx, dir)
	return err
}

// madeHere is the suffix of the image versions in the pages. Without it they would be versions of a release, which
// cannot be built while the work tree has changes.
const madeHere = "-installed"

// documentedImages returns the images that the pages name.
func documentedImages() (name string, tags []string, err error) {
	blocks, err := documented()
	if err != nil {
		return "", nil, err
	}
	name, tags = images(blocks)
	return name, tags, nil
}

// makeImage makes the image of the present program, like 'make image', only for this machine's platform.
func makeImage(ctx context.Context, root, dir, name, tag string) error {
	image := exec.CommandContext(ctx, "go", "run", ".", "--source", root, "--out", dir, "--name", name, "--version", tag,
		"--platform", "linux/"+runtime.GOARCH)
	image.Dir = filepath.Join(root, "internal", "dev", "image")
	if out, err := image.CombinedOutput(); err != nil {
		return errors.Join(err, errors.New(string(out)))
	}
	return nil
}

func setUp(ctx context.Context) (func() error, error) {
	in := func(name string) string { return filepath.Join(node.Dir(), name) }
	if err := os.Mkdir(in(volumeDir), 0o755); err != nil {
		return nil, err
	}
	var err error
	plane, err = controlplane.Start(ctx, controlplane.Options{RealNodes: true, Controllers: node.Controllers, DataDir: in("cp"), Keep: true})
	if err != nil {
		return nil, err
	}
	archives, err := filepath.Glob(in(imageFiles))
	if err != nil {
		return nil, errors.Join(err, plane.Stop())
	}
	n, err := node.Start(ctx, plane, append(archives, in(busyboxFile), in(kubectlFile))...)
	if err != nil {
		return nil, errors.Join(err, plane.Stop())
	}
	stop := func() error { return errors.Join(n.Stop(), plane.Stop()) }
	name, tags, err := documentedImages()
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	for _, tag := range tags {
		if err := n.Tag(ctx, name+":"+tag+madeHere, name+":"+tag); err != nil {
			return nil, errors.Join(err, stop())
		}
	}
	return stop, nil
}
