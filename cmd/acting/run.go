package acting

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/internal/run/controller"
	"github.com/jobledger/jobledger/reconciler/observe"
	"github.com/jobledger/jobledger/store/open"
)

// RunFlags are the choices of an operator, in the commands run, doctor and release.
type RunFlags struct {
	log        string
	kubeconfig string
	context    string
	manage     string
	observe    string // empty, or the constant observeOthers
	namespace  string
	gang       string // empty, or one of gangRules
	drain      bool
	expire     bool
	cronJobs   bool
	listen     string
	logFormat  string
	verbosity  int
	stop       time.Duration
	patience   time.Duration
	labels     []string
	messages   string
	keep       events.Keep // parsed from the field messages
	around     bool
	epoch      uint64 // epoch (life of the log) to begin after a loss of records; 0 for none
	numbers    settingFlags
	elect      electFlags
	retain     retainFlags
	replicate  replicateFlags
	follow     followFlags

	copy   copyFlags
	scrape scrapeFlags
	nats   streamFlags
}

// observeOthers is the only value that --observe may have.
const observeOthers = "others"

const (
	defaultListen = "127.0.0.1:10271"
	cronFlag      = "cronjobs"
	ttlFlag       = "ttl-after-finished" // named after the built-in TTL controller, whose work it does
)

const runHelp = `Run Jobs. The controller watches them and decides. It writes each decision into the log before it
carries the decision out.

--manage=delegated (the default) runs the Jobs whose spec.managedBy is
"` + events.ManagedBy + `". Nothing in the cluster needs changing.
--manage=all runs in place of the built-in Job controller, which must be off. It also deletes the
finished Jobs whose ttlSecondsAfterFinished has passed; --ttl-after-finished=false leaves them to
the built-in controller of that name. It also runs CronJobs, and the built-in CronJob controller
must be off, too; --cronjobs=false leaves them to it.
--manage=observe runs no Job. It reads only, and records what --manage=all would see. It writes a
record WouldDecide when the other controller has not done within --observe-patience what would have
been decided, or ends a Job for no reason that was seen ("jobledger events --kind would-decide").
--manage=delegated --observe=others does both: it runs the delegated Jobs, and observes the others
without writing anything to them or their pods. One log then holds the history of all Jobs.

In the modes that do not run CronJobs the log holds what becomes of their due times all the same.
Without the right to list CronJobs these modes go on without them, and say so once.

The cluster: that of --kubeconfig, else of $KUBECONFIG or ~/.kube/config, else the one that this
process runs in.

The log: a directory on a local disk. One process at a time may write it. It is made if it does not
exist. While this controller runs, get, events and replay find it through that directory.

--listen serves /healthz, /livez, /readyz, /metrics and, under /v1, what get and events read. Only
this machine can reach it. --metrics-bind-address serves the same without /v1 on any address.
Neither probes nor metrics name a Job.

--nats-url (or --nats-context) publishes every record on NATS, in order, into a JetStream stream.
--nats-embedded also runs the server, on loopback. Jobs never wait for NATS: while it is away, the
log keeps what is still to be published.

The controller works only while it holds a Lease: "jobledger" in the namespace jobledger or
kube-system, or in that of --namespace. The Lease names the log that runs the Jobs. A controller
with another log refuses to start without --adopt, and one whose log never ran here also beside a
Lease elsewhere. One with the same log waits, healthy and ready. --leader-elect=false does without a
Lease; then two controllers with two logs undo each other's work.

--follow names the other controllers. This one copies the log of the one that leads, and leads when
that is gone (docs/ha.md). What the leader wrote last may be missing then; a record says what is
known of that.

A log that has lost records is refused: its end is lost, or it is an older copy. To go on without
those records, name another epoch with --force-new-epoch=N, as the refusal says.

--copy-to keeps a copy of the log in a directory on another disk or in a bucket: what is durable is
there within 10 seconds. Jobs never wait for it: while the place is away, the log keeps what is
still to be copied. 'jobledger restore' makes a log of the copy. A controller whose log ends before
the copy, or went another way, refuses to start; and one that finds that out later ends.

--log-max-size and --log-max-age say how much of the log is kept. The oldest files go, and only when
a later file states all that is known of every Job. A consumer that is behind (NATS, the copy,
Kubernetes Events) holds files back until the log has seven eighths of its size. Then it is passed
over, and a record says what it missed.

--drain takes no new Jobs, and runs those that have begun to their end. Then it says that nothing is
left to do, and stays, so that nothing restarts it. "jobledger release --drain" exits instead.

SIGTERM or SIGINT: a graceful shutdown. It begins nothing more, waits for the requests that were
sent, and records how they ended. A second signal ends the process at once. Nothing is lost then
either: the next start finds out how those requests ended. Exit codes: 0 after a graceful shutdown,
1 after a failure or when the Lease is lost, 2 when the command line cannot be understood, or has
--gang-scheduling on a server that cannot have gangs.`

func newRun(c *cli.CLI) *cobra.Command {
	f := RunFlags{copy: copyFlags{getenv: c.Getenv}}
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run the controller",
		Long:  runHelp,
		Example: `  jobledger run --log /var/lib/jobledger
  jobledger run --log ./log --kubeconfig ./kubeconfig --manage=all --listen=127.0.0.1:0
  jobledger run --log ./log --cluster prod-eu --nats-context jobs`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			settings, err := f.Settings(cmd.Flags())
			if err != nil {
				return err
			}
			logger := newLogger(c.Err, f.logFormat, f.verbosity)
			err = runController(cmd.Context(), &f, settings, logger, nil)
			if refused := new(cli.UsageError); errors.As(err, &refused) {
				return err
			}
			if err != nil {
				logger.Error("failed", "error", cli.ThisIs(err))
				return cli.ErrTold
			}
			return nil
		},
	}
	f.Add(cmd)
	return cmd
}

// Add adds the flags to cmd.
func (f *RunFlags) Add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Var((*cli.LogAddress)(&f.log), "log", "directory of the log (required)")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "file that says how to reach the cluster")
	flags.StringVar(&f.context, "context", "", "context of the kubeconfig; its current one unless given")
	flags.StringVar(&f.manage, "manage", events.ModeDelegated.String(), "which Jobs to run: delegated or all; or to observe")
	flags.StringVar(&f.observe, "observe", "", "others: with --manage=delegated, also observe the Jobs of other controllers")
	flags.StringVarP(&f.namespace, "namespace", "n", "", "watch only this namespace; all unless given")
	addGangFlag(flags, &f.gang)
	flags.BoolVar(&f.drain, "drain", false, "take no new Jobs, and finish those that have begun")
	flags.BoolVar(&f.expire, ttlFlag, true,
		"with --manage=all, delete finished Jobs once their ttlSecondsAfterFinished has passed")
	flags.BoolVar(&f.cronJobs, cronFlag, true,
		"with --manage=all, run CronJobs in place of the built-in controller; else record what becomes of them, where there is a right to")
	flags.StringVar(&f.listen, "listen", defaultListen, "loopback address for health, metrics and readers; port 0 for any, empty for none")
	f.scrape.add(flags)
	flags.StringVar(&f.logFormat, "log-format", "", "text or json; text on a terminal, else json")
	flags.IntVarP(&f.verbosity, "v", "v", 0, "how much to tell: 0 what happens, 1 and up also details")
	flags.DurationVar(&f.stop, "stop-timeout", 20*time.Second, "how long a stop may wait for what is in flight")
	flags.DurationVar(&f.patience, "observe-patience", observe.DefaultPatience, "of Jobs that are observed, how long the other controller may take to do what would have been decided")
	flags.BoolVar(&f.around, "watch-cluster", true,
		"also watch nodes and namespaces, to say why pods went; goes on without the right to; with --namespace only if it is given")
	flags.StringVar(&f.messages, "keep-messages", "all",
		"of termination messages and of why containers wait, keep all, first-line or none; the annotation "+events.KeepAnnotation+" of a namespace counts more")
	flags.StringSliceVar(&f.labels, "keep-labels", nil, "names of labels of Jobs to record; app, team and three more unless given")
	flags.Uint64Var(&f.epoch, controller.EpochFlag, 0,
		"go on though records of the log are known to be lost, under this epoch, which the refusal names; it serves once")
	f.numbers.add(flags)
	f.retain.add(flags)
	f.copy.add(flags)
	f.nats.add(cmd)
	f.elect.add(flags)
	f.replicate.add(flags)
	f.follow.add(flags)
	cli.CompleteWith(cmd, "manage", events.ModeDelegated.String(), events.ModeAll.String(), events.ModeObserve.String())
	cli.CompleteWith(cmd, "observe", observeOthers)
	cli.CompleteWith(cmd, "log-format", logText, logJSON)
	for _, err := range []error{cmd.MarkFlagDirname("log"), cmd.MarkFlagFilename("kubeconfig")} {
		if err != nil {
			panic(err) // a bug: it fails only if there is no such flag
		}
	}
}

// Settings returns the settings of the controller that the flags choose, or a usage error.
func (f *RunFlags) Settings(flags *pflag.FlagSet) (events.Settings, error) {
	settings, err := f.validate()
	if err != nil {
		return settings, err
	}
	if f.namespace != "" && !flags.Changed("watch-cluster") {
		f.around = false // such a controller usually has no rights outside its namespace
	}
	if err := f.nats.goTogether(flags); err != nil {
		return settings, err
	}
	if err := f.elect.check(flags); err != nil {
		return settings, err
	}
	if settings.Mode != events.ModeObserve && f.elect.on {
		if err := f.elect.checkPlace(settings.Namespace); err != nil {
			return settings, err
		}
	}
	if err := cmp.Or(
		f.follow.goTogether(f, flags, settings.Mode), f.replicate.check(flags), f.replicate.goTogether(f, settings.Mode),
	); err != nil {
		return settings, err
	}
	settings.DeleteExpired = f.expire && settings.Mode == events.ModeAll
	if f.expire && flags.Changed(ttlFlag) && !settings.DeleteExpired {
		return settings, cli.Usage("--%s goes with --manage=all: beside the built-in Job controller the built-in TTL controller deletes finished Jobs", ttlFlag)
	}
	// A controller of all Jobs (--manage=all) that drains begins nothing new, so it runs no CronJobs.
	settings.CronJobs = f.cronJobs && !(settings.Draining && settings.Mode == events.ModeAll)
	if f.cronJobs && flags.Changed(cronFlag) && !settings.CronJobs {
		return settings, cli.Usage("--drain begins nothing new, so it runs no CronJobs: leave --%s out", cronFlag)
	}
	if settings.Mode == events.ModeObserve && f.elect.given && f.elect.on {
		return settings, cli.Usage("--manage=observe writes nothing, so it holds no Lease: leave --leader-elect out")
	}
	return settings, nil
}

// validate returns the settings that the flags choose, or a usage error that says what is possible instead.
func (f *RunFlags) validate() (settings events.Settings, err error) {
	mode, err := f.mode()
	if err != nil {
		return settings, err
	}
	switch {
	case f.log == "":
		return settings, cli.Usage("say where the log is to be: --log DIR")
	case f.listen != "" && !serve.Loopback(f.listen):
		return settings, cli.Usage("--listen=%s: the endpoint has no access control, so it serves loopback addresses only, such as %s", f.listen, defaultListen)
	case f.logFormat != "" && f.logFormat != logText && f.logFormat != logJSON:
		return settings, cli.Usage("--log-format=%s: must be text or json", f.logFormat)
	case f.drain && mode == events.ModeObserve:
		return settings, cli.Usage("--manage=observe runs no Jobs, so there is nothing to drain: leave --drain out")
	case f.observe != "" && f.observe != observeOthers:
		return settings, cli.Usage("--observe=%s: must be others, or left out", f.observe)
	case f.observe != "" && mode == events.ModeAll:
		return settings, cli.Usage("--observe=others goes with --manage=delegated: with --manage=all the Jobs are ours")
	case f.observe != "" && mode == events.ModeObserve:
		return settings, cli.Usage("--manage=observe observes all Jobs: leave --observe out, or run the delegated ones with --manage=delegated")
	case f.patience <= 0:
		return settings, cli.Usage("--observe-patience=%s: must be longer than nothing", f.patience)
	case f.stop <= 0:
		return settings, cli.Usage("--stop-timeout=%s: must be longer than nothing", f.stop)
	}
	if err := f.recorded(); err != nil {
		return settings, err
	}
	if err := cmp.Or(f.retain.validate(), f.scrape.validate(), f.copy.validate()); err != nil {
		return settings, err
	}
	if f.listen != "" {
		if err := checkAddress(f.listen); err != nil {
			return settings, cli.Usage("--listen=%s: %v", f.listen, err)
		}
	}
	if settings, err = f.numbers.settings(); err != nil {
		return settings, err
	}
	settings.Mode, settings.Namespace, settings.Draining = mode, f.namespace, f.drain
	if settings.GangScheduling, settings.Gangs, err = gangSettings(f.gang); err != nil {
		return settings, err
	}
	settings.ObserveOthers = f.observe != ""
	return settings, f.nats.validate()
}

// recorded checks the flags that say what is recorded in addition to decisions.
func (f *RunFlags) recorded() (err error) {
	if f.keep, err = events.ParseKeep(f.messages); err != nil {
		return cli.Usage("--keep-messages: %v", err)
	}
	return checkLabels(f.labels)
}

// mostLabels is the largest number of a Job's labels that are recorded.
const mostLabels = 16

func checkLabels(names []string) error {
	if len(names) > mostLabels {
		return cli.Usage("--keep-labels: %d labels are too many, at most %d may be recorded", len(names), mostLabels)
	}
	for _, name := range names {
		if wrong := validation.IsQualifiedName(name); len(wrong) > 0 {
			return cli.Usage("--keep-labels: %q cannot be the name of a label: %s", name, wrong[0])
		}
	}
	return nil
}

func (f *RunFlags) mode() (events.Mode, error) {
	switch f.manage {
	case events.ModeDelegated.String():
		return events.ModeDelegated, nil
	case events.ModeAll.String():
		return events.ModeAll, nil
	case events.ModeObserve.String():
		return events.ModeObserve, nil
	}
	return 0, cli.Usage("--manage=%s: must be delegated, all or observe", f.manage)
}

// runController runs the controller until ctx ends or a part of it fails. If the controller takes no new Jobs
// (--drain), it calls drained when no work is left; drained may be nil.
func runController(ctx context.Context, f *RunFlags, settings events.Settings, logger *slog.Logger, drained func()) error {
	config, err := f.Config(settings, logger)
	if err != nil {
		return err
	}
	config.Drained = drained
	err = controller.Run(ctx, config)
	if missing := new(controller.NoGangsError); errors.As(err, &missing) {
		return cli.Usage("%s", missing.Error())
	}
	return err
}

// Config returns how the controller runs, as the flags say. It finds the cluster before it creates anything on the
// disk.
func (f *RunFlags) Config(settings events.Settings, logger *slog.Logger) (*controller.Config, error) {
	cluster, err := connect(f)
	if err != nil {
		return nil, err
	}
	dir, err := open.Dir(f.log)
	if err != nil {
		return nil, err
	}
	stream, err := f.nats.config(dir)
	if err != nil {
		return nil, err
	}
	to, err := f.copy.config()
	if err != nil {
		return nil, err
	}
	replicate, err := f.replicate.config(dir)
	if err != nil {
		return nil, err
	}
	follow, err := f.follow.config(cluster, f.replicate.keyFile)
	if err != nil {
		return nil, err
	}
	b := cli.ThisBuild()
	return &controller.Config{
		Log: f.log, Settings: settings, Cluster: cluster, Program: controller.Program{Version: b.Version, Go: b.Go, Commit: b.Commit}, Logger: logger,
		Listen: f.listen, Scrape: f.scrape.config(), Stream: stream, Copy: to, Lease: f.elect.config(), Stop: f.stop, Patience: f.patience, Labels: f.labels, Messages: f.keep, Around: f.around, Epoch: f.epoch,
		Retention: f.retain.keep, Replicate: replicate, Follow: follow,
	}, nil
}

// connect returns a client of the chosen cluster. It sends no request yet.
func connect(f *RunFlags) (*controller.Cluster, error) {
	loader, err := kubeconfigOf(f.kubeconfig, f.context)
	if err != nil {
		return nil, err
	}
	if err := knownContext(loader, f.context); err != nil {
		return nil, err
	}
	return controller.Connect(loader, cli.ThisBuild().Version)
}
