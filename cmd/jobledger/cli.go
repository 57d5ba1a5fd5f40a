package main

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"

	"github.com/jobledger/jobledger/store"
)

// cli is what a command works with.
type cli struct {
	out, err io.Writer
	getenv   func(string) string
	begun    bool          // the command line was understood, and the command began
	damaged  bool          // what was read is known to be damaged, and it was said
	met      *store.Damage // that readers came to: the command ends with it, whatever it can show
	reads    *reading      // shows on a terminal how far it has read; nil where none is
	ascii    *asciiWriter  // out, where the locale asks for ASCII; nil otherwise

	// kubeNamespace is the namespace of the kubeconfig's current context; empty without one. Nil in a program that reads no kubeconfig.
	kubeNamespace func() (string, error)
}

// terminal reports whether w is a terminal, and how wide it is.
func terminal(w io.Writer) (width int, ok bool) {
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
		width = tableWidth
	}
	return width, true
}

// colour reports whether to use colours: on a terminal that shows them, unless NO_COLOR is set (no-color.org).
func (c *cli) colour() bool {
	_, ok := terminal(c.out)
	return ok && c.getenv("NO_COLOR") == "" && c.getenv("TERM") != "dumb"
}

// piped reports whether the output goes to a program or a file, not to a terminal.
func (c *cli) piped() bool {
	_, ok := terminal(c.out)
	return !ok
}

// tableWidth is how wide a table is where no terminal says otherwise.
const tableWidth = 100

// leastWidth is the narrowest that $COLUMNS may ask for: below it texts are no lines any more.
const leastWidth = 40

// width is how wide a table may be: what $COLUMNS says, else that of the terminal, if it is not narrow.
func (c *cli) width() int {
	if n, asked := c.askedWidth(); asked {
		return n
	}
	if w, ok := terminal(c.out); ok {
		return max(w, 80)
	}
	return tableWidth
}

// askedWidth is what $COLUMNS says.
func (c *cli) askedWidth() (int, bool) {
	n, err := strconv.Atoi(c.getenv("COLUMNS"))
	return max(n, leastWidth), err == nil && n > 0
}

// rowWidth is how wide a row may be that somebody reads; 0 for no limit: in a pipe a row is one line, and nothing of it is cut, unless the
// user asked for a width.
func (c *cli) rowWidth() int {
	if _, asked := c.askedWidth(); c.piped() && !asked {
		return 0
	}
	return c.width()
}
