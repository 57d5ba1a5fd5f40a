package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/store"
)

// Functions that acting.go sets; nil in a program that can only read logs.
var (
	actingCommands func(*cli.CLI) []*cobra.Command
	kubeNamespace  func(kubeconfig, context string) (string, error)
	findReader     func(context.Context, cli.Cluster) (*serve.Reader, error)
	newReplicas    func(verify *cobra.Command) replicaVerifier // adds the flags of --replicas to verify
)

// elsewhere returns the message for a command that this program lacks and the full program has; empty for any other
// word.
func elsewhere(name string) string {
	if actingCommands != nil {
		return ""
	}
	switch name {
	case "run", "serve", "subscribe", "doctor", "prune", "backup", "restore", "clone", "drill", "trigger", "release":
		return fmt.Sprintf("this program only reads logs and has no %q: 'make build' makes the one that has it", name)
	}
	return ""
}

const rootHelp = `What went wrong?      jobledger failures --log DIR --since 8h   what is stuck or failed
Why?                  jobledger explain NAME --log DIR          of a Job, a CronJob or a pod
Why was nothing run?  jobledger ticks NAME --log DIR            what became of each due time

In a cluster with a reader, leave --log out: it is asked with the rights of your kubeconfig.
  kubectl jobledger explain NAME -n NAMESPACE
In a cluster without one the log is in the controller's pod:
  ` + cli.InCluster + `

Jobledger runs Kubernetes Jobs and writes down everything it sees, decides and does in a durable
log, from which each decision can be shown, explained and made again.

An object is named by NAME, NAMESPACE/NAME, job/NAME, pod/NAME or cronjob/NAME. -n gives the
namespace, too.

Commands that read take --log DIR for a log directory, or --server URL for a controller that runs.
When a controller has the directory open, --log DIR asks that controller. Without both they find
the reader of the cluster ($KUBECONFIG, --context) and ask it as you: you may read the namespaces
in which you may list Jobs. Times are in UTC, or with
--local in the zone of this machine.

Lines are as wide as the terminal, 100 columns without one, or what $COLUMNS says. In a pipe a row
of a list says why in one line, whole, unless $COLUMNS says how wide it may be. Where the locale
(LC_ALL, LC_CTYPE or LANG) is one without UTF-8, all output is ASCII: ~ stands where a text was cut,
and what others wrote is escaped as in JSON.`

func newRoot(c *cli.CLI, name string) *cobra.Command {
	if c.Met == nil {
		c.Met = &store.Damage{}
	}
	root := &cobra.Command{
		Use:          "jobledger",
		Short:        "A Kubernetes Job controller whose memory is a log",
		Long:         rootHelp,
		Version:      cli.ThisBuild().String(),
		SilenceUsage: true, SilenceErrors: true,
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: name},
		Args:        knownCommand,
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			c.Begun = true
			if format := cmd.Flags().Lookup("output"); c.ASCII != nil && format != nil {
				c.ASCII.JSON = format.Value.String() == cli.FormatJSON
			}
			return namespaceOf(c, cmd, args)
		},
		RunE: showHelp,
	}
	root.SuggestionsMinimumDistance = 2
	root.SetFlagErrorFunc(plainFlagError)
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetOut(c.Out)
	root.SetErr(c.Err)
	root.AddCommand(newGet(c), newExplain(c), newAttempts(c), newTimeline(c), newFailures(c), newFind(c), newUI(c), newMCP(c),
		newPlan(c), newEvents(c), newReplay(c), newVerify(c), newVersion(c))
	root.AddCommand(newTicks(c), newNext(c), newWhyNot(c))
	if actingCommands != nil {
		root.AddCommand(actingCommands(c)...)
	}
	for _, cmd := range root.Commands() {
		cmd.SuggestFor = alike[cmd.Name()]
	}
	addAllNamespaces(root)
	addHelp(c, root)
	return root
}
