//go:build !reader

package main

import "github.com/jobledger/jobledger/cmd/acting"

// The build tag reader leaves this file out. Then the program has the commands that read a log, and no other, and is
// compiled in a third of the time.
func init() {
	actingCommands, kubeNamespace = acting.Commands, acting.KubeNamespace
}
