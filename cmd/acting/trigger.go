package acting

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/run/triggering"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/internal/subject/trigger"
)

// triggerFlags are the flags of trigger, which requests a run of a CronJob now.
type triggerFlags struct {
	cluster   RunFlags // only kubeconfig and context are used
	namespace string
	output    cli.OutputFlag
}

// askTimeout limits the time of the command, with the wait until the Lease is renewed.
const askTimeout = time.Minute

func newTrigger(c *cli.CLI) *cobra.Command {
	var f triggerFlags
	cmd := &cobra.Command{
		Use:   "trigger cronjob/NAME",
		Short: "Ask the controller to run a CronJob now",
		Long: `Ask the controller to run a CronJob now, under its concurrencyPolicy.

It sets the annotation ` + trigger.Annotation + ` of the CronJob, with your rights: patch CronJobs, get the
Lease. The value is a time, a random ID, and the name that the API server has for you. The controller
carries each value out once, and records the name as what the caller said: whoever may change the
CronJob may write any name. A value that is older than a minute when the controller sees it first is
not carried out.

It is refused where no controller of Jobledger runs the CronJobs. Its Lease says so: "jobledger" in
the namespace jobledger or kube-system, or in the CronJob's own.

Exit codes: 0 when the run was asked for, 1 when it was not, 2 when the command line cannot be
understood.`,
		Example: `  jobledger trigger cronjob/nightly -n batch`,
		Args:    cli.OneCronJobArg,
		RunE:    func(cmd *cobra.Command, args []string) error { return runTrigger(cmd.Context(), c, &f, args) },
		Annotations: map[string]string{
			cli.OfKubeconfig: "",
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.cluster.kubeconfig, "kubeconfig", "", "file that says how to reach the cluster")
	flags.StringVar(&f.cluster.context, "context", "", "context of the kubeconfig; its current one unless given")
	flags.StringVarP(&f.namespace, "namespace", "n", "", "namespace of the CronJob")
	f.output.AddFormats(cmd, cli.FormatTable, cli.FormatJSON, cli.FormatYAML)
	return cmd
}

func runTrigger(ctx context.Context, c *cli.CLI, f *triggerFlags, args []string) error {
	one, before, err := which.Parse(args)
	if err != nil {
		return err
	}
	if err := which.WantCronJobNamed(args, one, before); err != nil { // the kind must be given: no guess for an action
		return err
	}
	if f.namespace, err = which.OneNamespace(args, before, f.namespace); err != nil {
		return err
	}
	if err := f.output.Validate(); err != nil {
		return err
	}
	cluster, err := connect(&f.cluster)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	asked, err := triggering.Run(ctx, triggering.Config{
		Client: cluster.Client, Namespace: cli.OrDefault(f.namespace), Name: one.Name, Now: time.Now,
		Note: func(text string) { fmt.Fprintln(c.Err, words.Clean(text)) },
	})
	if err != nil {
		return err
	}
	if f.output.Document() {
		return c.Value(&f.output, asked)
	}
	by := ""
	if asked.By != "" {
		by = ", as " + asked.By
	}
	_, err = fmt.Fprintln(c.Out, words.Clean(fmt.Sprintf("cronjob/%s: asked %s for a run now%s", asked.Name, asked.Holder, by)))
	return err
}
