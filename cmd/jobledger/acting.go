//go:build !reader

package main

import (
	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/cmd/acting"
)

// This file adds the commands that need Kubernetes or NATS, such as run. The build tag reader leaves it out; the
// program then has only the commands that read a log, and compiles in a third of the time.
func init() {
	actingCommands, kubeNamespace, findReader = acting.Commands, acting.KubeNamespace, acting.FindReader
	newReplicas = func(verify *cobra.Command) replicaVerifier { return acting.NewReplicas(verify) }
}
