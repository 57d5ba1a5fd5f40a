package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/internal/read/which"
)

// lists are the commands that show many Jobs, unless the user names one.
var lists = []string{"get", "events", "failures", "plan", "subscribe"}

// addAllNamespaces adds -A to the commands of lists.
func addAllNamespaces(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		if slices.Contains(lists, cmd.Name()) {
			cmd.Flags().BoolP("all-namespaces", "A", false, "all namespaces, also where kubectl's would be meant")
		}
	}
}

// namespaceOf sets the flag -n before the command begins: to the namespace in the kubeconfig's current context. It does
// so only if kubectl has called the program as a plugin, and the user names no namespace.
func namespaceOf(c *cli.CLI, cmd *cobra.Command, args []string) error {
	flags := cmd.Flags()
	all := flags.Lookup("all-namespaces") != nil && flags.Changed("all-namespaces")
	if all && flags.Changed("namespace") {
		return cli.Usage("-A and -n contradict each other: give one of them")
	}
	if all && len(args) > 0 && namesOne(args) {
		return cli.Usage("-A is for lists: say with -n where the Job is")
	}
	if c.KubeNamespace == nil || !cli.Plugin(cmd.Root().DisplayName()) || all || flags.Changed("namespace") || !wantsNamespace(cmd) {
		return nil
	}
	namespace, err := c.KubeNamespace(cli.KubeFlags(cmd))
	if err != nil || namespace == "" {
		return err
	}
	if err := flags.Set("namespace", namespace); err != nil {
		return err
	}
	return flags.SetAnnotation("namespace", cli.OfKubeconfig, []string{namespace})
}

// namesOne reports whether the arguments name one object, and not all objects of a kind. Arguments that cannot be
// parsed count as one object; a later check returns the error.
func namesOne(args []string) bool {
	h, _, err := which.Parse(args)
	return err != nil || h.Name != ""
}

// wantsNamespace reports whether the command is about a Job or a list of Jobs, and so has the flag -n.
func wantsNamespace(cmd *cobra.Command) bool {
	if cmd.Name() == "replay" && !cmd.Flags().Changed("job") {
		return false // replay without --job is of the whole log
	}
	_, marked := cmd.Annotations[cli.OfKubeconfig]
	return marked || slices.Contains(lists, cmd.Name())
}
