package main

import (
	"fmt"
	"strings"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/spf13/cobra"
)

// addHelp adds the commands that come with the library, and makes them refuse what they do not know: left alone they
// show something else, and end well.
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
