package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/cmd/cli"
)

func newVersion(c *cli.CLI) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Say which version this is",
		Args:  cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			b := cli.ThisBuild()
			switch output {
			case "":
				fmt.Fprintln(c.Out, b)
				return nil
			case cli.FormatJSON, cli.FormatYAML:
				text, err := json.MarshalIndent(b, "", "  ")
				if err != nil {
					return err
				}
				return c.Document(output, text)
			}
			return cli.Usage("-o %s: must be json or yaml", output)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "json or yaml instead of a line")
	cli.CompleteWith(cmd, "output", cli.FormatJSON, cli.FormatYAML)
	return cmd
}
