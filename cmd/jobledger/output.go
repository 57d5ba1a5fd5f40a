package main

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/util/jsonpath"

	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
)

// The output formats.
const (
	formatTable = "table"
	formatWide  = "wide"
	formatJSON  = "json"
	formatYAML  = "yaml"
	formatName  = "name"
	formatPath  = "jsonpath" // written jsonpath=TEMPLATE
)

var formats = []string{formatTable, formatWide, formatJSON, formatYAML}

// outputFlag is -o.
type outputFlag struct {
	format   string
	template string   // of jsonpath
	formats  []string // that may be given
	local    bool     // times for people are in the zone of this machine
}

func (o *outputFlag) add(cmd *cobra.Command) { o.addFormats(cmd, formats...) }

// addObjects is for commands that show objects: these have names and fields.
func (o *outputFlag) addObjects(cmd *cobra.Command) {
	o.addFormats(cmd, append(slices.Clone(formats), formatName, formatPath)...)
}

func (o *outputFlag) addFormats(cmd *cobra.Command, formats ...string) {
	last := len(formats) - 1
	text := strings.Replace(strings.Join(formats[:last], ", ")+" or "+formats[last], formatPath, formatPath+"=TEMPLATE", 1)
	cmd.Flags().StringVarP(&o.format, "output", "o", formatTable, strings.Replace(text, formatWide, "wide (nothing is cut)", 1))
	offered := slices.Clone(formats)
	if i := slices.Index(offered, formatPath); i >= 0 {
		offered[i] += "="
	}
	completeWith(cmd, "output", offered...)
	o.formats = formats
}

// addLocal is for commands that show times to people in whatever zone, and read them likewise.
func (o *outputFlag) addLocal(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.local, "local", false, "times for people in the time zone of this machine; JSON and YAML stay in UTC")
}

// zone is that of the times for people, and of those that people give without one.
func (o *outputFlag) zone() words.Zone {
	if o.local {
		return words.Zone{Location: time.Local}
	}
	return words.Zone{}
}

// textZone is that of the times in sentences: documents say them in UTC.
func (o *outputFlag) textZone() words.Zone {
	if o.document() {
		return words.Zone{}
	}
	return o.zone()
}

func (o *outputFlag) validate() error {
	format, template, has := strings.Cut(o.format, "=")
	if format == formatPath && slices.Contains(o.formats, formatPath) {
		if !has || template == "" {
			return usage("-o jsonpath wants a template: -o jsonpath='{.state}'")
		}
		o.format, o.template = format, template
		return checkTemplate("-o jsonpath", template)
	}
	if !slices.Contains(o.formats, o.format) {
		all := strings.Replace(strings.Join(o.formats, ", "), formatPath, formatPath+"=TEMPLATE", 1)
		return usage("-o %s: must be one of %s", o.format, all)
	}
	return nil
}

// document reports whether the format is that of a value, and no table.
func (o *outputFlag) document() bool {
	return o.format == formatJSON || o.format == formatYAML || o.format == formatPath
}

// completeWith offers the values of a flag to the shell.
func completeWith(cmd *cobra.Command, flag string, values ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // there is no such flag, or it has values already
	}
}

// value prints a value as JSON, as YAML, or by a template.
func (c *cli) value(o *outputFlag, v any) error {
	if o.format == formatPath {
		return executeTemplate(c.out, o.template, v)
	}
	text, err := show.Indented(v)
	if err != nil {
		return err
	}
	return c.document(o.format, recordjson.WithDamage(text, c.met.Met()))
}

// document prints JSON as it is, or as YAML.
func (c *cli) document(format string, json []byte) error {
	if format == formatYAML {
		text, err := c.yaml(json)
		if err != nil {
			return err
		}
		_, err = c.out.Write(text)
		return err
	}
	_, err := c.out.Write(append(json, '\n'))
	return err
}

// checkTemplate refuses what is no JSONPath template.
func checkTemplate(flag, text string) error {
	if err := jsonpath.New("").Parse(text); err != nil {
		return usage("%s: %v", flag, err)
	}
	return nil
}

// executeTemplate writes what a JSONPath template gives of a value. A field that is not there gives nothing, as with kubectl.
func executeTemplate(out io.Writer, text string, v any) error {
	tree, err := fields(v)
	if err != nil {
		return err
	}
	path := jsonpath.New("").AllowMissingKeys(true)
	if err := path.Parse(text); err != nil {
		return fmt.Errorf("-o jsonpath: %w", err)
	}
	if err := path.Execute(out, tree); err != nil {
		return fmt.Errorf("-o jsonpath: %w", err)
	}
	return nil
}

// fields is a value as its JSON has it, whose texts are safe to print.
func fields(v any) (any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var tree any
	if err := utiljson.Unmarshal(text, &tree); err != nil {
		return nil, err
	}
	return cleaned(tree), nil
}

func cleaned(tree any) any {
	switch t := tree.(type) {
	case string:
		return words.Clean(t)
	case []any:
		for i := range t {
			t[i] = cleaned(t[i])
		}
	case map[string]any:
		for k := range t {
			t[k] = cleaned(t[k])
		}
	}
	return tree
}

// fieldOf finds the value at a path in a tree; nil when it is not there.
func fieldOf(tree any, path string, missing bool) (any, error) {
	p := jsonpath.New("").AllowMissingKeys(missing)
	if err := p.Parse(path); err != nil {
		return nil, err
	}
	results, err := p.FindResults(tree)
	if err != nil {
		return nil, err
	}
	for _, some := range results {
		for _, v := range some {
			if v.IsValid() && v.Kind() == reflect.Interface {
				v = v.Elem()
			}
			if v.IsValid() {
				return v.Interface(), nil
			}
		}
	}
	return nil, nil
}

// braced writes a path as JSONPath wants it, however much of that the user left out: name, .name, {.name}.
func braced(path string) string {
	path = strings.TrimSuffix(strings.TrimPrefix(path, "{"), "}")
	return "{." + strings.TrimPrefix(path, ".") + "}"
}
