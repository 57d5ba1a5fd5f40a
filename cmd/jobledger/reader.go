//go:build reader

package main

import "github.com/spf13/cobra"

// With the build tag reader the program has the commands that read a log, and no other. It is compiled in a third of the time.

func acting(*cli) []*cobra.Command { return nil }

// elsewhere says where commands are that this program does not have.
const elsewhere = ": this program only reads logs, and 'make build' makes the one that has all commands"

// namespaceOfKubeconfig: this program reads no kubeconfig, so -n says the namespace.
func namespaceOfKubeconfig() (string, error) { return "", nil }
