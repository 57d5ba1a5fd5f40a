package deployed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/jobledger/jobledger/test/binaries"
)

// Base returns the objects that 'kubectl apply -k deploy' applies, in the same order.
func Base() ([]unstructured.Unstructured, error) { return Directory(".") }

// Directory returns the objects that 'kubectl apply -k deploy/NAME' applies, in the same order. Its kustomization.yaml
// may have only resources.
func Directory(name string) ([]unstructured.Unstructured, error) {
	root, err := binaries.FindRoot()
	if err != nil {
		return nil, err
	}
	return read(filepath.Join(root, "deploy", name))
}

// read returns the objects of a kustomization's resources, which are files and directories. It returns an error if the
// kustomization has any other field.
func read(dir string) ([]unstructured.Unstructured, error) {
	text, err := os.ReadFile(filepath.Join(dir, "kustomization.yaml"))
	if err != nil {
		return nil, err
	}
	var list struct {
		APIVersion, Kind string
		Resources        []string
	}
	if err := yaml.UnmarshalStrict(text, &list); err != nil {
		return nil, fmt.Errorf("read %s/kustomization.yaml: %w", dir, err)
	}
	var all []unstructured.Unstructured
	for _, name := range list.Resources {
		path := filepath.Join(dir, name)
		var more []unstructured.Unstructured
		if info, err := os.Stat(path); err != nil {
			return nil, err
		} else if info.IsDir() {
			if more, err = read(path); err != nil {
				return nil, err
			}
		} else {
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			if more, err = objects(text); err != nil {
				return nil, fmt.Errorf("read %s: %w", path, err)
			}
		}
		all = append(all, more...)
	}
	return all, nil
}

// renderer builds the program that renders the Helm chart, once for each process, and returns its path. It replaces the
// program's file in one step, because another process may be running it.
var renderer = sync.OnceValues(func() (string, error) {
	root, err := binaries.FindRoot()
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, "bin", "test", "manifests")
	own := fmt.Sprintf("%s-%d", path, os.Getpid())
	build := exec.Command("go", "build", "-o", own, ".")
	build.Dir = filepath.Join(root, "internal", "dev", "manifests")
	if said, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build what renders the chart: %w\n%s", err, said)
	}
	return path, os.Rename(own, path)
})

// Chart returns the objects that 'helm install NAME' applies with these values, in a namespace called NAME. The
// Namespace comes first.
func Chart(ctx context.Context, name, values string) ([]unstructured.Unstructured, error) {
	root, err := binaries.FindRoot()
	if err != nil {
		return nil, err
	}
	path, err := renderer()
	if err != nil {
		return nil, err
	}
	program := exec.CommandContext(ctx, path, "render", filepath.Join(root, "deploy"), name, values)
	var complaints bytes.Buffer
	program.Stderr = &complaints
	text, err := program.Output()
	if err != nil {
		return nil, fmt.Errorf("render the chart: %w\n%s", err, complaints.String())
	}
	return objects(text)
}

// Overlay returns the objects that 'kubectl apply -k deploy/overlays/OVERLAY' applies, without ConfigMaps. The objects
// get the name name, in a namespace of that name.
func Overlay(ctx context.Context, overlay, name string) ([]unstructured.Unstructured, error) {
	root, err := binaries.FindRoot()
	if err != nil {
		return nil, err
	}
	values, err := os.ReadFile(filepath.Join(root, "deploy", "overlays", overlay, "values.yaml"))
	if err != nil {
		return nil, err
	}
	all, err := Chart(ctx, name, string(values))
	if err != nil {
		return nil, err
	}
	beside, err := File("overlays/" + overlay + "/nats.yaml")
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	for i := range beside {
		beside[i].SetNamespace(name)
	}
	return append(all, beside...), err
}

// objects parses YAML documents. The Namespace comes first in the result.
func objects(text []byte) (all []unstructured.Unstructured, err error) {
	for documents := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		var o unstructured.Unstructured
		if err := documents.Decode(&o); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		switch {
		case len(o.Object) == 0:
		case o.GetKind() == "Namespace":
			all = append([]unstructured.Unstructured{o}, all...)
		default:
			all = append(all, o)
		}
	}
}

// File returns the objects that 'kubectl apply -f deploy/NAME' applies.
func File(name string) ([]unstructured.Unstructured, error) {
	root, err := binaries.FindRoot()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(root, "deploy", filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	return objects(text)
}
