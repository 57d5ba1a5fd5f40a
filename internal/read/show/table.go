package show

import (
	"io"
	"slices"
	"strings"
)

// Style is the emphasis of a cell on a terminal with colours.
type Style uint8

// Emphasis of cells and lines.
const (
	Plain   Style = iota
	Strong        // for decisions of the controller
	Trouble       // for what went wrong
)

var codes = [...]string{Strong: "\x1b[1m", Trouble: "\x1b[31m"}

// Cell is one field of a row. The table does not escape its text, so the caller must (words.Clean).
type Cell struct {
	Text  string
	Style Style
	Name  bool // the text is the name of an object: to shorten it, its middle is cut out
}

// Table writes rows in aligned columns. It waits for 200 rows, computes the widths and writes them, so the number of
// rows is not limited. To fit a line into Width, it first shortens names, then cuts the last column between words. If
// Whole is set, it never cuts names, so that a user can search for them.
type Table struct {
	Out    io.Writer
	Head   []string // names of the columns
	Least  []int    // smallest widths of the columns, for rows that arrive one after the other; may be nil
	Width  int      // largest width of a line: cells are cut to fit; 0 for no limit
	Whole  bool     // never cut names
	Fold   bool     // write the last cell on several lines, and never cut it
	Drop   []string // names of columns to leave out, in this order, if rows are too wide
	Colour bool

	rows    [][]Cell
	natural []int  // width that each column needs if nothing is cut
	names   []bool // whether the column has names of objects, which may be shortened
	widths  []int  // widths with which the rows are written, by column
	dropped []bool // whether the column is left out; nil if none is
	gone    []string
	started bool
	err     error
}

const (
	page      = 200 // number of rows for which the widths are computed together
	leastName = 9   // smallest width to which names are shortened
	leastLast = 24  // smallest width of the last column, unless its texts are shorter
	// If the last cell has less room than leastFold, and does not fit, it begins on the next line, at column belowAt.
	leastFold = 40
	belowAt   = 10
	goodName  = 20 // width of names that is kept as long as columns can be left out
	gap       = 2  // spaces between columns
)

// Row adds a row. Flush returns its error.
func (t *Table) Row(cells ...Cell) {
	t.rows = append(t.rows, t.kept(cells))
	if len(t.rows) >= page {
		_ = t.Flush()
	}
}

// Rule adds a row that is a line of text over the whole width.
func (t *Table) Rule(text string) { t.Row(Cell{Text: text}) }

// Flush writes the rows that are waiting. It returns the first error of all writes.
func (t *Table) Flush() error {
	if !t.started {
		t.leaveOut()
	}
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

// kept returns the cells of a row without those in columns that are left out.
func (t *Table) kept(cells []Cell) []Cell {
	if t.dropped == nil || len(cells) != len(t.dropped) {
		return cells
	}
	var out []Cell
	for i, c := range cells {
		if !t.dropped[i] {
			out = append(out, c)
		}
	}
	return out
}

// leaveOut chooses the columns of Drop to leave out, so that the waiting rows (not written yet) fit into Width.
func (t *Table) leaveOut() {
	if t.Width <= 0 || len(t.Drop) == 0 || len(t.rows) == 0 {
		return
	}
	need := make([]int, len(t.Head))
	for i, h := range t.Head {
		need[i] = len(h)
	}
	for _, row := range t.rows {
		for i, c := range row {
			w := columns(c.Text)
			if c.Name && !t.Whole {
				w = min(w, goodName)
			}
			if t.Fold && i == len(t.Head)-1 {
				w = min(w, belowAt)
			}
			if len(row) > 1 {
				need[i] = max(need[i], w)
			}
		}
	}
	dropped, left := make([]bool, len(t.Head)), -gap
	for _, w := range need {
		left += w + gap
	}
	for _, head := range t.Drop {
		if i := slices.Index(t.Head, head); left > t.Width && i >= 0 {
			dropped[i], left = true, left-need[i]-gap
		}
	}
	if !slices.Contains(dropped, true) {
		return
	}
	t.dropped = dropped
	var head []string
	for i, h := range t.Head {
		if dropped[i] {
			t.gone = append(t.gone, h)
		} else {
			head = append(head, h)
		}
	}
	t.Head = head
	for i := range t.rows {
		t.rows[i] = t.kept(t.rows[i])
	}
}

// LeftOut names the columns that were left out: "no room for ACTIVE, FAILED: -o wide". It is empty if there are none.
func (t *Table) LeftOut() string {
	if len(t.gone) == 0 {
		return ""
	}
	return "no room for " + strings.Join(t.gone, ", ") + ": -o wide"
}

// measure computes the widths of the columns from the waiting rows (not written yet) and the rows before them.
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
			if i < len(row)-1 { // the last cell takes the rest of the line, so its column needs no width
				t.natural[i] = max(t.natural[i], w)
				t.names[i] = t.names[i] || c.Name
			}
		}
	}
	t.widths = slices.Clone(t.natural)
	switch {
	case t.Width <= 0 || t.Whole:
	case t.Fold: // the last cell may begin on the next line, at column belowAt
		t.shorten(t.Width - min(max(last, len(t.Head[len(t.Head)-1])), belowAt))
	default:
		t.shorten(t.Width - min(max(last, len(t.Head[len(t.Head)-1])), leastLast))
	}
}

// shorten makes columns with names narrower, always the widest one, until all columns but the last fit into width. If
// they cannot fit, it changes nothing, since the lines would be too long anyway.
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
			if t.names[i] && (widest < 0 || w > t.widths[widest]) {
				widest = i
			}
		}
		// Some column with names is wider than leastName, as the check above has made sure: make the widest one
		// narrower.
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
		if i == len(row)-1 {
			t.writeLast(&b, &c, at)
			break
		}
		width, text := t.widths[i], c.Text
		if c.Name { // has no effect if the column is as wide as the text
			text = ClipMiddle(text, width)
		}
		b.WriteString(t.styled(text, c.Style))
		b.WriteString(strings.Repeat(" ", max(width-columns(text), 0)+gap))
		at += width + gap
	}
	line := b.String()
	if !t.Colour {
		line = strings.TrimRight(line, " ")
	}
	_, t.err = io.WriteString(t.Out, line+"\n")
}

// writeLast writes the last cell of a row, which begins at column at. It is cut to the rest of the line, or written on
// several lines.
func (t *Table) writeLast(b *strings.Builder, c *Cell, at int) {
	text := c.Text
	switch {
	case t.Width <= 0 || c.Name && t.Whole && !t.Fold:
	case t.Fold:
		t.fold(b, c, at)
		return
	default:
		room := max(t.Width-at, leastLast)
		if text = ClipWords(text, room); !t.Whole {
			text = ClipMiddle(text, room) // only a single long word can still be too long
		}
	}
	b.WriteString(t.styled(text, c.Style))
}

// fold writes a cell on as many lines as it needs, from column at on. If there is too little room, the cell begins on
// the next line.
func (t *Table) fold(b *strings.Builder, c *Cell, at int) {
	if room := t.Width - at; room < leastFold && columns(c.Text) > room {
		before := strings.TrimRight(b.String(), " ")
		b.Reset()
		at = min(at, belowAt)
		b.WriteString(before + "\n" + strings.Repeat(" ", at))
	}
	for i, line := range wrap(c.Text, t.Width-at, t.Whole) {
		if i > 0 {
			b.WriteString("\n" + strings.Repeat(" ", at))
		}
		b.WriteString(t.styled(strings.TrimRight(line, " "), c.Style))
	}
}

func (t *Table) styled(text string, style Style) string {
	if t.Colour && style != Plain {
		return codes[style] + text + "\x1b[0m"
	}
	return text
}
