package cli

import (
	"context"
	"io"
	"os"
	"strconv"

	"golang.org/x/term"

	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/store"
)

// CLI is one run of the program: its output, its environment, and what its command has found so far.
type CLI struct {
	Out, Err io.Writer
	Getenv   func(string) string
	Begun    bool          // the command line was valid, and the command has begun
	Damaged  bool          // the log is damaged, and a message about this was printed
	Met      *store.Damage // damage that was found while reading; it makes the command fail, whatever was printed
	Reads    *Reading      // shows the progress of reading on a terminal; nil without a terminal
	ASCII    *asciiWriter  // the same as Out, if the locale asks for ASCII; otherwise nil

	// Completes says that the shell asks for completions. Otherwise OfferValues is not called, and flags offer no
	// values.
	Completes bool

	// KubeNamespace returns the namespace of a kubeconfig's context; empty without a kubeconfig. Empty arguments stand
	// for what kubectl would use. It is nil in a program that reads no kubeconfig.
	KubeNamespace func(kubeconfig, context string) (string, error)

	// FindReader finds the reader of a cluster ('jobledger serve'), and connects to it as the user of the kubeconfig.
	// It is nil in a program without a client of Kubernetes.
	FindReader func(context.Context, Cluster) (*serve.Reader, error)

	noted map[string]bool // notes that were printed
}

// Terminal reports whether w writes to a terminal, and returns the terminal's width.
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

// Colour reports whether to print in colours: to a terminal that can show them, unless NO_COLOR is set (no-color.org).
func (c *CLI) Colour() bool {
	_, ok := Terminal(c.Out)
	return ok && c.Getenv("NO_COLOR") == "" && c.Getenv("TERM") != "dumb"
}

// Piped reports whether the output goes to a program or a file, not to a terminal.
func (c *CLI) Piped() bool {
	_, ok := Terminal(c.Out)
	return !ok
}

// TableWidth is the width of a table if there is no terminal and $COLUMNS is not set.
const TableWidth = 100

// leastWidth is the smallest width of a table. With a smaller $COLUMNS, texts would be unreadable.
const leastWidth = 40

// Width returns the width of a table: $COLUMNS, else the terminal's width but at least 80, else TableWidth.
func (c *CLI) Width() int {
	if n, asked := c.AskedWidth(); asked {
		return n
	}
	if w, ok := Terminal(c.Out); ok {
		return max(w, 80)
	}
	return TableWidth
}

// AskedWidth returns the width in $COLUMNS, but at least 40; false if it is not set.
func (c *CLI) AskedWidth() (int, bool) {
	n, err := strconv.Atoi(c.Getenv("COLUMNS"))
	return max(n, leastWidth), err == nil && n > 0
}

// RowWidth returns the width at which rows of a table are cut; 0 for no limit. If the output is not a terminal, there
// is no limit, unless $COLUMNS is set.
func (c *CLI) RowWidth() int {
	if _, asked := c.AskedWidth(); c.Piped() && !asked {
		return 0
	}
	return c.Width()
}
