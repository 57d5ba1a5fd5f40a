package show

import (
	"io"
	"strings"
	"unicode/utf8"
)

// Style is how a cell stands out on a terminal that shows colours.
type Style uint8

// The styles.
const (
	Plain   Style = iota
	Strong        // what the controller decided
	Trouble       // what did not go as wanted
)

var codes = [...]string{Strong: "\x1b[1m", Trouble: "\x1b[31m"}

// Cell is one field of a row. Its text is printed as it is: clean it first.
type Cell struct {
	Text  string
	Style Style
}

// Table writes rows in columns that are as wide as what has been written, page by page, so that it can go on for ever.
type Table struct {
	Out    io.Writer
	Head   []string // names of the columns
	Width  int      // of a line at most: cells are cut to fit; 0 for no limit
	Colour bool

	rows    [][]Cell
	widths  []int
	started bool
	err     error
}

const (
	page     = 200 // rows that are looked at to find the widths
	maxWidth = 30  // of every column but the last, in a table of limited width
	gap      = 2   // spaces between columns
)

// Row adds a row. Errors show in Flush.
func (t *Table) Row(cells ...Cell) {
	t.rows = append(t.rows, cells)
	if len(t.rows) >= page {
		_ = t.Flush()
	}
}

// Rule adds a line of its own between rows.
func (t *Table) Rule(text string) { t.Row(Cell{Text: text}) }

// Flush writes what was added so far. Its error is the first that writing met.
func (t *Table) Flush() error {
	t.measure()
	if !t.started && len(t.rows) > 0 && len(t.Head) > 0 {
		t.started = true
		head := make([]Cell, len(t.Head))
		for i, h := range t.Head {
			head[i].Text = h
		}
		t.write(head)
	}
	for _, row := range t.rows {
		t.write(row)
	}
	t.rows = t.rows[:0]
	return t.err
}

func (t *Table) measure() {
	if t.widths == nil {
		t.widths = make([]int, len(t.Head))
		for i, h := range t.Head {
			t.widths[i] = len(h)
		}
	}
	for _, row := range t.rows {
		for i := range len(row) - 1 { // the last column takes what is left
			w := utf8.RuneCountInString(row[i].Text)
			if t.Width > 0 {
				w = min(w, maxWidth)
			}
			t.widths[i] = max(t.widths[i], w)
		}
	}
}

func (t *Table) write(row []Cell) {
	if t.err != nil {
		return
	}
	var b strings.Builder
	at := 0
	for i, c := range row {
		last := i == len(row)-1
		text, width := c.Text, 0
		switch {
		case !last:
			width = t.widths[i]
			if t.Width > 0 {
				text = Clip(text, width)
			}
		case t.Width > 0:
			text = Clip(text, max(t.Width-at, len("DETAIL")))
		}
		if t.Colour && c.Style != Plain {
			b.WriteString(codes[c.Style] + text + "\x1b[0m")
		} else {
			b.WriteString(text)
		}
		if !last {
			b.WriteString(strings.Repeat(" ", width-utf8.RuneCountInString(text)+gap))
		}
		at += width + gap
	}
	line := b.String()
	if !t.Colour {
		line = strings.TrimRight(line, " ")
	}
	_, t.err = io.WriteString(t.Out, line+"\n")
}
