package show

import (
	"io"
	"slices"
	"strings"
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
	Name  bool // of an object: where there is no room for it, its beginning and its end stay
}

// Table writes rows in columns that are as wide as what has been written, page by page, so that it can go on for ever.
// A table of limited width makes room by shortening names first, then the last column, which is cut between words. A table
// with whole names keeps every name, if need be beyond the width: a user may search for it.
type Table struct {
	Out    io.Writer
	Head   []string // names of the columns
	Least  []int    // widths of the columns at least, for a table whose rows come one by one; nil for none
	Width  int      // of a line at most: cells are cut to fit; 0 for no limit
	Whole  bool     // names are never cut
	Colour bool

	rows    [][]Cell
	natural []int  // widths that show everything
	names   []bool // columns that hold names
	widths  []int  // that are used
	started bool
	err     error
}

const (
	page      = 200 // rows that are looked at to find the widths
	leastName = 9   // columns that a name keeps
	leastLast = 24  // columns that the last cell keeps, as far as it wants them
	gap       = 2   // spaces between columns
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

// measure finds the widths of the columns by the rows that wait.
func (t *Table) measure() {
	if t.natural == nil {
		t.natural, t.names = make([]int, len(t.Head)), make([]bool, len(t.Head))
		for i, h := range t.Head {
			t.natural[i] = len(h)
			if i < len(t.Least) {
				t.natural[i] = max(len(h), t.Least[i])
			}
		}
	}
	last := 0
	for _, row := range t.rows {
		for i, c := range row {
			w := columns(c.Text)
			if i == len(t.Head)-1 {
				last = max(last, w)
			}
			if i < len(row)-1 { // the last cell takes what is left
				t.natural[i] = max(t.natural[i], w)
				t.names[i] = t.names[i] || c.Name
			}
		}
	}
	t.widths = slices.Clone(t.natural)
	if t.Width > 0 && !t.Whole {
		t.shorten(t.Width - min(max(last, len(t.Head[len(t.Head)-1])), leastLast))
	}
}

// shorten narrows the columns before the last to that width together: always the widest one with names. Where that is not enough names
// stay whole: the lines are too long either way.
func (t *Table) shorten(width int) {
	used, spare := 0, 0
	for i, w := range t.widths[:len(t.widths)-1] {
		used += w + gap
		if t.names[i] {
			spare += max(w-leastName, 0)
		}
	}
	if used-spare > width {
		return
	}
	for ; used > width; used-- {
		widest := -1
		for i, w := range t.widths[:len(t.widths)-1] {
			if t.names[i] && w > leastName && (widest < 0 || w > t.widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		t.widths[widest]--
	}
}

func (t *Table) write(row []Cell) {
	if t.err != nil {
		return
	}
	var b strings.Builder
	at := 0
	for i, c := range row {
		text, width := c.Text, 0
		last := i == len(row)-1
		switch {
		case !last:
			width = t.widths[i]
			if t.Width > 0 && c.Name && !t.Whole {
				text = ClipMiddle(text, width)
			}
		case t.Width > 0 && !(c.Name && t.Whole):
			room := max(t.Width-at, leastLast)
			if text = ClipWords(text, room); !t.Whole {
				text = ClipMiddle(text, room) // one long word
			}
		}
		if t.Colour && c.Style != Plain {
			b.WriteString(codes[c.Style] + text + "\x1b[0m")
		} else {
			b.WriteString(text)
		}
		if !last {
			b.WriteString(strings.Repeat(" ", max(width-columns(text), 0)+gap))
		}
		at += width + gap
	}
	line := b.String()
	if !t.Colour {
		line = strings.TrimRight(line, " ")
	}
	_, t.err = io.WriteString(t.Out, line+"\n")
}
