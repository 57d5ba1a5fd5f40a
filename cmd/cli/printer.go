package cli

import (
	"bufio"
	"strconv"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/ask"
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
	if p.Words() == ask.NoWords {
		return p.Line(p.Names.RecordJSON(r))
	}
	p.Row(r)
	return nil
}

// Line prints the JSON of one record, in a format for programs.
func (p *Printer) Line(json []byte) error {
	if p.Format == FormatYAML {
		return p.document(json)
	}
	if _, err := p.Out.Write(json); err != nil {
		return err
	}
	return p.Out.WriteByte('\n')
}

func (p *Printer) document(json []byte) error {
	text, err := p.yaml(json)
	if err != nil {
		return err
	}
	_, err = p.Out.WriteString("---\n" + string(text))
	return err
}

// Words returns how the format says records in words.
func (p *Printer) Words() ask.Words {
	switch p.Format {
	case FormatJSON, FormatYAML:
		return ask.NoWords
	case FormatWide:
		return ask.Whole
	}
	return ask.Brief
}

// Row adds a row for a record to the table.
func (p *Printer) Row(r *events.Record) {
	said := p.Words().Say(p.Names, r)
	p.Said(&said)
}

// Said adds a row to the table. In the table format, a new date stands on a line of its own; in the wide format, every
// row has it.
func (p *Printer) Said(s *ask.Said) {
	t, object := events.Time(s.Time), s.Object
	at := p.Zone.Stamp(t)
	if p.Format == FormatTable {
		if day := p.Zone.Day(t); day != p.day {
			p.day = day
			p.Table.Rule("— " + day + " —")
		}
		at = p.Zone.In(t).Format("15:04:05.000")
	} else if s.Namespace != "" {
		object = s.Namespace + "/" + object
	}
	p.Table.Row(
		show.Cell{Text: strconv.FormatUint(s.Sequence, 10)}, show.Cell{Text: at}, show.Cell{Text: s.Kind},
		show.Cell{Text: object, Name: true}, show.Cell{Text: s.Detail, Style: styleOf(s)})
}

func styleOf(s *ask.Said) show.Style {
	switch {
	case s.Trouble:
		return show.Trouble
	case s.Kind == events.KindDecided.String() || s.Kind == events.KindWouldDecide.String():
		return show.Strong
	}
	return show.Plain
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
