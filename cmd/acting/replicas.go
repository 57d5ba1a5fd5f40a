package acting

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events/nats/dial"
	"github.com/jobledger/jobledger/internal/run/replicating"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

const replicasFlag = "replicas"

// Replicas are the flags of verify for comparing the replicas of a log: the processes' copies of a log that a NATS
// stream replicates.
type Replicas struct {
	dial.Config // the flags set only the fields URL, Creds and CA
	wanted      bool
	stream      string
	members     int
	output      cli.OutputFlag
}

// NewReplicas adds the flags for comparing replicas to the command verify.
func NewReplicas(verify *cobra.Command) *Replicas {
	f := &Replicas{}
	flags := verify.Flags()
	flags.BoolVar(&f.wanted, replicasFlag, false, "compare all replicas of a replicated log, and its stream")
	flags.StringVar(&f.URL, replicating.Flag, "", "with --replicas: the NATS servers with the stream, with commas, as run has them")
	addStreamAddress(flags, &f.Config, &f.stream)
	flags.IntVar(&f.members, membersFlag, replicating.DefaultMembers, "how many replicas there should be; fewer are told")
	f.output.AddFormats(verify, cli.FormatTable, cli.FormatJSON, cli.FormatYAML)
	return f
}

// Check returns a usage error for flags that contradict each other. wanted says whether --replicas is set.
func (f *Replicas) Check(flags *pflag.FlagSet) (wanted bool, err error) {
	if err := f.output.Validate(); err != nil {
		return false, err
	}
	if !f.wanted {
		for _, name := range []string{
			replicating.Flag, "replicate-stream", "replicate-creds", "replicate-ca", membersFlag, "output",
		} {
			if flags.Changed(name) {
				return false, cli.Usage("--%s goes with --%s", name, replicasFlag)
			}
		}
		return false, nil
	}
	switch {
	case f.URL == "":
		return false, cli.Usage("--%s: say where NATS is: --%s nats://HOST:4222", replicasFlag, replicating.Flag)
	case hasSecret(f.URL):
		return false, cli.Usage("--%s: everybody on this machine can see the secret in it; put it into a file (--replicate-creds)",
			replicating.Flag)
	case flags.Changed("has"):
		return false, cli.Usage("--has goes without --%s: the stream says which heads there must be", replicasFlag)
	case f.members < 1 || f.members > mostMembers:
		return false, cli.Usage("--%s=%d: must be from 1 to %d", membersFlag, f.members, mostMembers)
	}
	return true, nil
}

// Verify compares the replicas of a log with its NATS stream, and prints the result. If dir is not empty, it also
// compares the log in dir.
func (f *Replicas) Verify(ctx context.Context, c *cli.CLI, dir string) (err error) {
	server, err := f.Config.Load()
	if err != nil {
		return fmt.Errorf("--%s: %w", replicating.Flag, err)
	}
	server.Name = "jobledger verify"
	config := replicating.VerifyConfig{
		Dial: server, Stream: f.stream, Members: f.members, Reader: loop.Reader(cli.ThisBuild().Version),
	}
	notes := []string{}
	if dir != "" {
		log, err := open.Archive(dir)
		switch {
		case errors.Is(err, store.ErrHeld):
			notes = append(notes, "a controller has the log in "+dir+" open: it answers for it, if it is a replica")
		case err != nil:
			return cli.ExplainOpen(dir, err)
		default:
			defer func() { err = errors.Join(err, log.Close()) }()
			config.Own, config.OwnName = log, "log in "+dir
		}
	}
	v, err := replicating.Verify(ctx, config)
	if err != nil {
		return err
	}
	if v.Heard < v.Wanted {
		notes = append(notes, fmt.Sprintf("%d of %d replicas were heard (--%s)", v.Heard, v.Wanted, membersFlag))
	}
	if f.output.Format != cli.FormatTable {
		err = c.Value(&f.output, struct {
			replicating.Verified
			Notes []string `json:"notes"`
		}{v, notes})
	} else {
		f.tell(c, &v, notes)
	}
	if err == nil && !v.OneChain {
		return cli.ErrTold
	}
	return err
}

// tell prints the result of the comparison as text.
func (f *Replicas) tell(c *cli.CLI, v *replicating.Verified, notes []string) {
	say := func(format string, args ...any) { fmt.Fprintln(c.Out, words.Clean(fmt.Sprintf(format, args...))) }
	s := &v.Stream
	say("stream %s, incarnation %s", s.Name, s.Incarnation)
	say("log %s, epoch %d, term %d: records %d to %d", s.LogID, s.Epoch, s.Term, s.First, s.Head.Record)
	say("%s, %d bytes, %d void", cli.Counted(int(s.Messages), "message", "messages"), s.Bytes, s.Void)
	off := 0
	for i := range v.Replicas {
		r := &v.Replicas[i]
		say("%s: %s", title(r), stands(r, s.Head))
		if r.Why != "" {
			say("  %s", r.Why)
		}
		if r.Standing == replicating.OffChain {
			off++
		}
	}
	for _, n := range notes {
		say("note: %s", n)
	}
	switch {
	case off > 0:
		say("verify: %s not on the chain of the stream", cli.Counted(off, "log is", "logs are"))
	case v.Compared == 0:
		say("verify: no replica could be compared with the stream, head %d %s", s.Head.Record, s.Head.Hash)
	default:
		say("verify: %s and the stream are on one chain, head %d %s", cli.Counted(v.Compared, "log", "logs"), s.Head.Record, s.Head.Hash)
	}
}

func title(r *replicating.VerifiedReplica) string {
	switch {
	case r.ID == "":
		return r.Name
	case r.Leads:
		return "replica " + r.Name + " (leads)"
	}
	return "replica " + r.Name
}

// stands describes a replica in words: how many records it has, and whether they are those of the stream. end is the
// stream's last record.
func stands(r *replicating.VerifiedReplica, end replicating.VerifyHead) string {
	text := fmt.Sprintf("record %d", r.Head.Record)
	if r.Behind > 0 {
		text += fmt.Sprintf(", %d behind", r.Behind)
		then, err1 := time.Parse(time.RFC3339Nano, r.Head.Time)
		now, err2 := time.Parse(time.RFC3339Nano, end.Time)
		if late := now.Sub(then); err1 == nil && err2 == nil && late > 0 {
			text += fmt.Sprintf(" (%s)", late.Round(time.Millisecond))
		}
	}
	switch r.Standing {
	case replicating.OnChain:
		return text + ", on the chain"
	case replicating.OffChain:
		return text + ", NOT on the chain"
	case replicating.Unknown:
	}
	return text + ", not compared"
}
