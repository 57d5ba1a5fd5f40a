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

// sourceFlags say where records are read from.
type sourceFlags struct {
	Log, server string
	variable    string // of the environment that names them; empty when a flag does
}

func (f *sourceFlags) add(cmd *cobra.Command) {
	cmd.Flags().Var((*LogAddress)(&f.Log), "log", "directory of the log ($JOBLEDGER_LOG); when a controller has it open, that controller is asked")
	cmd.Flags().StringVar(&f.server, "server", "", "URL of a running controller ($JOBLEDGER_SERVER), such as http://127.0.0.1:10271")
	if err := cmd.MarkFlagDirname("log"); err != nil {
		panic(err) // there is no such flag
	}
}

// The variables that say where records are read when no flag does.
const (
	EnvLog    = "JOBLEDGER_LOG"
	envServer = "JOBLEDGER_SERVER"
)

// take fills in what the environment says, where the flags say nothing.
func (f *sourceFlags) take(getenv func(string) string) error {
	if f.Log != "" || f.server != "" {
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

// NotLive says that nothing would follow.
func (f *sourceFlags) NotLive() error {
	return Usage("-w: no controller writes the log in %s now, so no record would follow; leave it out, or name a running controller with --server", f.Log)
}

// Open opens what the flags say. live reports whether records may still be added. What is known to be wrong with the
// log is said at once, and the command fails in the end, whatever it can show.
func (f *sourceFlags) Open(ctx context.Context, c *CLI) (src history.Source, live bool, err error) {
	if err := f.take(c.Getenv); err != nil {
		return nil, false, err
	}
	src, live, err = f.find(ctx, c)
	switch {
	case err == nil:
		c.tellPruned(ctx, src)
	case f.variable != "":
		err = fmt.Errorf("$%s: %w", f.variable, err)
	}
	return src, live, err
}

// lostBefore reports whether there is damage before a record, which may have taken the first ones.
func (c *CLI) lostBefore(at events.Sequence) bool {
	return slices.ContainsFunc(c.Met.Met(), func(damage error) bool {
		var bad *store.CorruptError
		return errors.As(damage, &bad) && bad.At < at
	})
}

// tellPruned says so when the log no longer keeps its first records.
func (c *CLI) tellPruned(ctx context.Context, src history.Source) {
	for r, err := range src.Read(ctx, 0) {
		if err == nil && r.Sequence > 1 && !c.lostBefore(r.Sequence) { // what cannot be read is told where it is wanted
			fmt.Fprintf(c.Err, "note: %s\n", PrunedBefore(r.Sequence))
		}
		return
	}
}

// PrunedBefore says that the log begins with a later record than the first.
func PrunedBefore(first events.Sequence) string {
	return fmt.Sprintf("pruned before %d: older records are no longer kept", first)
}

// Place is where the flags or the environment say that records are read: a directory, or the URL of a controller.
func (f *sourceFlags) Place(getenv func(string) string) (log, server string, err error) {
	err = f.take(getenv)
	if err == nil {
		err = f.one()
	}
	return f.Log, f.server, err
}

// one refuses none and two places.
func (f *sourceFlags) one() error {
	switch {
	case f.Log != "" && f.server != "":
		return Usage("--log and --server name two places: give one of them")
	case f.Log == "" && f.server == "":
		return Usage("say where to read: --log DIR, or --server URL of a running controller (or $%s, $%s)", EnvLog, envServer)
	}
	return nil
}

func (f *sourceFlags) find(ctx context.Context, c *CLI) (src history.Source, live bool, err error) {
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

// countedClient is a controller that is asked; on a terminal it is shown how many of its records were read.
func (c *CLI) countedClient(client *serve.Client) history.Source {
	if c.Reads == nil {
		return client
	}
	return countedSource{client, c.Reads}
}

// OpenToFold opens the source for who folds records into states. A log that needs a newer fold than this program has is
// refused.
func (f *sourceFlags) OpenToFold(ctx context.Context, c *CLI) (src history.Source, live bool, err error) {
	src, live, err = f.Open(ctx, c)
	if own, is := src.(Local); is && err == nil {
		if err = own.Log.Readable(events.ReaderVersion{Fold: projector.FoldVersion}); err != nil {
			src.Close()
		}
	}
	return src, live, err
}

// ExplainOpen says what may be meant by a directory that holds no log.
func ExplainOpen(dir string, err error) error {
	if info, statErr := os.Stat(dir); statErr == nil && !info.IsDir() {
		return fmt.Errorf("%s is a file: a log is a directory", dir)
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: the log belongs to the user that runs the controller. Read it as that user (sudo -u USER jobledger …), ask the controller "+
			"(--server URL), or ask in its pod: %s", err, InCluster)
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

// InCluster is how a log is read where deploy/base runs the controller.
const InCluster = "kubectl -n jobledger exec jobledger-0 -- jobledger failures --log /var/lib/jobledger/log"

// usualDir is how most call the directory of a log: the image has it in /var/lib/jobledger.
const usualDir = "log"

// Local is the source of a log that this command opened for itself.
type Local struct {
	history.Local
	Log store.Archive
}

func (l Local) Close() { _ = l.Log.Close() } // it was only read

// ListsDir is where the lists of a log's Jobs lie; empty where the log is in no directory, and has none.
func ListsDir(log string) string {
	dir, _ := open.Dir(log)
	return dir
}

// MostAddress is more bytes than the files have in which a controller says where it answers, and with which secret.
const MostAddress = 4 << 10

// Besides asks the controller that holds the log. The address it left is believed only if the process that answers
// there is the one that holds the log.
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

// LogAddress is a flag with the address of a log. One of a kind that no backend has is refused.
type LogAddress string

func (a *LogAddress) String() string { return string(*a) }

// Type is the word for the value in the help.
func (*LogAddress) Type() string { return "string" }

// Set takes the address.
func (a *LogAddress) Set(text string) error {
	*a = LogAddress(text)
	return open.Check(text)
}
