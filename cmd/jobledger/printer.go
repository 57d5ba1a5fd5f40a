package main

import (
	"bufio"
	"strconv"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/say/words"
)

// printer writes records one after the other in one format.
type printer struct {
	format string
	out    *bufio.Writer
	table  *show.Table
	names  *words.Names
	zone   words.Zone
	yaml   func(json []byte) ([]byte, error)
	day    string // below whose heading the next row stands
}

func newPrinter(c *cli, output *outputFlag, names *words.Names) *printer {
	format := output.format
	names.Zone = output.zone()
	p := &printer{format: format, out: bufio.NewWriterSize(c.out, 64<<10), names: names, zone: output.zone(), yaml: c.yaml}
	p.table = &show.Table{Out: p.out, Head: []string{"SEQ", "TIME", "KIND", "OBJECT", "DETAIL"}, Colour: c.colour()}
	if format == formatTable {
		p.table.Width, p.table.Whole = c.width(), c.piped()
	}
	return p
}

// live makes room in the table for what may come, so that rows that are shown one by one stand under each other: for the
// names of the kinds (no name means all) and of pods, if there are records about pods among them.
func (p *printer) live(kinds []events.Kind) {
	const usual = 16 // characters of a pod's name
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
	p.table.Least = []int{0, 0, kind, object}
}

func (p *printer) record(r *events.Record) error {
	switch p.format {
	case formatJSON:
		_, err := p.out.Write(append(p.names.RecordJSON(r), '\n'))
		return err
	case formatYAML:
		return p.document(p.names.RecordJSON(r))
	}
	p.row(r)
	return nil
}

func (p *printer) document(json []byte) error {
	text, err := p.yaml(json)
	if err != nil {
		return err
	}
	_, err = p.out.WriteString("---\n" + string(text))
	return err
}

// row adds a line to the table. The date stands on a line of its own where it changes; wide has it in every line.
func (p *printer) row(r *events.Record) {
	at := p.zone.Stamp(r.Time)
	if p.format == formatTable {
		if day := p.zone.Day(r.Time); day != p.day {
			p.day = day
			p.table.Rule("— " + day + " —")
		}
		at = p.zone.In(r.Time).Format("15:04:05.000")
	}
	object := p.names.Object(r)
	style := show.StyleOf(r)
	detail := p.names.Detail(r)
	if p.format == formatWide {
		if namespace := p.names.Namespace(r); namespace != "" {
			object = words.Clean(namespace) + "/" + object
		}
		detail = p.names.DetailWide(r)
	}
	p.table.Row(
		show.Cell{Text: strconv.FormatUint(uint64(r.Sequence), 10)}, show.Cell{Text: at}, show.Cell{Text: r.Kind.String()},
		show.Cell{Text: object, Name: true}, show.Cell{Text: detail, Style: style})
}

func (p *printer) flush() error {
	if p.format == formatTable || p.format == formatWide {
		if err := p.table.Flush(); err != nil {
			return err
		}
	}
	return p.out.Flush()
}
