package cli

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"

	"github.com/jobledger/jobledger/store"
)

// CLI is what a command works with.
type CLI struct {
	Out, Err io.Writer
	Getenv   func(string) string
	Begun    bool          // the command line was understood, and the command began
	Damaged  bool          // what was read is known to be damaged, and it was said
	Met      *store.Damage // that readers came to: the command ends with it, whatever it can show
	Reads    *Reading      // shows on a terminal how far it has read; nil where none is
	ASCII    *asciiWriter  // out, where the locale asks for ASCII; nil otherwise

	// Completes says that the shell asks what may be typed next. Without it no flag offers values: see OfferValues.
	Completes bool

	// KubeNamespace is the namespace of the kubeconfig's current context; empty without one. Nil in a program that reads
	// no kubeconfig.
	KubeNamespace func() (string, error)
}

// Terminal reports whether w is a terminal, and how wide it is.
func Terminal(w io.Writer) (width int, ok bool) {
	if s, is := w.(*shownBy); is {
		w = s.Writer
	}
	if a, is := w.(*asciiWriter); is {
		w = a.Writer
	}
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		width = TableWidth
	}
	return width, true
}

// Colour reports whether to use colours: on a terminal that shows them, unless NO_COLOR is set (no-color.org).
func (c *CLI) Colour() bool {
	_, ok := Terminal(c.Out)
	return ok && c.Getenv("NO_COLOR") == "" && c.Getenv("TERM") != "dumb"
}

// Piped reports whether the output goes to a program or a file, not to a terminal.
func (c *CLI) Piped() bool {
	_, ok := Terminal(c.Out)
	return !ok
}

// TableWidth is how wide a table is where no terminal says otherwise.
const TableWidth = 100

// leastWidth is the narrowest that $COLUMNS may ask for: below it texts are no lines any more.
const leastWidth = 40

// Width is how wide a table may be: what $COLUMNS says, else that of the terminal, if it is not narrow.
func (c *CLI) Width() int {
	if n, asked := c.AskedWidth(); asked {
		return n
	}
	if w, ok := Terminal(c.Out); ok {
		return max(w, 80)
	}
	return TableWidth
}

// AskedWidth is what $COLUMNS says.
func (c *CLI) AskedWidth() (int, bool) {
	n, err := strconv.Atoi(c.Getenv("COLUMNS"))
	return max(n, leastWidth), err == nil && n > 0
}

// RowWidth is how wide a row may be that somebody reads; 0 for no limit: in a pipe a row is one line, and nothing of it
// is cut, unless the user asked for a width.
func (c *CLI) RowWidth() int {
	if _, asked := c.AskedWidth(); c.Piped() && !asked {
		return 0
	}
	return c.Width()
}
