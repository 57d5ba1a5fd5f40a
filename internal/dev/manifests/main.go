package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

const usage = `usage:
  manifests write DEPLOY          renew the manifests of DEPLOY from DEPLOY/chart
  manifests render DEPLOY NAME VALUES
                                  print the objects of a release of that name, in a namespace of that name, with these values`

func main() {
	var err error
	switch args := os.Args[1:]; {
	case len(args) == 2 && args[0] == "write":
		err = write(args[1])
	case len(args) == 4 && args[0] == "render":
		err = show(args[1], args[2], args[3])
	default:
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "manifests:", err)
		os.Exit(1)
	}
}

// write renders the chart and overwrites the manifests in dir.
func write(dir string) error {
	files, err := manifests(filepath.Join(dir, "chart"))
	if err != nil {
		return err
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// show prints the objects of a release, including its namespace.
func show(dir, name, values string) error {
	rendered, err := render(filepath.Join(dir, "chart"), name, base+values)
	if err != nil {
		return err
	}
	for _, file := range slices.Sorted(maps.Keys(rendered)) {
		fmt.Printf("---\n%s", rendered[file])
	}
	return nil
}
