package acting

import (
	"fmt"
	"strings"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/run/release"
	"github.com/jobledger/jobledger/internal/say/words"
)

// releaseList prints what release found and did: object by object, or at the end as one document.
type releaseList struct {
	c         *cli.CLI
	format    string
	dryRun    bool
	namespace string // the only namespace; empty for all
	table     *show.Table
	items     []release.Item
}

func (l *releaseList) add(i release.Item) {
	if l.format == cli.FormatJSON || l.format == cli.FormatYAML {
		l.items = append(l.items, i)
		return
	}
	if l.table == nil {
		l.table = &show.Table{Out: l.c.Out, Head: []string{"NAMESPACE", "OBJECT", "ACTION", "RESULT"}, Colour: l.c.Colour()}
		if l.format == cli.FormatTable {
			l.table.Width, l.table.Whole = l.c.Width(), l.c.Piped()
		}
	}
	style := show.Plain
	if i.Result == release.Failed || i.Result == release.Remains {
		style = show.Trouble
	}
	result := strings.Trim(i.Result+": "+i.Message, ": ")
	l.table.Row(
		show.Cell{Text: words.Clean(i.Namespace), Name: true},
		show.Cell{Text: strings.ToLower(i.Kind) + "/" + words.Clean(i.Name), Name: true},
		show.Cell{Text: i.Action}, show.Cell{Text: words.Clean(result), Style: style})
}

// end prints what follows the objects. looked says whether the cluster could be read.
func (l *releaseList) end(s release.Summary, looked bool) error {
	if l.format == cli.FormatJSON || l.format == cli.FormatYAML {
		if !looked && len(l.items) == 0 {
			return nil
		}
		if l.items == nil {
			l.items = []release.Item{}
		}
		text, err := show.Indented(struct {
			DryRun  bool            `json:"dryRun"`
			Items   []release.Item  `json:"items"`
			Summary release.Summary `json:"summary"`
		}{l.dryRun, l.items, s})
		if err != nil {
			return err
		}
		return l.c.Document(l.format, text)
	}
	if l.table != nil {
		if err := l.table.Flush(); err != nil {
			return err
		}
	}
	if looked {
		fmt.Fprintln(l.c.Err, sentence(s, l.dryRun, l.namespace))
	}
	return nil
}

// sentence returns one sentence about what was found and done.
func sentence(s release.Summary, dryRun bool, namespace string) string {
	switch {
	case s == (release.Summary{}) && namespace != "":
		return fmt.Sprintf("Nothing of Jobledger's is in namespace %q.", words.Clean(namespace))
	case s == (release.Summary{}):
		return "Nothing of Jobledger's is there."
	}
	found := fmt.Sprintf("%s with a finalizer, %s, %s", cli.Counted(s.Pods, "pod", "pods"),
		cli.Counted(s.Jobs, "unmanaged Job", "unmanaged Jobs"), cli.Counted(s.Leases, "Lease", "Leases"))
	if s.Makers > 0 {
		found += fmt.Sprintf(", %s more Jobs", cli.Counted(s.Makers, "object that makes", "objects that make"))
	}
	if dryRun {
		return "Dry run, nothing was changed: " + found
	}
	if s.Jobs > 0 {
		found += ". Delete these Jobs, or create them again without spec.managedBy"
	}
	return found + "."
}
