package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		if errors.As(err, new(usageError)) {
			os.Exit(2)
		}
		os.Exit(1)
	}
}

// usageError is the error for wrong flags or arguments.
type usageError struct{ error }

func run(args []string, out io.Writer) error {
	if len(args) > 0 && args[0] == "tree" {
		return runTree(args[1:], out)
	}
	flags := pflag.NewFlagSet("image", pflag.ContinueOnError)
	source := flags.String("source", ".", "the repository to build")
	dir := flags.String("out", "dist", "directory for the files")
	version := flags.String("version", "", "version of the program (default: what git describe says)")
	name := flags.String("name", "jobledger", "name of the image, without its tag, which is the version")
	bills := flags.Bool("sbom", false, "write the SBOMs alone")
	platforms := flags.StringSlice("platform", []string{"linux/amd64", "linux/arm64"}, "platforms to build for")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return nil
		}
		return usageError{err}
	}
	if flags.NArg() > 0 {
		return usageError{fmt.Errorf("it takes no arguments, and got %q", flags.Arg(0))}
	}
	for _, p := range *platforms {
		if os, arch, ok := strings.Cut(p, "/"); !ok || os != "linux" || !slices.Contains([]string{"amd64", "arm64"}, arch) {
			return usageError{fmt.Errorf("--platform %s: linux/amd64 and linux/arm64 are built", p)}
		}
	}

	commit, err := headOf(*source)
	if err != nil {
		return err
	}
	release := release{name: *name, version: *version, commit: commit, goVersion: runtime.Version()}
	if release.version == "" {
		release.version = commit.describe
	}
	if !validTag(release.version) {
		return usageError{fmt.Errorf("--version %q cannot be the tag of an image: letters, digits, '_', '.' and '-', at most 128", release.version)}
	}
	if err := release.releasable(); err != nil {
		return err
	}
	if commit.dirty() {
		fmt.Fprintln(out, "There are changes that no commit has. The image holds them, and can't be built again from a commit.")
	}
	if err := os.MkdirAll(*dir, 0o755); err != nil {
		return err
	}
	for _, p := range *platforms {
		fmt.Fprintf(out, "Building for %s (some minutes with nothing in the Go build cache)\n", p)
		program, err := compile(*source, p, release)
		if err != nil {
			return err
		}
		release.programs = append(release.programs, program)
	}
	wrote := func(file string) { fmt.Fprintln(out, filepath.Join(*dir, file)) }
	if *bills {
		_, err := release.writeBills(*dir, wrote)
		return err
	}
	return release.write(*dir, wrote)
}

// validTag reports whether a registry accepts s as a tag.
func validTag(s string) bool {
	if s == "" || len(s) > 128 || strings.HasPrefix(s, ".") || strings.HasPrefix(s, "-") {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.-", r))
	})
}
