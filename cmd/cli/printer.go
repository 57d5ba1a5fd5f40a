package cli

import (
	"bufio"
	"strconv"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Printer prints records one after the other in one format.
type Printer struct {
	Format string
	Out    *bufio.Writer
	Table  *show.Table
	Names  *words.Names
	Zone   words.Zone
	yaml   func(json []byte) ([]byte, error)
	day    string // the date that was printed last
}

// NewPrinter returns a Printer that writes to c.Out in the format of output.
func NewPrinter(c *CLI, output *OutputFlag, names *words.Names) *Printer {
	format := output.Format
	names.Zone = output.Zone()
	p := &Printer{Format: format, Out: bufio.NewWriterSize(c.Out, 64<<10), Names: names, Zone: output.Zone(), yaml: c.yaml}
	p.Table = &show.Table{Out: p.Out, Head: []string{"SEQ", "TIME", "KIND", "OBJECT", "DETAIL"}, Colour: c.Colour()}
	if format == FormatTable {
		p.Table.Width, p.Table.Whole = c.Width(), c.Piped()
	}
	return p
}

// Live makes the columns so wide that later records fit, because rows that are printed one by one could not be aligned
// later. They fit the names of these kinds of records (all kinds if there are none), and pod names if such records name
// pods.
func (p *Printer) Live(kinds []events.Kind) {
	const usual = 16 // typical length of a pod name
	kind, object := 0, 0
	for _, k := range kinds {
		kind = max(kind, len(k.String()))
		if k == events.KindPodAdded || k == events.KindPodChanged || k == events.KindCommandEnded {
			object = usual
		}
	}
	if len(kinds) == 0 {
		object = usual
	}
	p.Table.Least = []int{0, 0, kind, object}
}

// Record prints a record. In a table, the row may appear only after Flush.
func (p *Printer) Record(r *events.Record) error {
	switch p.Format {
	case FormatJSON:
		_, err := p.Out.Write(append(p.Names.RecordJSON(r), '\n'))
		return err
	case FormatYAML:
		return p.document(p.Names.RecordJSON(r))
	}
	p.Row(r)
	return nil
}

func (p *Printer) document(json []byte) error {
	text, err := p.yaml(json)
	if err != nil {
		return err
	}
	_, err = p.Out.WriteString("---\n" + string(text))
	return err
}

// Row adds a row about a record to the table. In the format table, a new date has a line of its own; in the format
// wide, every row has the date.
func (p *Printer) Row(r *events.Record) {
	at := p.Zone.Stamp(r.Time)
	if p.Format == FormatTable {
		if day := p.Zone.Day(r.Time); day != p.day {
			p.day = day
			p.Table.Rule("— " + day + " —")
		}
		at = p.Zone.In(r.Time).Format("15:04:05.000")
	}
	object := p.Names.Object(r)
	style := show.StyleOf(r)
	detail := p.Names.Detail(r)
	if p.Format == FormatWide {
		if namespace := p.Names.Namespace(r); namespace != "" {
			object = words.Clean(namespace) + "/" + object
		}
		detail = p.Names.DetailWide(r)
	}
	p.Table.Row(
		show.Cell{Text: strconv.FormatUint(uint64(r.Sequence), 10)}, show.Cell{Text: at}, show.Cell{Text: r.Kind.String()},
		show.Cell{Text: object, Name: true}, show.Cell{Text: detail, Style: style})
}

// Flush prints the rows of the table that were not printed yet.
func (p *Printer) Flush() error {
	if p.Format == FormatTable || p.Format == FormatWide {
		if err := p.Table.Flush(); err != nil {
			return err
		}
	}
	return p.Out.Flush()
}
