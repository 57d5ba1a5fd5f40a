//go:build reader

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/cmd/cli"
)

// With the build tag reader the program has the commands that read a log, and no other. It is compiled in a third of the time.

func acting(*cli.CLI) []*cobra.Command { return nil }

// elsewhere is what is said of a command that this program does not have and the whole one has.
func elsewhere(name string) string {
	switch name {
	case "run", "subscribe", "doctor", "prune", "backup", "restore", "drill", "trigger", "release":
		return fmt.Sprintf("this program only reads logs and has no %q: 'make build' makes the one that has it", name)
	}
	return ""
}

// kubeNamespace: this program reads no kubeconfig, so -n says the namespace.
var kubeNamespace func() (string, error)
