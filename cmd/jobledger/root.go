package main

import (
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"
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
}

func newRoot(c *cli, name string) *cobra.Command {
	if c.met == nil {
		c.met = &store.Damage{}
	}
	root := &cobra.Command{
		Use:   "jobledger",
		Short: "A Kubernetes Job controller whose memory is a log",
		Long: `What went wrong?      jobledger failures --log DIR --since 8h   what is stuck or failed
Why?                  jobledger explain NAME --log DIR          of a Job, a CronJob or a pod
Why was nothing run?  jobledger ticks NAME --log DIR            what became of each due time

In a cluster the log is in the controller's pod:
  ` + inCluster + `

Jobledger runs Kubernetes Jobs and writes down everything it sees, decides and does in a durable
log, from which each decision can be shown, explained and made again.

An object is named by NAME, NAMESPACE/NAME, job/NAME, pod/NAME or cronjob/NAME. -n gives the
namespace, too.

Commands that read take --log DIR for a log directory, or --server URL for a controller that runs.
When a controller has the directory open, --log DIR asks that controller. Times are in UTC, or with
--local in the zone of this machine.

Lines are as wide as the terminal, 100 columns without one, or what $COLUMNS says. In a pipe a row
of a list says why in one line, whole, unless $COLUMNS says how wide it may be. Where the locale
(LC_ALL, LC_CTYPE or LANG) is one without UTF-8, all output is ASCII: ~ stands where a text was cut,
and what others wrote is escaped as in JSON.`,
		Version:      thisBuild().String(),
		SilenceUsage: true, SilenceErrors: true,
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: name},
		Args:        knownCommand,
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			c.begun = true
			if format := cmd.Flags().Lookup("output"); c.ascii != nil && format != nil {
				c.ascii.json = format.Value.String() == formatJSON
			}
			return namespaceOf(cmd, args, plugin(name))
		},
		RunE: showHelp,
	}
	root.SuggestionsMinimumDistance = 2
	root.SetFlagErrorFunc(plainFlagError)
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetOut(c.out)
	root.SetErr(c.err)
	root.AddCommand(newGet(c), newExplain(c), newAttempts(c), newTimeline(c), newFailures(c), newPlan(c), newEvents(c), newReplay(c), newVerify(c), newVersion(c))
	root.AddCommand(newTicks(c), newNext(c), newWhyNot(c))
	root.AddCommand(acting(c)...)
	for _, cmd := range root.Commands() {
		cmd.SuggestFor = alike[cmd.Name()]
	}
	addAllNamespaces(root)
	addHelp(c, root)
	return root
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
