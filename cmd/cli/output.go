package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/util/jsonpath"

	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
)

// The output formats of -o.
const (
	FormatTable = "table"
	FormatWide  = "wide"
	FormatJSON  = "json"
	FormatYAML  = "yaml"
	FormatName  = "name"
	FormatPath  = "jsonpath" // given as jsonpath=TEMPLATE

	FormatMarkdown = "md" // Markdown, to paste into a chat
)

var Formats = []string{FormatTable, FormatWide, FormatJSON, FormatYAML}

// OutputFlag is the flag -o (the output format), with --local.
type OutputFlag struct {
	Format   string
	template string   // the template of the format jsonpath
	formats  []string // formats that the command has
	Local    bool     // times in texts for people are in this machine's time zone
}

// Add adds the flag -o with the usual formats.
func (o *OutputFlag) Add(cmd *cobra.Command) { o.AddFormats(cmd, Formats...) }

// AddObjects adds the flag -o with the usual formats, name and jsonpath, to commands that show objects.
func (o *OutputFlag) AddObjects(cmd *cobra.Command) {
	o.AddFormats(cmd, append(slices.Clone(Formats), FormatName, FormatPath)...)
}

// AddFormats adds the flag -o with these formats. The default is a table.
func (o *OutputFlag) AddFormats(cmd *cobra.Command, formats ...string) {
	last := len(formats) - 1
	text := strings.Replace(strings.Join(formats[:last], ", ")+" or "+formats[last], FormatPath, FormatPath+"=TEMPLATE", 1)
	cmd.Flags().StringVarP(&o.Format, "output", "o", FormatTable, strings.Replace(text, FormatWide, "wide (nothing is cut)", 1))
	values := slices.Clone(formats)
	if i := slices.Index(values, FormatPath); i >= 0 {
		values[i] += "="
	}
	CompleteWith(cmd, "output", values...)
	o.formats = formats
}

// AddLocal adds the flag --local, to commands that print times for people or accept them.
func (o *OutputFlag) AddLocal(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.Local, "local", false, "times for people in the time zone of this machine; JSON and YAML stay in UTC")
}

// Zone returns the time zone for times that are shown to people, and for times that people give without a zone.
func (o *OutputFlag) Zone() words.Zone {
	if o.Local {
		return words.Zone{Location: time.Local}
	}
	return words.Zone{}
}

// TextZone returns the time zone for times in sentences. With JSON and YAML this is UTC.
func (o *OutputFlag) TextZone() words.Zone {
	if o.Document() {
		return words.Zone{}
	}
	return o.Zone()
}

// Validate returns a UsageError if the command does not have the format.
func (o *OutputFlag) Validate() error {
	format, template, has := strings.Cut(o.Format, "=")
	if format == FormatPath && slices.Contains(o.formats, FormatPath) {
		if !has || template == "" {
			return Usage("-o jsonpath wants a template: -o jsonpath='{.state}'")
		}
		o.Format, o.template = format, template
		return checkTemplate("-o jsonpath", template)
	}
	if !slices.Contains(o.formats, o.Format) {
		all := strings.Replace(strings.Join(o.formats, ", "), FormatPath, FormatPath+"=TEMPLATE", 1)
		return Usage("-o %s: must be one of %s", o.Format, all)
	}
	return nil
}

// Document reports whether the format is JSON, YAML or jsonpath.
func (o *OutputFlag) Document() bool {
	return o.Format == FormatJSON || o.Format == FormatYAML || o.Format == FormatPath
}

// offered is the key of a flag's annotation that has the values for the shell's completion.
const offered = "jobledger_values"

// CompleteWith sets which values of a flag the shell can offer (see OfferValues).
func CompleteWith(cmd *cobra.Command, flag string, values ...string) {
	if err := cmd.Flags().SetAnnotation(flag, offered, values); err != nil {
		panic(err) // a bug: it fails only if there is no such flag
	}
}

// OfferValues registers the values that the shell can offer for all flags of a command and its subcommands. It is
// called only when the shell asks for completions: cobra keeps a flag with a completion function, and everything that
// the flag's value references, for the life of the process.
func OfferValues(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		values, has := flag.Annotations[offered]
		if !has {
			return
		}
		err := cmd.RegisterFlagCompletionFunc(flag.Name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
		if err != nil {
			panic(err) // a bug: it fails only if it has values
		}
	})
	for _, below := range cmd.Commands() {
		OfferValues(below)
	}
}

// Value prints a value as JSON or YAML, or by a JSONPath template.
func (c *CLI) Value(o *OutputFlag, v any) error {
	if o.Format == FormatPath {
		return executeTemplate(c.Out, o.template, v)
	}
	text, err := show.Indented(v)
	if err != nil {
		return err
	}
	return c.Document(o.Format, recordjson.WithDamage(text, c.Met.Met()))
}

// Document prints JSON as it is, or as YAML.
func (c *CLI) Document(format string, json []byte) error {
	if format == FormatYAML {
		text, err := c.yaml(json)
		if err != nil {
			return err
		}
		_, err = c.Out.Write(text)
		return err
	}
	_, err := c.Out.Write(append(json, '\n'))
	return err
}

// checkTemplate returns a UsageError for a JSONPath template that is not valid.
func checkTemplate(flag, text string) error {
	if err := jsonpath.New("").Parse(text); err != nil {
		return Usage("%s: %v", flag, err)
	}
	return nil
}

// executeTemplate prints a value by a JSONPath template. A missing field prints nothing, as in kubectl.
func executeTemplate(out io.Writer, text string, v any) error {
	tree, err := Fields(v)
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

// Fields returns a value as the tree of maps, slices and texts that its JSON has. Texts are made safe for a terminal.
func Fields(v any) (any, error) {
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

// FieldOf returns the value at a path of such a tree. If there is no such field, it returns nil; if missing is false,
// an error.
func FieldOf(tree any, path string, missing bool) (any, error) {
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

// Braced returns a path in the form that JSONPath expects: name, .name and {.name} all become {.name}.
func Braced(path string) string {
	path = strings.TrimSuffix(strings.TrimPrefix(path, "{"), "}")
	return "{." + strings.TrimPrefix(path, ".") + "}"
}

// Page returns what prints Jobs for people: with the width, the colours and the time zone of this output.
func (c *CLI) Page(output *OutputFlag) *show.Page {
	page := &show.Page{
		Out: c.Out, Colour: c.Colour(), Wide: output.Format == FormatWide, Whole: c.Piped(), Zone: output.Zone(),
	}
	if !page.Wide {
		page.Width = c.Width()
		_, page.Asked = c.AskedWidth()
	}
	return page
}
