package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
	"github.com/jobledger/jobledger/store/regular"
)

// sourceFlags are the flags that name the log to read: by directory, or by the controller that has it.
type sourceFlags struct {
	Log, server string
	variable    string // environment variable that named the log; empty if a flag named it
	cluster     clusterFlags
}

func (f *sourceFlags) add(cmd *cobra.Command) {
	cmd.Flags().Var((*LogAddress)(&f.Log), "log", "directory of the log ($JOBLEDGER_LOG); when a controller has it open, that controller is asked")
	cmd.Flags().StringVar(&f.server, "server", "", "URL of a running controller ($JOBLEDGER_SERVER), such as http://127.0.0.1:10271")
	if err := cmd.MarkFlagDirname("log"); err != nil {
		panic(err) // a bug: it fails only if there is no such flag
	}
}

// The environment variables that name the log, if no flag does.
const (
	EnvLog    = "JOBLEDGER_LOG"
	envServer = "JOBLEDGER_SERVER"
)

// take uses the log that the environment names, if no flag names a log or a cluster.
func (f *sourceFlags) take(getenv func(string) string) error {
	finds := f.cluster.given != nil && f.cluster.given()
	switch {
	case finds && (f.Log != "" || f.server != ""):
		return Usage("--log and --server name a log, and --kubeconfig, --context and --reader-namespace a reader to find: give one or the other")
	case finds || f.Log != "" || f.server != "":
		return nil
	}
	f.Log, f.server = getenv(EnvLog), getenv(envServer)
	if f.Log != "" && f.server != "" {
		return Usage("$%s and $%s name two places: give --log or --server", EnvLog, envServer)
	}
	if err := open.Check(f.Log); f.Log != "" && err != nil {
		return Usage("$%s: %v", EnvLog, err)
	}
	if f.Log != "" {
		f.variable = EnvLog
	}
	return nil
}

// NotLive returns the usage error for -w (show changes) with a log that no controller writes.
func (f *sourceFlags) NotLive() error {
	return Usage("-w: no controller writes the log in %s now, so no record would follow; leave it out, or name a running controller with --server", f.Log)
}

// Open opens the log that the flags name. live says whether new records may come. If the log is known to be damaged,
// Open prints that at once, and the command will fail at its end, whatever it shows.
func (f *sourceFlags) Open(ctx context.Context, c *CLI) (src history.Source, live bool, err error) {
	if err := f.take(c.Getenv); err != nil {
		return nil, false, err
	}
	src, live, err = f.find(ctx, c)
	switch {
	case err == nil && f.Finds(c): // print nothing: the reader says which records the user may read
	case err == nil:
		c.tellPruned(ctx, src)
	case f.variable != "":
		err = fmt.Errorf("$%s: %w", f.variable, err)
	}
	return src, live, err
}

// lostBefore reports whether damage may be the reason why the log has no records before record at, and not deletion
// (pruning).
func (c *CLI) lostBefore(at events.Sequence) bool {
	return slices.ContainsFunc(c.Met.Met(), func(damage error) bool {
		var bad *store.CorruptError
		return errors.As(damage, &bad) && bad.At < at
	})
}

// tellPruned prints a note if the first records of the log were deleted (pruned).
func (c *CLI) tellPruned(ctx context.Context, src history.Source) {
	for r, err := range src.Read(ctx, 0) {
		// If the first record cannot be read, print nothing: a later read that needs it reports the error.
		if err == nil && r.Sequence > 1 && !c.lostBefore(r.Sequence) {
			fmt.Fprintf(c.Err, "note: %s\n", PrunedBefore(r.Sequence))
		}
		return
	}
}

// PrunedBefore returns the note that the records before record first were deleted (pruned).
func PrunedBefore(first events.Sequence) string {
	return fmt.Sprintf("pruned before %d: older records are no longer kept", first)
}

// Place returns what the flags or the environment name: a log's directory, or a controller's URL.
func (f *sourceFlags) Place(getenv func(string) string) (log, server string, err error) {
	err = f.take(getenv)
	if err == nil {
		err = f.one()
	}
	return f.Log, f.server, err
}

// one returns a usage error if the flags name no log, or both a directory and a controller.
func (f *sourceFlags) one() error {
	switch {
	case f.Log != "" && f.server != "":
		return Usage("--log and --server name two places: give one of them")
	case f.Log == "" && f.server == "":
		return nowhere("")
	}
	return nil
}

// nowhere returns the usage error for a command line that names no log. or is a further way to name one, for the
// message.
func nowhere(or string) error {
	return Usage("say where to read: --log DIR, or --server URL of a running controller (or $%s, $%s)%s", EnvLog, envServer, or)
}

func (f *sourceFlags) find(ctx context.Context, c *CLI) (src history.Source, live bool, err error) {
	if f.Finds(c) {
		client, err := f.cluster.find(ctx, c)
		if err != nil {
			return nil, false, err
		}
		return c.countedClient(client), true, nil
	}
	if err := f.one(); err != nil {
		return nil, false, err
	}
	if f.server != "" {
		client, err := serve.NewClient(f.server)
		if err != nil {
			return nil, false, &UsageError{fmt.Sprintf("--server: %v", err)}
		}
		client.Damage = c.Met
		return c.countedClient(client), true, nil
	}
	log, err := open.Archive(f.Log)
	var held *store.HeldError
	switch {
	case err == nil:
		for _, damage := range log.Damage() {
			fmt.Fprintf(c.Err, "damage: %s\n", words.Clean(damage.Error()))
			c.Met.Known(damage)
			c.Damaged = true
		}
		var read store.Reader = log
		if c.Reads != nil {
			read = countedLog{log, c.Reads}
		}
		lists := joblist.New(joblist.Config{Log: read, Files: store.FilesOf(log), Dir: ListsDir(f.Log), Keep: true})
		return Local{history.Local{Log: read, Lists: lists, Damage: c.Met}, log}, false, nil
	case errors.As(err, &held):
		dir, err := open.Dir(f.Log)
		if err != nil {
			return nil, true, errors.Join(held, err)
		}
		client, err := Besides(ctx, dir, held)
		if err != nil {
			return nil, true, err
		}
		client.Damage = c.Met
		return c.countedClient(client), true, nil
	}
	return nil, false, ExplainOpen(open.Place(f.Log), err)
}

// countedClient returns the controller's log behind client; if a terminal shows how many records were read, they are
// counted.
func (c *CLI) countedClient(client *serve.Client) history.Source {
	if c.Reads == nil {
		return client
	}
	return countedSource{client, c.Reads}
}

// OpenToFold does the same as Open, for a caller that folds records into states. It returns an error if this program is
// too old to fold the log's records.
func (f *sourceFlags) OpenToFold(ctx context.Context, c *CLI) (src history.Source, live bool, err error) {
	src, live, err = f.Open(ctx, c)
	if own, is := src.(Local); is && err == nil {
		if err = own.Log.Readable(events.ReaderVersion{Fold: projector.FoldVersion}); err != nil {
			src.Close()
		}
	}
	return src, live, err
}

// ExplainOpen adds to the error about a directory without a log what may be wrong.
func ExplainOpen(dir string, err error) error {
	if info, statErr := os.Stat(dir); statErr == nil && !info.IsDir() {
		return fmt.Errorf("%s is a file: a log is a directory", dir)
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: the log belongs to the user that runs the controller. Read it as that user (sudo -u USER jobledger …), ask the controller "+
			"(--server URL), or the reader of the cluster (without --log); where none is, ask in the controller's pod: %s", err, InCluster)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, statErr := os.Stat(dir); errors.Is(statErr, fs.ErrNotExist) {
		return fmt.Errorf("there is no directory %s", dir)
	}
	below := filepath.Join(dir, usualDir)
	if exists, err := open.Exists(below); err == nil && exists {
		return fmt.Errorf("there is no log in %s; there is one in %s", dir, below)
	}
	return fmt.Errorf("there is no log in %s", dir)
}

// InCluster is an example for messages: a command that reads the log in the controller's pod, as deploy/base installs
// it.
const InCluster = "kubectl -n jobledger exec jobledger-0 -- jobledger failures --log /var/lib/jobledger/log"

// usualDir is the usual name of a log's directory; in the image, the log is in /var/lib/jobledger/log.
const usualDir = "log"

// Local is a log that this process has opened itself, as a source of records.
type Local struct {
	history.Local
	Log store.Archive
}

func (l Local) Close() { _ = l.Log.Close() } // an error says nothing: the log was opened only for reading

// ListsDir returns the directory with the lists of a log's Jobs; empty for a kind of log without a directory.
func ListsDir(log string) string {
	dir, _ := open.Dir(log)
	return dir
}

// MostAddress limits how many bytes are read of a file with a controller's address or secret. These files are much
// shorter.
const MostAddress = 4 << 10

// Besides returns a client of the controller that has the log open. It finds its address in the log's directory, and
// uses it only if the process that answers is the one that has locked the log.
func Besides(ctx context.Context, dir string, held *store.HeldError) (*serve.Client, error) {
	text, err := regular.Read(filepath.Join(dir, serve.AddressFile), MostAddress)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w (it has not said in %s where it answers: it is starting, or runs with --listen=)",
			held, filepath.Join(dir, serve.AddressFile))
	}
	if err != nil {
		return nil, fmt.Errorf("find out where the controller answers: %w", err)
	}
	client, err := serve.NewClient(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, serve.AddressFile), err)
	}
	info, err := client.Info(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w; it was asked at the address in %s: %w", held, serve.AddressFile, err)
	}
	if held.PID != 0 && info.PID != held.PID {
		return nil, fmt.Errorf("%w; at the address in %s answers process %d, another one", held, serve.AddressFile, info.PID)
	}
	return client, nil
}

// LogAddress is the value of a flag that takes the address of a log. It accepts only addresses that a kind of log can
// have.
type LogAddress string

func (a *LogAddress) String() string { return string(*a) }

// Type implements pflag.Value: it returns the name of the value's type in the help.
func (*LogAddress) Type() string { return "string" }

// Set implements pflag.Value: it checks the address, and stores it.
func (a *LogAddress) Set(text string) error {
	*a = LogAddress(text)
	return open.Check(text)
}
