package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/serve"
)

// runFlags are the choices of an operator.
type runFlags struct {
	log        string
	kubeconfig string
	context    string
	manage     string
	namespace  string
	listen     string
	logFormat  string
	verbosity  int
	stop       time.Duration
}

const defaultListen = "127.0.0.1:10271"

func newRun(c *cli) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run the controller",
		Long: `Run Jobs: watch them, decide, write every decision down in the log, and only then carry it out.

--manage=delegated (the default) runs the Jobs whose spec.managedBy is "` + events.ManagedBy + `"; nothing in the
cluster needs changing. --manage=all runs in place of the built-in Job controller, which must be off.

The cluster is that of --kubeconfig, else of $KUBECONFIG or ~/.kube/config, else the one that this process runs in.

The log is a directory on a local disk that one process at a time may write. It is made if it does not exist. What
reads it (get, events, replay) finds this controller through it while it runs.

--listen serves /healthz, /livez, /readyz, /metrics and the read endpoint under /v1 to this machine only.

SIGTERM or SIGINT stops in good order: nothing more is begun, what was sent is waited for and written down. A second
one ends the process at once; nothing is lost, and the next start finds out what was in flight. Exit codes: 0 after a
stop in good order, 1 after a failure, 2 when the command line cannot be understood.`,
		Example: `  jobledger run --log /var/lib/jobledger
  jobledger run --log ./log --kubeconfig ./kubeconfig --manage=all --listen=127.0.0.1:0`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			mode, err := f.validate()
			if err != nil {
				return err
			}
			logger := newLogger(c.err, f.logFormat, f.verbosity)
			if err := runController(cmd.Context(), &f, mode, logger); err != nil {
				logger.Error("failed", "error", err)
				return errTold
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.log, "log", "", "directory of the log (required)")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "file that says how to reach the cluster")
	flags.StringVar(&f.context, "context", "", "context of the kubeconfig; its current one unless given")
	flags.StringVar(&f.manage, "manage", events.ModeDelegated.String(), "which Jobs to run: delegated or all")
	flags.StringVarP(&f.namespace, "namespace", "n", "", "watch only this namespace; all unless given")
	flags.StringVar(&f.listen, "listen", defaultListen, "loopback address for health, metrics and readers; port 0 for any, empty for none")
	flags.StringVar(&f.logFormat, "log-format", "", "text or json; text on a terminal, else json")
	flags.IntVarP(&f.verbosity, "v", "v", 0, "how much to tell: 0 what happens, 1 and up also details")
	flags.DurationVar(&f.stop, "stop-timeout", 20*time.Second, "how long a stop may wait for what is in flight")
	completeWith(cmd, "manage", events.ModeDelegated.String(), events.ModeAll.String())
	completeWith(cmd, "log-format", logText, logJSON)
	for _, err := range []error{cmd.MarkFlagDirname("log"), cmd.MarkFlagFilename("kubeconfig")} {
		if err != nil {
			panic(err) // there is no such flag
		}
	}
	return cmd
}

// validate refuses what cannot be run, in words that say what can.
func (f *runFlags) validate() (events.Mode, error) {
	var mode events.Mode
	switch f.manage {
	case events.ModeDelegated.String():
		mode = events.ModeDelegated
	case events.ModeAll.String():
		mode = events.ModeAll
	case events.ModeObserve.String():
		return 0, usage("--manage=observe is not there yet: use delegated or all")
	default:
		return 0, usage("--manage=%s: must be delegated or all", f.manage)
	}
	switch {
	case f.log == "":
		return 0, usage("say where the log is to be: --log DIR")
	case f.listen != "" && !serve.Loopback(f.listen):
		return 0, usage("--listen=%s: the endpoint has no access control, so it serves loopback addresses only, such as %s", f.listen, defaultListen)
	case f.logFormat != "" && f.logFormat != logText && f.logFormat != logJSON:
		return 0, usage("--log-format=%s: must be text or json", f.logFormat)
	case f.stop <= 0:
		return 0, usage("--stop-timeout=%s: must be longer than nothing", f.stop)
	}
	if f.listen != "" {
		if err := checkAddress(f.listen); err != nil {
			return 0, &usageError{fmt.Sprintf("--listen=%s: %v", f.listen, err)}
		}
	}
	return mode, nil
}
