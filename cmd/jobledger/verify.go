package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

const verifyHelp = `Read the whole log and check it: dense sequences, checksums, the hash chain over every record,
batches, pointers within streams, terms of writers. Nothing may be missing but what a record says is
gone. The lists of Jobs beside the log are compared with the records, too; the snapshot is not.

The first line names the log. The last is "verify: R records, head SEQ HASH". If the log is damaged,
all damage is named, with the first bad record and the intact records before it, and the exit code
is 1.

A controller can write the log at the same time. Then all files are verified but the newest.
--has SEQ:HASH asks for a head that was noted elsewhere: by verify, in the Lease, in the messages of
the controller. A log that ends before it, or has another hash there, is damaged.

--replicas compares all replicas of a replicated log (docs/ha.md) and its stream: are they on one
chain, and how far is each. It asks the controllers that run, over NATS, and reads the stream from
its beginning; with --log DIR it compares that log, too, by its newest record, and does not read
it. Its last line is "verify: N logs and the stream are on one chain, head SEQ HASH". When a log
is not on the chain, or none could be compared, the exit code is 1. One that is behind, and one
that was not heard or does not answer, is named, and is no damage.`

func newVerify(c *cli.CLI) *cobra.Command {
	var dir, has string
	var replicas replicaVerifier
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check that the log is whole and as it was written",
		Long:  verifyHelp,
		Example: `  jobledger verify --log DIR
  jobledger verify --log DIR --has 124:9d964a30…
  jobledger verify --replicas --replicate nats://a:4222,nats://b:4222,nats://c:4222 -o json`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if replicas != nil {
				wanted, err := replicas.Check(cmd.Flags())
				if err != nil {
					return err
				}
				if wanted {
					return replicas.Verify(cmd.Context(), c, dir)
				}
			}
			if dir == "" {
				dir = c.Getenv(cli.EnvLog)
			}
			if dir == "" {
				return cli.Usage("say which log: --log DIR (or $%s)", cli.EnvLog)
			}
			heads, err := parseHas(has)
			if err != nil {
				return err
			}
			return runVerify(cmd.Context(), c, dir, heads)
		},
	}
	cmd.Flags().Var((*cli.LogAddress)(&dir), "log", "directory of the log ($JOBLEDGER_LOG)")
	cmd.Flags().StringVar(&has, "has", "", "a head that the log must have: SEQ:HASH")
	if err := cmd.MarkFlagDirname("log"); err != nil {
		panic(err) // a bug: it fails only if there is no such flag
	}
	if newReplicas != nil {
		replicas = newReplicas(cmd)
	}
	return cmd
}

// replicaVerifier compares the replicas of a log: the processes' copies of a log that a NATS stream replicates. It is
// behind the flag --replicas of verify.
type replicaVerifier interface {
	// Check returns a usage error for flags that contradict each other. wanted says whether --replicas is set.
	Check(flags *pflag.FlagSet) (wanted bool, err error)
	// Verify compares the replicas with the NATS stream, and prints the result. If dir is not empty, it also compares
	// the log in dir.
	Verify(ctx context.Context, c *cli.CLI, dir string) error
}

// parseHas parses the text SEQ:HASH: a record's number, and the hash of all records through it, which the log must
// have. It returns none for an empty text.
func parseHas(text string) ([]store.Head, error) {
	if text == "" {
		return nil, nil
	}
	number, digits, _ := strings.Cut(text, ":")
	n, err := strconv.ParseUint(number, 10, 64)
	hash, bad := hex.DecodeString(digits)
	h := store.Head{Sequence: events.Sequence(n)}
	if err != nil || bad != nil || n == 0 || len(hash) != len(h.Hash) {
		return nil, cli.Usage("--has %s: write a record's sequence, a colon, and the %d hexadecimal digits of its hash, as verify prints them", text, 2*len(h.Hash))
	}
	copy(h.Hash[:], hash)
	return []store.Head{h}, nil
}

func runVerify(ctx context.Context, c *cli.CLI, dir string, has []store.Head) error {
	progress := cli.NewProgress(c.Err, "verify", 0)
	report, err := open.Verify(ctx, dir, func(done, total int64) {
		progress.Total = uint64(max(total, 1))
		progress.Show(uint64(done))
	}, has...)
	progress.Clear()
	if err := tellVerified(c, dir, report, err); err != nil {
		return err
	}
	note, err := keyNote(ctx, dir)
	if err != nil {
		return err
	}
	if note != "" {
		fmt.Fprintf(c.Out, "note: %s\n", words.Clean(note))
	}
	if report.Snapshot != 0 {
		fmt.Fprintf(c.Out, "note: the snapshot of record %d was not compared with the records: 'jobledger replay' does that\n", report.Snapshot)
	}
	wrong, err := verifyLists(ctx, c, dir)
	if err != nil {
		return err
	}
	if report.Written != 0 && report.Records == 0 {
		fmt.Fprintln(c.Out, "verify: nothing was verified, as the log has no other file: stop the controller first, or ask later")
		return nil
	}
	if wrong > 0 {
		fmt.Fprintf(c.Out, "verify: %s not what the records give; the records are whole: %d, head %d %s\n",
			cli.Counted(wrong, "list of Jobs is", "lists of Jobs are"), report.Records, report.Head.Sequence, report.Head.Hash)
		return cli.ErrTold
	}
	fmt.Fprintf(c.Out, "verify: %d records, head %d %s\n", report.Records, report.Head.Sequence, report.Head.Hash)
	return nil
}

// tellVerified prints the result of a verification. err is its error; if that is damage of the log, all damage is
// printed.
func tellVerified(c *cli.CLI, dir string, report store.Report, err error) error {
	tellIdentity(c, report)
	if err == nil && report.First > 1 && report.Records > 0 {
		fmt.Fprintf(c.Out, "note: %s\n", cli.PrunedBefore(report.First))
	}
	for _, note := range report.Notes {
		fmt.Fprintf(c.Out, "note: %s\n", words.Clean(note))
	}
	var bad *store.CorruptError
	switch {
	case errors.As(err, &bad):
		for _, damage := range report.Damage {
			// The error advises to run 'jobledger verify', which this command is, so leave that out.
			fmt.Fprintln(c.Out, words.Clean(strings.Replace(damage.Error(), "run 'jobledger verify'; ", "", 1)))
		}
		fmt.Fprintf(c.Out, "verify: first bad record %d; %s\n", bad.At, intact(report))
		return cli.ErrTold
	case err != nil:
		return cli.ExplainOpen(dir, err)
	}
	if report.Written != 0 {
		fmt.Fprintf(c.Out, "note: a controller writes the log: the records from %d on, in its newest file, were not verified\n", report.Written)
	}
	return nil
}

// verifyLists compares the stored lists of Jobs with the log's records, and returns how many lists are wrong.
func verifyLists(ctx context.Context, c *cli.CLI, dir string) (wrong int, err error) {
	if cli.ListsDir(dir) == "" {
		return 0, nil // a log without a directory has no lists
	}
	log, err := open.Archive(dir)
	if errors.Is(err, store.ErrHeld) {
		fmt.Fprintln(c.Out, "note: the lists of Jobs were not compared with the records: a controller writes them")
		return 0, nil
	}
	if err != nil {
		return 0, cli.ExplainOpen(dir, err)
	}
	defer func() { _ = log.Close() }() // opened only for reading
	checked, err := checkLists(ctx, log, dir)
	for _, note := range checked.Notes {
		fmt.Fprintf(c.Out, "note: %s\n", words.Clean(note))
	}
	for _, w := range checked.Wrong {
		fmt.Fprintln(c.Out, words.Clean(w.Error()))
	}
	return len(checked.Wrong), err
}

func checkLists(ctx context.Context, log store.Archive, dir string) (joblist.Checked, error) {
	return joblist.Check(ctx, joblist.Config{Log: log, Files: store.FilesOf(log), Dir: cli.ListsDir(dir)})
}

// tellIdentity prints the log's ID, and which records it has.
func tellIdentity(c *cli.CLI, r store.Report) {
	if r.Identity.LogID == "" {
		return
	}
	files := cli.Counted(max(r.Files, 1), "file", "files") // Files does not count the first damaged file
	if r.Records == 0 {
		fmt.Fprintf(c.Out, "log %s, epoch %d\n", words.Clean(r.Identity.LogID), r.Identity.Epoch)
		return
	}
	fmt.Fprintf(c.Out, "log %s, epoch %d: records %d to %d in %s\n", words.Clean(r.Identity.LogID), r.Identity.Epoch, r.First, r.Head.Sequence, files)
}

// keyNote returns a note if the file KEY is not the key with which the newest run of the controller hashed specs and
// templates; empty if it is. The verification does not need the key.
func keyNote(ctx context.Context, dir string) (string, error) {
	log, err := open.Archive(dir)
	if errors.Is(err, store.ErrHeld) {
		return "", nil // while a controller has the log open, it reports this itself
	}
	if err != nil {
		return "", cli.ExplainOpen(dir, err)
	}
	defer func() { _ = log.Close() }() // opened only for reading
	for rec, err := range log.ReadStream(ctx, events.Controller, 0, store.Backward) {
		if errors.Is(err, store.ErrPruned) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		f, ok := rec.Facts.(*events.ControllerStarted)
		if !ok {
			continue
		}
		return keyText(dir, f.Key), nil
	}
	return "", nil
}

func keyText(dir, used string) string {
	key, err := open.Key(dir)
	switch {
	case used == "":
		return "" // the newest run had no key to compare with
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("specs and templates have hashes of key %s, and KEY is gone: a start makes another", used)
	case err != nil:
		return err.Error()
	case key.ID() != used:
		return fmt.Sprintf("specs and templates have hashes of key %s, and KEY is %s: a start goes on with that", used, key.ID())
	}
	return ""
}

// intact returns words that say which records of a damaged log are intact.
func intact(r store.Report) string {
	behind := ""
	if r.Behind > 0 {
		behind = fmt.Sprintf("; %d behind it are whole in themselves", r.Behind)
	}
	if r.Records == 0 {
		return "no record before it is intact" + behind
	}
	return fmt.Sprintf("%d records from %d to %d are intact, head %d %s%s", r.Records, r.First, r.Head.Sequence, r.Head.Sequence, r.Head.Hash, behind)
}
