package main

import (
	"fmt"
	"strings"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/spf13/cobra"
)

// addHelp adds cobra's commands help and completion. It makes them return an error for unknown arguments, for which
// they would otherwise print something else, and succeed.
func addHelp(c *cli.CLI, root *cobra.Command) {
	flags := fmt.Sprintf(".FlagUsagesWrapped %d", c.Width())
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", flags))
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Args = func(_ *cobra.Command, args []string) error {
				about, rest, err := root.Find(args)
				if err != nil {
					return err
				}
				return knownCommand(about, rest)
			}
		case "completion":
			cmd.Args, cmd.RunE = knownCommand, showHelp
		}
	}
}

func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }
