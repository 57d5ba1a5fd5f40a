package acting

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events/nats/dial"
	"github.com/jobledger/jobledger/internal/run/beside"
	"github.com/jobledger/jobledger/internal/run/cloning"
	"github.com/jobledger/jobledger/internal/run/replicating"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

// cloneFlags are the flags of clone: which log to copy, and where to.
type cloneFlags struct {
	server   dial.Config // the flags set only the fields Creds and CA
	from, to string
	withKey  bool
	dryRun   bool
}

func newClone(c *cli.CLI) *cobra.Command {
	var f cloneFlags
	cmd := &cobra.Command{
		Use:   "clone",
		Short: "Make a second log of one, also beside its controllers",
		Long: `Make a second log of one, in an empty directory: files as they are, as of now. Controllers may run
meanwhile, and nothing is held up.

--from DIR is a log on this machine. Its sealed files are read from the disk, and a controller that
has it open is asked for the newest records. --from nats://HOST:4222/NAME is a log that controllers
have in a stream of NATS (run --replicate): one of them gives its files. It must have all that the
stream had when the command began.

Each file is checked as it comes, and in the end all of the clone is read from the disk as 'verify'
does. Until then nothing opens the directory as a log; when this ends early, run it again, and it
goes on. The last line has the head that the clone has.

The clone is an ordinary log: of the same ID, with the same records, tied to no other controller. Its
source goes on without it. A controller that is started with it stops at once if the Lease knows of
later records. The key of the log does not go along, unless --with-key says so.

A copy that grows with the log is another thing: 'jobledger backup'.`,
		Example: `  jobledger clone --from /var/lib/jobledger --to /mnt/clone
  jobledger clone --from nats://a:4222,nats://b:4222/jobledger-log --to /mnt/clone
  jobledger clone --from /var/lib/jobledger --to /mnt/clone --dry-run`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runClone(cmd.Context(), c, &f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.from, "from", "", "directory of the log, or nats://HOST:4222,…/NAME for the log of a stream")
	flags.Var((*cli.LogAddress)(&f.to), "to", "directory of the clone; empty, or not there")
	flags.BoolVar(&f.withKey, "with-key", false, "copy the key of the log, too")
	flags.BoolVar(&f.dryRun, "dry-run", false, "say what would come, and write nothing")
	flags.StringVar(&f.server.Creds, "replicate-creds", "", "file with a JWT and its key, for the NATS servers")
	flags.StringVar(&f.server.CA, "replicate-ca", "", "file with the certificates that those servers' are checked against")
	for _, name := range []string{"from", "to"} {
		if err := cmd.MarkFlagDirname(name); err != nil {
			panic(err) // a bug: it fails only if there is no such flag
		}
	}
	return cmd
}

// config returns what to clone and where to, as the flags say, or a usage error.
func (f *cloneFlags) config(c *cli.CLI) (*cloning.Config, error) {
	switch {
	case f.from == "":
		return nil, cli.Usage("say what to clone: --from DIR, or --from nats://HOST:4222/NAME")
	case f.to == "":
		return nil, cli.Usage("say where to: --to DIR")
	}
	if _, err := open.Dir(f.to); err != nil {
		return nil, cli.Usage("--to=%s: %v", f.to, err)
	}
	config := &cloning.Config{To: f.to, DryRun: f.dryRun}
	scheme, rest, isURL := strings.Cut(f.from, "://")
	if isURL {
		return config, f.ofStream(config, scheme, rest)
	}
	if f.server != (dial.Config{}) {
		return nil, cli.Usage("--replicate-creds and --replicate-ca go with --from nats://HOST:4222/NAME")
	}
	dir, err := open.Dir(f.from)
	if err != nil {
		return nil, cli.Usage("--from=%s: %v", f.from, err)
	}
	config.Open = func(ctx context.Context) (*cloning.Source, error) {
		live, err := wholeOrLive(ctx, c, f.from, dir)
		if err != nil {
			return nil, err
		}
		return cloning.OfDirectory(ctx, dir, live)
	}
	if f.withKey {
		key, err := open.Key(f.from)
		if err != nil {
			return nil, fmt.Errorf("--with-key: %w", err)
		}
		config.Key = &key
	}
	return config, nil
}

// ofStream sets the log of a NATS stream as what is cloned. rest is what follows the scheme in --from.
func (f *cloneFlags) ofStream(config *cloning.Config, scheme, rest string) error {
	at := strings.LastIndexByte(rest, '/')
	switch {
	case scheme != "nats" && scheme != "tls":
		hint := ""
		if scheme == "s3" || scheme == "file" {
			hint = "; of a copy 'jobledger restore' makes a log"
		}
		return cli.Usage("--from=%s: give a directory, or nats://HOST:4222/NAME for the log of a stream%s", words.Clean(f.from), hint)
	case at <= 0 || at == len(rest)-1 || strings.HasSuffix(rest[:at], "/"):
		return cli.Usage("--from: which stream? %s://HOST:4222/%s, for example", scheme, replicateStream)
	case hasSecret(scheme + "://" + rest[:at]):
		return cli.Usage("--from: everybody on this machine can see the secret in it; put it into a file (--replicate-creds)")
	case f.withKey:
		return cli.Usage("--with-key: a stream does not have the key of its log. Copy the file KEY of a controller into the clone")
	}
	server := f.server
	server.URL, server.Name = scheme+"://"+rest[:at], "jobledger clone"
	server, err := server.Load()
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	config.Open = func(ctx context.Context) (*cloning.Source, error) {
		return replicating.OfStream(ctx, replicating.VerifyConfig{
			Dial: server, Stream: rest[at+1:], Reader: loop.Reader(cli.ThisBuild().Version),
		})
	}
	return nil
}

// wholeOrLive returns a client of the controller that writes the log. It returns nil if no process writes the log; then
// a damaged log is an error.
func wholeOrLive(ctx context.Context, c *cli.CLI, address, dir string) (beside.Live, error) {
	log, err := open.Archive(address)
	if held := (*store.HeldError)(nil); errors.As(err, &held) {
		client, err := cli.Besides(ctx, dir, held)
		if err != nil {
			return nil, err
		}
		client.Damage = c.Met
		return client, nil
	}
	if err != nil {
		return nil, cli.ExplainOpen(dir, err)
	}
	damage := log.Damage()
	if err := log.Close(); err != nil {
		return nil, err
	}
	for _, bad := range damage {
		return nil, fmt.Errorf("the log has damage, and a clone of it would be no whole log: %w", bad)
	}
	return nil, nil
}

func runClone(ctx context.Context, c *cli.CLI, f *cloneFlags) error {
	config, err := f.config(c)
	if err != nil {
		return err
	}
	progress := cli.NewProgress(c.Err, "clone", 0)
	config.Begin = func(s *cloning.Source) {
		first, end := s.Files[0].First, s.Head()
		progress.Name("clone", uint64(end.Sequence-first)+1)
		fmt.Fprintf(c.Out, "log %s of %s: records %d to %d, in %s\n", s.LogID, words.Clean(s.Name), first, end.Sequence,
			cli.Counted(len(s.Files), "file", "files"))
		config.Tell = func(step cloning.Step) {
			progress.Clear()
			progress.Show(uint64(step.Last-first) + 1)
			fmt.Fprintln(c.Out, cloneLine(step))
		}
	}
	config.Verifies = func(done, total int64) {
		progress.Name("verify", uint64(total))
		progress.Show(uint64(done))
	}
	report, err := cloning.Run(ctx, config)
	progress.Clear()
	if err != nil {
		return fmt.Errorf("clone: %s", words.Clean(err.Error()))
	}
	if f.dryRun {
		fmt.Fprintln(c.Out, "clone: nothing was written")
		return nil
	}
	fmt.Fprintf(c.Out, "clone: log %s, head %d %s, in %s; every record was verified\n", report.Identity,
		report.Head.Sequence, report.Head.Hash, f.to)
	return nil
}

// cloneLine returns the line that clone prints about one file.
func cloneLine(s cloning.Step) string {
	line := fmt.Sprintf("records %d to %d", s.First, s.Last)
	if s.Last < s.First {
		line = fmt.Sprintf("a file for records from %d on", s.First)
	}
	if s.Bytes > 0 {
		line += fmt.Sprintf(", %d bytes", s.Bytes)
	}
	if s.There {
		line += ", there already"
	}
	return line
}
