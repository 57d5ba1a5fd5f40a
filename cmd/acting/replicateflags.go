package acting

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats/dial"
	"github.com/jobledger/jobledger/internal/run/controller"
	"github.com/jobledger/jobledger/internal/run/doctor"
	"github.com/jobledger/jobledger/internal/run/replicating"
	"github.com/jobledger/jobledger/store/natslog/stream"
)

// replicateFlags are the flags about replicating the log by a NATS stream. The log is replicated only if they name a
// NATS server.
type replicateFlags struct {
	dial.Config // the flags set only the fields URL, Creds and CA
	stream      string
	keyFile     string
	unsafe      bool
	newStream   bool
	synced      bool
	monitor     string
	members     int
	most        string // size in bytes, in the format of Kubernetes, such as 4Gi
	maxBytes    int64
}

const (
	replicateStream = "jobledger-log"
	syncedFlag      = "replicate-assume-synced"
	membersFlag     = "replicate-members"
	maxBytesFlag    = "replicate-max-bytes"

	leastStream = 16 << 20 // bytes
	mostMembers = 9
)

func (f *replicateFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.URL, replicating.Flag, "",
		"alpha: NATS servers in whose stream the log is replicated, with commas; each controller has a --log of its own")
	addStreamAddress(flags, &f.Config, &f.stream)
	flags.StringVar(&f.keyFile, replicating.KeyFlag, "",
		"with --follow or --replicate, file with the 32 bytes of the log's key, one for all controllers")
	flags.BoolVar(&f.unsafe, replicating.UnsafeFlag, false,
		"let fewer than 3 servers hold the stream: a disk that is lost is its end")
	flags.BoolVar(&f.newStream, replicating.NewStreamFlag, false,
		"begin another stream, or go on with another one than before; take it out once that is done")
	flags.BoolVar(&f.synced, syncedFlag, false,
		"believe that each server syncs what it stores (sync_interval: always), which no client can see")
	flags.StringVar(&f.monitor, replicating.MonitorFlag, "",
		"monitoring addresses of these servers, such as http://nats-0:8222, with commas: each proves there that it syncs")
	flags.IntVar(&f.members, membersFlag, replicating.DefaultMembers,
		"how many controllers keep the log: what fewer have, the stream keeps, up to --replicate-max-bytes")
	flags.StringVar(&f.most, maxBytesFlag, "4Gi",
		"from this size on the stream is cut behind what two replicas have, and keeps nothing for one that is away")
}

// addStreamAddress adds the flags that name, in addition to --replicate, the stream and the user.
func addStreamAddress(flags *pflag.FlagSet, server *dial.Config, name *string) {
	flags.StringVar(name, "replicate-stream", replicateStream, "name of that stream; run makes it if there is none")
	flags.StringVar(&server.Creds, "replicate-creds", "", "file with a JWT and its key, for --replicate")
	flags.StringVar(&server.CA, "replicate-ca", "",
		"file with the certificates that those servers' are checked against, at --replicate and at --replicate-monitor")
}

// wanted reports whether the log is to be replicated.
func (f *replicateFlags) wanted() bool { return f.URL != "" }

// check returns a usage error for flags that cannot work, or that have no effect.
func (f *replicateFlags) check(flags *pflag.FlagSet) error {
	if !f.wanted() {
		for _, name := range []string{
			"replicate-stream", "replicate-creds", "replicate-ca", replicating.UnsafeFlag,
			replicating.NewStreamFlag, syncedFlag, replicating.MonitorFlag, membersFlag,
			maxBytesFlag,
		} {
			if flags.Changed(name) {
				return cli.Usage("--%s goes with --%s, which says where NATS is", name, replicating.Flag)
			}
		}
		return nil
	}
	size, err := resource.ParseQuantity(f.most)
	if f.maxBytes = size.Value(); err != nil || f.maxBytes < leastStream {
		return cli.Usage("--%s=%s: must be a size of 16Mi or more", maxBytesFlag, f.most)
	}
	switch {
	case f.members < 1 || f.members > mostMembers:
		return cli.Usage("--%s=%d: must be from 1 to %d", membersFlag, f.members, mostMembers)
	case hasSecret(f.URL):
		return cli.Usage("--%s: everybody on this machine can see the secret in it; put it into a file (--replicate-creds)",
			replicating.Flag)
	case f.stream == "":
		return cli.Usage("--replicate-stream: a name is wanted")
	case f.keyFile == "":
		return cli.Usage("--%s: all controllers need one key: --%s FILE with 32 random bytes, or with the KEY of the log "+
			"that there is", replicating.Flag, replicating.KeyFlag)
	case !f.unsafe && !f.synced && f.monitor == "":
		return cli.Usage("--%s: a server that does not sync loses what it has acknowledged. Set sync_interval: always on "+
			"each, and have it proved with --%s, or say so with --%s; or try it out with --%s",
			replicating.Flag, replicating.MonitorFlag, syncedFlag, replicating.UnsafeFlag)
	case f.monitor != "" && f.synced:
		return cli.Usage("--%s and --%s: one of the two", replicating.MonitorFlag, syncedFlag)
	case f.monitor != "":
		if err := replicating.CheckMonitor(f.monitor); err != nil {
			return cli.Usage("--%s: %v", replicating.MonitorFlag, err)
		}
	}
	return nil
}

// goTogether returns a usage error for flags of run that contradict --replicate. mode is the value of --manage.
func (f *replicateFlags) goTogether(run *RunFlags, mode events.Mode) error {
	if !f.wanted() {
		return nil
	}
	refuse := func(flag, why string) error {
		return cli.Usage("--%s does not go with --%s: %s", flag, replicating.Flag, why)
	}
	switch {
	case run.elect.alone:
		return refuse(controller.AloneFlag, "its log is not alone")
	case run.nats.embedded:
		return refuse("nats-embedded", "after a takeover the stream of records would be another one. "+
			"Publish to servers of their own (--nats-url)")
	case mode == events.ModeObserve:
		return refuse("manage=observe", "who observes writes nothing to the cluster, and needs no standby")
	case !run.elect.on:
		return refuse("leader-elect=false", "the Lease ends what an old leader sends to the API server")
	case run.epoch != 0:
		return refuse(controller.EpochFlag, "all replicas would have to begin that epoch; this is not there yet")
	case run.copy.to != "":
		return refuse(controller.CopyFlag, "it was not tried with several writers. Each controller has the whole log")
	}
	return nil
}

// examined returns what doctor checks about the replication of the log. dir is the log's directory, and may be empty.
func (f *replicateFlags) examined(dir string) (doctor.Replicate, error) {
	c, err := f.config(dir)
	return doctor.Replicate{Config: c, Synced: f.synced}, err
}

const keyBytes = len(events.Key{})

// config returns how the log is replicated, as the flags say; nil without --replicate.
func (f *replicateFlags) config(dir string) (*replicating.Config, error) {
	if !f.wanted() {
		return nil, nil
	}
	server, err := f.Config.Load()
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", replicating.Flag, err)
	}
	server.Name = "jobledger, replicated log"
	c := &replicating.Config{
		Dial: server, Stream: f.stream, Replicas: stream.LeastReplicas, Unsafe: f.unsafe, NewStream: f.newStream,
		Dir: dir, Members: f.members, MaxBytes: f.maxBytes,
	}
	if f.unsafe {
		c.Replicas = 1
	}
	if f.monitor != "" {
		c.Monitor = strings.Split(f.monitor, ",")
	}
	c.Key, err = readKey(f.keyFile)
	return c, err
}

// readKey reads the log's key (a secret) from a file. It returns an error if every user of this machine may read the
// file.
func readKey(file string) (key events.Key, err error) {
	f, err := os.Open(file)
	if err != nil {
		return key, fmt.Errorf("--%s: %w", replicating.KeyFlag, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return key, fmt.Errorf("--%s: %w", replicating.KeyFlag, err)
	case info.Mode().Perm()&0o007 != 0:
		return key, fmt.Errorf("--%s: every user may read %s (mode %#o): mend that with 'chmod 600 %s', or with "+
			"defaultMode 0440 of the Secret's volume", replicating.KeyFlag, file, info.Mode().Perm(), file)
	case !info.Mode().IsRegular() || info.Size() != int64(keyBytes):
		return key, fmt.Errorf("--%s: %s is no file of %d bytes: make one with 'head -c %d /dev/urandom'",
			replicating.KeyFlag, file, keyBytes, keyBytes)
	}
	if _, err := f.ReadAt(key[:], 0); err != nil {
		return key, fmt.Errorf("--%s: %w", replicating.KeyFlag, err)
	}
	return key, nil
}
