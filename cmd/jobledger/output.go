package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// The output formats.
const (
	formatTable = "table"
	formatWide  = "wide"
	formatJSON  = "json"
	formatYAML  = "yaml"
)

var formats = []string{formatTable, formatWide, formatJSON, formatYAML}

// outputFlag is -o.
type outputFlag struct{ format string }

func (o *outputFlag) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.format, "output", "o", formatTable, "table, wide (nothing is cut), json or yaml")
	completeWith(cmd, "output", formats...)
}

func (o *outputFlag) validate() error {
	if !slices.Contains(formats, o.format) {
		return usage("-o %s: must be one of %s", o.format, strings.Join(formats, ", "))
	}
	return nil
}

// completeWith offers the values of a flag to the shell.
func completeWith(cmd *cobra.Command, flag string, values ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // there is no such flag, or it has values already
	}
}

// document prints JSON as it is, or as YAML.
func (c *cli) document(format string, json []byte) error {
	if format == formatYAML {
		text, err := yaml.JSONToYAML(json)
		if err != nil {
			return fmt.Errorf("write YAML: %w", err)
		}
		_, err = c.out.Write(text)
		return err
	}
	_, err := c.out.Write(append(json, '\n'))
	return err
}
