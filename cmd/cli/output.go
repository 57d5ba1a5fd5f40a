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

// OutputFlag is the flag -o, with --local.
type OutputFlag struct {
	Format   string
	template string   // template of jsonpath
	formats  []string // formats that the command supports
	Local    bool     // times for people are in the time zone of this machine
}

// Add adds -o with the usual formats.
func (o *OutputFlag) Add(cmd *cobra.Command) { o.AddFormats(cmd, Formats...) }

// AddObjects adds -o with the usual formats and with name and jsonpath, for commands that show objects.
func (o *OutputFlag) AddObjects(cmd *cobra.Command) {
	o.AddFormats(cmd, append(slices.Clone(Formats), FormatName, FormatPath)...)
}

// AddFormats adds -o with the given formats. The default is a table.
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

// AddLocal adds --local, for commands that show times to people or parse times from them.
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

// TextZone returns the time zone for times inside sentences. In JSON and YAML it is UTC.
func (o *OutputFlag) TextZone() words.Zone {
	if o.Document() {
		return words.Zone{}
	}
	return o.Zone()
}

// Validate returns a UsageError for a format that the command does not support.
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

// offered is the key of the annotation that holds a flag's values for completion.
const offered = "jobledger_values"

// CompleteWith sets the values of a flag that the shell can complete; see OfferValues.
func CompleteWith(cmd *cobra.Command, flag string, values ...string) {
	if err := cmd.Flags().SetAnnotation(flag, offered, values); err != nil {
		panic(err) // only if there is no such flag
	}
}

// OfferValues gives the shell the values of all flags of a command and its subcommands. It is called only when the
// shell asks for completions: cobra keeps a flag with a completion function, and everything that the flag's value
// references, for the life of the process.
func OfferValues(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		values, has := flag.Annotations[offered]
		if !has {
			return
		}
		err := cmd.RegisterFlagCompletionFunc(flag.Name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
		if err != nil {
			panic(err) // only if it has values already
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

// Document prints JSON, unchanged or converted to YAML.
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

// executeTemplate writes what a JSONPath template makes of a value. A missing field gives no output, as in kubectl.
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

// Fields returns a value as the maps, slices and texts of its JSON, with the texts made safe for a terminal.
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

// FieldOf returns the value at a path in a tree of maps and slices. If the field does not exist it returns nil, or an
// error if missing is not set.
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

// Page returns a page on which Jobs are shown to people.
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
