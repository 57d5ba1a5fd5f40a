//go:build !reader

package main

import (
	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/spf13/cobra"
	_ "golang.org/x/crypto/x509roots/fallback" // the roots of public servers, such as a NATS service, where the system has none
)

// acting are the commands that do more than read a log. Most of what is compiled for this program is what they need of Kubernetes and
// NATS; reader.go leaves them out.
func acting(c *cli.CLI) []*cobra.Command {
	return []*cobra.Command{newRun(c), newSubscribe(c), newDoctor(c), newPrune(c), newBackup(c), newRestore(c), newDrill(c), newTrigger(c), newRelease(c)}
}

// elsewhere is what is said of a command that this program does not have and another one has.
func elsewhere(string) string { return "" }

// kubeNamespace is the namespace of the kubeconfig's current context.
var kubeNamespace = namespaceOfKubeconfig
