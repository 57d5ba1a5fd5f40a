package acting

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/run/controller"
	"github.com/jobledger/jobledger/internal/run/doctor"
	"github.com/jobledger/jobledger/internal/run/replicating"
	"github.com/jobledger/jobledger/store/open"
	"github.com/jobledger/jobledger/store/regular"
)

// doctorFlags are the flags of doctor. They include the flags of run, so that doctor checks the cluster for the
// controller that those would start.
type doctorFlags struct {
	run     RunFlags
	account string
	wait    bool
	timeout time.Duration
	output  cli.OutputFlag
}

func newDoctor(c *cli.CLI) *cobra.Command {
	var f doctorFlags
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what would keep a controller from working here, and what to do",
		Long: `Look at the cluster, the disk, NATS and the copy as a controller with these flags would find them:
version of the server and what it lacks, its clock, rights, who runs the Jobs now, webhooks in the
way, pods that cannot go, the Lease, the disk of the log, the stream of records, the place of the
copy, and with --replicate the stream of the log: each of its settings that loses data. It takes
the flags of "run", also those that are not shown here: write "doctor" in place of "run". It
changes nothing, but that it puts an object at the place of the copy and deletes it. Of a server
before 1.35 it asks for the dry run of a create, to see which fields of a Job are kept.

The rights are those of the account that asks. --service-account NAMESPACE/NAME asks for another,
which takes the right to create subjectaccessreviews.

--wait looks again until there is no problem, for at most --timeout.

Exit codes: 0 when there is no problem, 1 when there is one, 2 when the command line cannot be
understood. What could not be looked at is said, and is no problem. An API server that does not
answer is one.`,
		Example: `  jobledger doctor --manage=observe
  jobledger doctor --log /var/lib/jobledger/log --service-account jobledger/jobledger
  jobledger doctor --log ./log --nats-context jobs --wait --timeout 2m -o json
  jobledger doctor --replicate nats://a:4222 --replicate-monitor http://a:8222 --log-key-file key`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDoctor(cmd.Context(), c, cmd.Flags(), &f) },
	}
	f.run.copy.getenv = c.Getenv
	f.run.Add(cmd)
	flags := cmd.Flags()
	flags.VisitAll(func(flag *pflag.Flag) { flag.Hidden = !slices.Contains(shownOfDoctor, flag.Name) })
	flags.Lookup("log").Usage = "directory of the log, on the machine of the controller; without it the disk is not looked at"
	flags.StringVar(&f.account, "service-account", "", "whose rights to look at, as NAMESPACE/NAME; those of who asks unless given")
	flags.BoolVar(&f.wait, "wait", false, "look again until there is no problem")
	flags.DurationVar(&f.timeout, "timeout", 2*time.Minute, "how long --wait goes on")
	f.output.AddFormats(cmd, cli.FormatTable, cli.FormatJSON, cli.FormatYAML)
	return cmd
}

// shownOfDoctor are the flags of run that the help of doctor shows. doctor accepts the other flags of run, too.
var shownOfDoctor = []string{
	"log", "kubeconfig", "context", "namespace", "manage", cronFlag, "gang-scheduling", "log-max-size", controller.CopyFlag, controller.UnfencedFlag, "nats-url", "nats-context",
	replicating.Flag, "replicate-stream", "replicate-creds", "replicate-ca", replicating.MonitorFlag, replicating.KeyFlag,
}

// config returns what doctor checks, or a usage error.
func (f *doctorFlags) config(flags *pflag.FlagSet) (*doctor.Config, error) {
	if err := f.output.Validate(); err != nil {
		return nil, err
	}
	if namespace, name, ok := strings.Cut(f.account, "/"); f.account != "" && (!ok || namespace == "" || name == "") {
		return nil, cli.Usage("--service-account=%s: want NAMESPACE/NAME, such as jobledger/jobledger", f.account)
	}
	if !f.wait && flags.Changed("timeout") {
		return nil, cli.Usage("--timeout goes with --wait")
	}
	settings, err := f.settings(flags)
	if err != nil {
		return nil, err
	}
	cluster, err := connect(&f.run)
	if err != nil {
		return nil, err
	}
	client, err := cluster.Patient(10 * time.Second)
	if err != nil {
		return nil, err
	}
	config := &doctor.Config{
		Client: client, Settings: settings, Account: f.account, Authorize: f.run.scrape.authorize || f.run.scrape.readers, WatchCluster: f.run.around,
		Lease: doctor.Lease{On: f.run.elect.on && settings.Mode != events.ModeObserve, Namespace: f.run.elect.place(settings.Namespace)},
		Clock: cluster.ServerTime, Now: time.Now, Follows: f.run.follow.wanted() && f.run.follow.token == "",
	}
	if f.run.log != "" {
		dir, err := open.Dir(f.run.log)
		if err != nil {
			return nil, err
		}
		config.Log = doctor.Log{Dir: dir, Max: f.run.retain.keep.MaxBytes, Ready: readiness(dir)}
	}
	to, err := f.run.copy.config()
	if err != nil {
		return nil, err
	}
	config.Copy = doctor.Copy{Place: to.Place, Unfenced: to.Unfenced}
	if config.Replicate, err = f.run.replicate.examined(config.Log.Dir); err != nil {
		return nil, err
	}
	return config, f.published(config)
}

// published sets which NATS server and stream are checked, if the flags name a server.
func (f *doctorFlags) published(config *doctor.Config) error {
	if !f.run.nats.where() {
		return nil
	}
	stream, err := f.run.nats.config("")
	if err != nil {
		return err
	}
	config.NATS = &stream.Publish
	return nil
}

// settings returns the settings of the controller that doctor checks for. Unlike run, doctor works without --log.
func (f *doctorFlags) settings(flags *pflag.FlagSet) (events.Settings, error) {
	if f.run.log != "" {
		return f.run.Settings(flags)
	}
	f.run.log = "."
	defer func() { f.run.log = "" }()
	return f.run.Settings(flags)
}

// readiness returns a function that asks the controller for /readyz?verbose. This is the controller that writes the log
// in dir.
func readiness(dir string) func(context.Context) ([]string, bool, error) {
	return func(ctx context.Context) ([]string, bool, error) {
		address, err := regular.Read(filepath.Join(dir, serve.AddressFile), cli.MostAddress)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		ctx, cancel := context.WithTimeout(ctx, connectTimeout)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSpace(string(address))+"/readyz?verbose", nil)
		if err != nil {
			return nil, false, err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return nil, false, nil // no controller runs: a killed one leaves its address in the file
		}
		defer response.Body.Close()
		text, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
		if err != nil {
			return nil, true, err
		}
		return strings.Split(strings.TrimSpace(string(text)), "\n"), true, nil
	}
}

// lookAgain is the time between two rounds of checks, if --wait is set.
const lookAgain = 2 * time.Second

func runDoctor(ctx context.Context, c *cli.CLI, flags *pflag.FlagSet, f *doctorFlags) error {
	config, err := f.config(flags)
	if err != nil {
		return err
	}
	if !f.wait {
		return examine(ctx, c, config, f)
	}
	wait, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	for doctor.Run(wait, config, func(doctor.Finding) {}) == doctor.Problem {
		select {
		case <-wait.Done():
			return examine(ctx, c, config, f)
		case <-time.After(lookAgain):
		}
	}
	return examine(ctx, c, config, f)
}

// examine runs the checks once. It prints each finding at once, or all of them as one document.
func examine(ctx context.Context, c *cli.CLI, config *doctor.Config, f *doctorFlags) error {
	page := c.Page(&f.output)
	all := []doctor.Finding{}
	counts := map[doctor.Level]int{}
	worst := doctor.Run(ctx, config, func(found doctor.Finding) {
		all = append(all, found)
		counts[found.Level]++
		if f.output.Format == cli.FormatTable {
			page.Finding(string(found.Level), styles[found.Level], found.Check, found.Text, found.Do)
		}
	})
	if f.output.Format != cli.FormatTable {
		text, err := show.Indented(struct {
			Worst doctor.Level     `json:"worst"`
			Items []doctor.Finding `json:"items"`
		}{worst, all})
		if err != nil {
			return err
		}
		if err := c.Document(f.output.Format, text); err != nil {
			return err
		}
	}
	if worst == doctor.Problem {
		return fmt.Errorf("%s", cli.Counted(counts[doctor.Problem], "problem", "problems"))
	}
	return nil
}

// styles has the terminal style of each level; the others are plain.
var styles = map[doctor.Level]show.Style{doctor.Problem: show.Trouble, doctor.Warning: show.Trouble, doctor.Unknown: show.Trouble}
