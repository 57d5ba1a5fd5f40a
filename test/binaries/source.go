package binaries

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// Source returns the directory, in Go's module cache, of the module from which a program is built. The directory also
// contains the manifests that install the program.
func Source(ctx context.Context, name string) (string, error) {
	root, err := FindRoot()
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(programs, func(p program) bool { return p.name == name })
	if i < 0 {
		return "", fmt.Errorf("find the source of %s: nothing of that name is built", name)
	}
	p := programs[i]
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", p.module)
	cmd.Dir = filepath.Join(root, filepath.Dir(filepath.FromSlash(toolsMarker)), p.tools)
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS="+withoutModFlag(os.Getenv("GOFLAGS")), "PWD="+cmd.Dir)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	var module struct{ Dir, Error string }
	if err == nil {
		err = json.Unmarshal(out, &module)
	}
	if err == nil && module.Dir == "" {
		err = errors.New("it has no directory")
	}
	if err != nil {
		return "", fmt.Errorf("find the source of %s: %w\n%s%s", name, err, module.Error, &complaint)
	}
	return module.Dir, nil
}
