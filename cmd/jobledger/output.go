package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/jobledger/jobledger/internal/show"
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
type outputFlag struct {
	format  string
	formats []string // that may be given
}

func (o *outputFlag) add(cmd *cobra.Command) { o.addFormats(cmd, formats...) }

func (o *outputFlag) addFormats(cmd *cobra.Command, formats ...string) {
	last := len(formats) - 1
	text := strings.Join(formats[:last], ", ") + " or " + formats[last]
	cmd.Flags().StringVarP(&o.format, "output", "o", formatTable, strings.Replace(text, formatWide, "wide (nothing is cut)", 1))
	completeWith(cmd, "output", formats...)
	o.formats = formats
}

func (o *outputFlag) validate() error {
	if !slices.Contains(o.formats, o.format) {
		return usage("-o %s: must be one of %s", o.format, strings.Join(o.formats, ", "))
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

// indented prints a value as JSON for reading, or as YAML.
func (c *cli) indented(o *outputFlag, v any) error {
	text, err := show.Indented(v)
	if err != nil {
		return err
	}
	return c.document(o.format, text)
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
