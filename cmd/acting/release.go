package acting

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/lease"
	"github.com/jobledger/jobledger/internal/run/release"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

// releaseFlags are the flags of release: how to remove Jobledger from a cluster.
type releaseFlags struct {
	run       RunFlags // flags of run, because with --drain the command runs the controller
	letGo     bool
	drain     bool
	dryRun    bool
	finalizer []string
	ignore    []string // Leases whose holders are not controllers
	output    cli.OutputFlag
}

const releaseHelp = `Remove from the cluster what Jobledger left there. There are two ways:

--drain --log DIR finishes the Jobs that have begun, takes no new ones, and ends. Stop the running
controller first. It takes the flags of "run", also those that are not shown here: write
"release --drain" in place of "run". SIGINT interrupts it safely, and it can be started again.

--let-go works at once and needs no log. It removes the tracking finalizer from every pod, so that
pods and namespaces can be deleted, and deletes the Lease. Running pods go on. No controller runs
the unfinished Jobs then, because spec.managedBy cannot be changed. They are named: delete them, or
create them again without spec.managedBy.
It refuses to begin while a controller runs: while the Lease is renewed, or --log DIR is in use. A
Lease in another namespace than jobledger and kube-system speaks for its own namespace alone: while
it is renewed, the pods there are left. Any user who may write Leases there may have written it.
--ignore-lease=NAMESPACE/NAME says that it is no controller's.

What makes more Jobs of Jobledger's is named too, and remains: policies, webhooks, labels of
namespaces, and templates in CronJobs, JobSets and others. Turn it off: no controller runs such Jobs.

--dry-run changes nothing, and names the same objects.

--finalizer names the finalizer to remove, "` + events.TrackingFinalizer + `" unless given. After
--manage=all the pods have "` + events.BuiltinTrackingFinalizer + `", and the built-in controller takes
them over when it is switched on again. So without that name only pods of finished Jobs lose it:
they are counted, and the built-in controller passes over them. Give that name only if no controller
will ever run these Jobs again: a running one would lose count of every Job in the cluster.

It is safe to run it again. Exit codes: 0 when nothing of ours remains, 1 when something does, which
is named, 2 when the command line cannot be understood.`

func newRelease(c *cli.CLI) *cobra.Command {
	var f releaseFlags
	cmd := &cobra.Command{
		Use:   "release --drain | --let-go | --dry-run",
		Short: "Leave the cluster: finish the Jobs that have begun, or drop them",
		Long:  releaseHelp,
		Example: `  jobledger release --dry-run
  jobledger release --drain --log ./log
  jobledger release --let-go
  jobledger release --let-go -n batch -o json`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runRelease(cmd.Context(), c, cmd.Flags(), &f) },
	}
	f.run.copy.getenv = c.Getenv
	f.run.Add(cmd)
	flags := cmd.Flags()
	flags.VisitAll(func(flag *pflag.Flag) { flag.Hidden = !slices.Contains(shownOfRun, flag.Name) })
	flags.Lookup("log").Usage = "directory of the log; required by --drain"
	flags.Lookup("namespace").Usage = "only this namespace; all unless given"
	flags.Lookup("drain").Usage = "finish the Jobs that have begun"
	flags.BoolVar(&f.letGo, "let-go", false, "remove finalizers and the Lease at once")
	flags.BoolVar(&f.dryRun, "dry-run", false, "only name what would be changed")
	flags.StringSliceVar(&f.finalizer, "finalizer", []string{events.TrackingFinalizer}, "finalizers that --let-go removes")
	flags.StringSliceVar(&f.ignore, "ignore-lease", nil, "Leases in namespaces of others, as NAMESPACE/NAME, that are no controller's")
	f.output.Add(cmd)
	cli.CompleteWith(cmd, "finalizer", release.Finalizers...)
	return cmd
}

// shownOfRun are the flags of run that the help of release shows. ofLetGo are the flags that are allowed without
// --drain.
var (
	shownOfRun = []string{"drain", "log", "kubeconfig", "context", "namespace", "manage"}
	ofLetGo    = []string{"log", "kubeconfig", "context", "namespace", "let-go", "dry-run", "finalizer", "ignore-lease", "output"}
)

// check returns a usage error for flags that contradict each other.
func (f *releaseFlags) check(flags *pflag.FlagSet) (err error) {
	if err := f.output.Validate(); err != nil {
		return err
	}
	f.drain = f.run.drain
	switch {
	case f.drain && f.letGo:
		return cli.Usage("--drain and --let-go are two ways to leave: give one of them")
	case !f.drain && !f.letGo && !f.dryRun:
		return cli.Usage("say how to leave: --drain finishes the Jobs that have begun, --let-go drops them at once, --dry-run only looks")
	case f.drain && flags.Changed("finalizer"):
		return cli.Usage("--finalizer goes with --let-go")
	}
	for _, name := range f.ignore {
		if namespace, of, ok := strings.Cut(name, "/"); !ok || of != lease.UsualName || slices.Contains(lease.OperatorNamespaces, namespace) {
			return cli.Usage("--ignore-lease=%s: want NAMESPACE/%s, of another namespace than %s", name, lease.UsualName,
				strings.Join(lease.OperatorNamespaces, " and "))
		}
	}
	for _, name := range f.finalizer {
		if !slices.Contains(release.Finalizers, name) {
			return cli.Usage("--finalizer=%s: must be %s or %s", name, release.Finalizers[0], release.Finalizers[1])
		}
	}
	if f.drain {
		return nil
	}
	flags.Visit(func(flag *pflag.Flag) {
		if !slices.Contains(ofLetGo, flag.Name) {
			err = cli.Usage("--%s goes with --drain", flag.Name)
		}
	})
	return err
}

func runRelease(ctx context.Context, c *cli.CLI, flags *pflag.FlagSet, f *releaseFlags) error {
	if err := f.check(flags); err != nil {
		return err
	}
	if f.drain {
		settings, err := f.run.Settings(flags)
		if err != nil {
			return err
		}
		if !f.dryRun {
			if err := drainFirst(ctx, c, f, settings); err != nil {
				return err
			}
		}
	} else if err := notInUse(f); err != nil {
		return err
	}
	cluster, err := connect(&f.run)
	if err != nil {
		return err
	}
	served, err := release.ServedGroups(cluster.Client)
	if err != nil {
		return err
	}
	anyKind, err := cluster.Dynamic()
	if err != nil {
		return err
	}
	list := releaseList{c: c, dryRun: f.dryRun, namespace: f.run.namespace, format: f.output.Format}
	summary, err := release.Run(ctx, release.Config{
		Client: cluster.Client, Namespace: f.run.namespace, Finalizers: f.finalizer, DryRun: f.dryRun, Drained: f.drain,
		Dynamic: anyKind, Served: served, Ignore: f.ignore,
		Tell: list.add, Note: func(text string) { fmt.Fprintln(c.Err, words.Clean(text)) },
	})
	if printed := list.end(summary, err == nil); printed != nil {
		return printed
	}
	if apierrors.IsForbidden(err) {
		return fmt.Errorf("%w: deploy/release/clusterrole.yaml has the rights that this needs", err)
	}
	if err != nil {
		return err
	}
	if summary.Remains > 0 {
		return fmt.Errorf("%s: look at what is said of it, and run this again", cli.Counted(summary.Remains, "object remains", "objects remain"))
	}
	return nil
}

// notInUse returns an error if a process writes the log.
func notInUse(f *releaseFlags) error {
	if f.run.log == "" || f.dryRun {
		return nil
	}
	log, err := open.Archive(f.run.log)
	var held *store.HeldError
	switch {
	case err == nil:
		return log.Close()
	case errors.As(err, &held):
		return errors.New(held.Holder() + ": stop it first")
	}
	return cli.ExplainOpen(open.Place(f.run.log), err)
}

// drainFirst runs the controller without accepting new Jobs, until the Jobs that have begun need nothing more.
func drainFirst(ctx context.Context, c *cli.CLI, f *releaseFlags, settings events.Settings) error {
	logger := newLogger(c.Err, f.run.logFormat, f.run.verbosity)
	running, end := context.WithCancel(ctx)
	defer end()
	drained := false
	err := runController(running, &f.run, settings, logger, func() {
		drained = true // read below, after runController has returned
		end()
	})
	switch {
	case err != nil:
		logger.Error("failed", "error", cli.ThisIs(err))
		return cli.ErrTold
	case !drained:
		return errors.New("stopped before all that has begun had ended: start it again to go on")
	}
	return nil
}
