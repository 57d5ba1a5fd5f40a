package acting

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/dial"
	"github.com/jobledger/jobledger/events/nats/subscribe"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/store/open"
)

// subscribeFlags are the flags of subscribe: which events of the NATS stream to receive, and what to do with them.
type subscribeFlags struct {
	natsFlags
	log       string
	cluster   string
	stream    string
	output    cli.OutputFlag
	namespace string
	given     bool // the user gave -n
	kinds     []string
	decisions bool

	all     bool
	since   string
	from    uint64
	after   string
	durable string
	state   string
	count   int
	skip    []uint

	exec  string
	tries int
}

const subscribeHelp = `Show the records that a controller publishes on NATS, as they come, until interrupted: what was
seen, what was decided and why, and how each command ended. With job/NAME or cronjob/NAME: those of
one (-n, "default" unless given). With jobs or cronjobs: those of all of the kind. What a CronJob
starts has records of its own, as a Job.

It begins with the next record that is published. --since, --from, --after and --all begin earlier.
With --durable NAME the server remembers which events were taken. The next subscription of that name
goes on after them, on any machine. The server forgets them with its stream, so the last event taken
is also kept on this machine: in --state FILE, else in a file in jobledger/subscribe under
$XDG_STATE_HOME (~/.local/state). When the subscription must be created again, it goes on after that
event, and ignores --since, --from, --after and --all. To begin again, delete the file, and the
subscription on the server.

Missing events show as a line of their own, with its bounds. With --kind or --decisions a gap cannot
be seen: only all events of a Job, a namespace or a cluster prove that they are complete.

A message that another client wrote to the stream is named on standard error and skipped. A record
that cannot be read ends subscribe with exit code 1. The error names its place in the stream, and
--skip PLACE skips it.

With --exec CMD, each event is given to a shell command, one after the other: as JSON (as with -o
json) on its standard input, and in the variables JOBLEDGER_ID, JOBLEDGER_SEQUENCE, JOBLEDGER_TIME,
JOBLEDGER_KIND, JOBLEDGER_NAMESPACE, JOBLEDGER_JOB (a Job's or CronJob's name), JOBLEDGER_STREAM
(job/UID or cronjob/UID), JOBLEDGER_UID, JOBLEDGER_TRY, JOBLEDGER_REASONS (of Decided) and
JOBLEDGER_VERDICT (of JobRetired: how the Job ended and why, in one line). When the command fails,
it gets the same event again, after 1 s, then 2 s, up to 30 s. Later events wait. After --tries
failures subscribe ends with exit code 1, and a durable subscription begins with that event the next
time. After a crash or a failure an event may come twice, with the same ID.

-o json writes one JSON object on each line: id, cluster, job, the fields of
"jobledger events -o json", and reasons and omitted where there are any. Missing events are a line
{"gap":{…}}, a restored log one {"life":{…}}. Fields are only ever added.`

func newSubscribe(c *cli.CLI) *cobra.Command {
	var f subscribeFlags
	cmd := &cobra.Command{
		Use:   "subscribe [job/NAME|cronjob/NAME|jobs|cronjobs]",
		Short: "Follow the NATS stream of a cluster, or of one Job or CronJob",
		Long:  subscribeHelp,
		Example: `  jobledger subscribe                    everything, from the server on this machine
  jobledger subscribe job/demo --all --nats-context prod
  jobledger subscribe cronjob/etl -n prod --decisions
  jobledger subscribe --decisions --since 1h -n batch -o json
  jobledger subscribe --kind JobRetired --durable billing --exec ./bill.sh`,
		Args: func(_ *cobra.Command, args []string) error { return cli.AtMost(2, args) },
		RunE: func(cmd *cobra.Command, args []string) error { return runSubscribe(c, cmd, &f, args) },
	}
	f.natsFlags.add(cmd)
	flags := cmd.Flags()
	flags.Var((*cli.LogAddress)(&f.log), "log", "log directory of a controller with a NATS server of its own (--nats-embedded): that server")
	flags.StringVar(&f.cluster, "cluster", "default", "name of the cluster, as its controller was told")
	flags.StringVar(&f.stream, "nats-stream", "", "JetStream stream; unless given the one with the cluster's subjects")
	f.output.AddFormats(cmd, cli.FormatTable, cli.FormatWide, cli.FormatJSON)
	f.output.AddLocal(cmd)
	flags.StringVarP(&f.namespace, "namespace", "n", "", "only of this namespace; with job/NAME or cronjob/NAME, where it is (\"default\")")
	flags.StringSliceVar(&f.kinds, "kind", nil, "only these kinds of events, such as PodChanged,CommandEnded")
	flags.BoolVar(&f.decisions, "decisions", false, "only decisions")
	flags.BoolVar(&f.all, "all", false, "begin with the oldest event that the stream has")
	flags.StringVar(&f.since, "since", "", "begin at this time: 2h before now, or 2026-01-02T15:04:05Z")
	flags.Uint64Var(&f.from, "from", 0, "begin with the record of this sequence")
	flags.StringVar(&f.after, "after", "", "begin after the event with this ID")
	flags.StringVar(&f.durable, "durable", "", "name of a subscription that the server remembers; where it begins counts the first time")
	flags.StringVar(&f.state, "state", "", "file that keeps the last event taken; with --durable, unless given, one in $XDG_STATE_HOME")
	flags.IntVar(&f.count, "count", 0, "end after so many events; 0 for never")
	flags.UintSliceVar(&f.skip, "skip", nil, "pass over the record at this place of the stream if it cannot be read")
	flags.StringVar(&f.exec, "exec", "", "shell command that each event is given to")
	flags.IntVar(&f.tries, "tries", 5, "how often an event is given to --exec before it ends with an error; 0 for ever")
	cli.CompleteWith(cmd, "kind", ask.KindNames()...)
	return cmd
}

// config returns what to subscribe to, as the flags and arguments say, or a usage error.
func (f *subscribeFlags) config(args []string) (subscribe.Config, error) {
	c := subscribe.Config{
		// Without --exec, events are printed. Then one try suffices: what cannot be printed now never can.
		Cluster: f.cluster, Stream: f.stream, Durable: f.durable, Tries: 1,
	}
	if f.exec != "" {
		c.Tries, c.FirstPause = f.tries, time.Second
	}
	chosen := nats.Filter{Namespace: f.namespace}
	if len(args) > 0 {
		var err error
		if chosen, err = f.object(args); err != nil {
			return c, err
		}
	}
	if wrong := validation.IsDNS1123Label(f.namespace); f.namespace != "" && wrong != nil {
		return c, cli.Usage("-n %q is no namespace: %s", f.namespace, wrong[0])
	}
	kinds, err := ask.ChosenKinds(f.kinds, f.decisions)
	if err != nil {
		return c, err
	}
	chosen.Cluster = f.cluster
	for _, kind := range kinds {
		one := chosen
		one.Event = kind.String()
		c.Filters = append(c.Filters, one)
	}
	if len(kinds) == 0 && chosen != (nats.Filter{Cluster: f.cluster}) {
		c.Filters = []nats.Filter{chosen}
	}
	c.Start, err = f.start()
	return c, err
}

// object returns the filter for the messages about one Job or CronJob, or about all objects of a kind.
func (f *subscribeFlags) object(args []string) (chosen nats.Filter, err error) {
	h, before, err := which.Parse(args)
	if err == nil {
		err = which.WantKind(h, before)
	}
	if err == nil && before != "" && !f.given {
		f.namespace = before
	}
	if err == nil {
		f.namespace, err = which.OneNamespace(args, before, f.namespace)
	}
	if err != nil {
		return chosen, err
	}
	kind, what := nats.KindJob, "Job"
	if h.Kind == which.CronJob {
		kind, what = nats.KindCronJob, "CronJob"
	}
	switch {
	case h.Kind == which.Pod:
		return chosen, cli.Usage("%q is no Job: write job/NAME or cronjob/NAME", args[0])
	case h.Name == "":
		return nats.Filter{Namespace: f.namespace, Kind: kind}, nil
	case which.IsUID(h.Name):
		return chosen, cli.Usage("%s: subjects have names and no UIDs: write %s/NAME", h, kind)
	}
	if wrong := validation.IsDNS1123Subdomain(h.Name); wrong != nil {
		return chosen, cli.Usage("%q is no name of a %s: %s (without a name all of the kind are shown: those of a namespace with -n NAMESPACE)", h.Name, what, wrong[0])
	}
	return nats.Filter{Namespace: cli.OrDefault(f.namespace), Kind: kind, Name: h.Name}, nil
}

// start returns at which event of the stream to begin, or a usage error.
func (f *subscribeFlags) start() (start subscribe.Start, err error) {
	given := 0
	if f.all {
		start, given = subscribe.All(), given+1
	}
	if f.from > 0 {
		start, given = subscribe.From(events.Sequence(f.from)), given+1
	}
	if f.since != "" {
		at, err := ask.Since(f.since, time.Now(), f.output.Zone())
		if err != nil {
			return start, err
		}
		start, given = subscribe.Since(at.Go()), given+1
	}
	if f.after != "" {
		id, err := nats.ParseID(f.after)
		if err != nil {
			return start, cli.Usage("--after: %v", err)
		}
		start, given = subscribe.After(id), given+1
	}
	if given > 1 {
		return start, cli.Usage("--all, --since, --from and --after say where to begin: give one of them")
	}
	return start, nil
}

// check returns a usage error for flags that contradict each other.
func (f *subscribeFlags) check(cmd *cobra.Command) error {
	if err := f.output.Validate(); err != nil {
		return err
	}
	if err := f.natsFlags.check(); err != nil {
		return err
	}
	// If a flag is given with an empty value, perhaps of an unset variable in a script, return an error: it must not
	// count as a flag that is not given.
	for _, name := range []string{"after", "since", "durable", "state", "exec"} {
		if flag := cmd.Flags().Lookup(name); flag.Changed && flag.Value.String() == "" {
			return cli.Usage("--%s: it is empty", name)
		}
	}
	switch changed := cmd.Flags().Changed; {
	case f.cluster == "":
		return cli.Usage("--cluster: a name is wanted")
	case f.log != "" && f.where():
		return cli.Usage("--log names the server in a controller's process, --nats-url and --nats-context another: give one of them")
	case strings.ContainsAny(f.durable, ".*>/\\ \t\r\n"):
		return cli.Usage("--durable=%s: a name without spaces, dots, slashes and wildcards is wanted", f.durable)
	case changed("from") && f.from == 0:
		return cli.Usage("--from=0: the first record has sequence 1 (--all begins with the oldest that there is)")
	case f.count < 0 || f.count > math.MaxInt32 || f.tries < 0:
		return cli.Usage("--count and --tries cannot be negative")
	case f.exec == "" && changed("tries"):
		return cli.Usage("--tries goes with --exec")
	case f.exec != "" && changed("output"):
		return cli.Usage("-o does not go with --exec: the command gets JSON, and what it prints is printed")
	}
	return nil
}

// findEmbedded sets the address of NATS if --log names a controller's log: that of the NATS server inside the
// controller.
func (f *subscribeFlags) findEmbedded() (err error) {
	if f.log == "" {
		return nil
	}
	if f.log, err = open.Dir(f.log); err != nil {
		return err
	}
	f.URL, err = embeddedURL(f.log)
	return err
}

func runSubscribe(c *cli.CLI, cmd *cobra.Command, f *subscribeFlags, args []string) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	f.given = cli.GaveNamespace(cmd)
	config, err := f.config(args)
	if err != nil {
		return err
	}
	if err := f.findEmbedded(); err != nil {
		return err
	}
	conn, js, err := f.connect(cmd.Context(), c)
	if err != nil {
		return err
	}
	defer conn.Close()
	stream, err := findStream(cmd.Context(), c, f, js)
	if err != nil {
		return err
	}
	state, err := openState(c, f)
	if err != nil {
		return err
	}
	defer closeState(c, state)
	if state != nil {
		config.State = state
	}
	sayNothingYet(cmd.Context(), c, stream, config.Filters)
	ctx, enough := context.WithCancel(cmd.Context())
	defer enough()
	printer := newEventPrinter(c, f)
	take := f.taker(c, printer)
	config.Trouble, config.Notice = tellTrouble(c, config.Cluster), func(n subscribe.Notice) { tellNotice(c, n) }
	config.Unreadable = tellUnreadable(c, f.skip)
	taken := 0
	err = subscribe.Run(ctx, js, config, func(ctx context.Context, e *subscribe.Event) error {
		if err := take(ctx, e); err != nil {
			return err
		}
		if taken++; taken == f.count {
			enough()
		}
		return nil
	})
	return f.explain(cmp.Or(err, printer.Flush()))
}

// taker returns the function that handles each event: it runs the user's command, or prints the event.
func (f *subscribeFlags) taker(c *cli.CLI, printer *eventPrinter) func(context.Context, *subscribe.Event) error {
	if f.exec != "" {
		return (&handler{cli: c, cluster: f.cluster, command: f.exec, tries: f.tries}).take
	}
	return printer.take
}

// explain adds to the error of an event that could not be handled what will happen with that event.
func (f *subscribeFlags) explain(err error) error {
	var refused *subscribe.RefusedError
	if errors.As(err, &refused) && f.exec == "" {
		return refused.Err
	}
	if errors.As(err, &refused) && f.durable != "" {
		return fmt.Errorf("%w; the next subscription as %s begins with it", err, f.durable)
	}
	return err
}

// connectTimeout limits the time for the first connection. A broken connection is tried again without a limit.
const connectTimeout = 10 * time.Second

// connect connects to NATS, or returns an error with the reason why it cannot.
func (f *subscribeFlags) connect(ctx context.Context, c *cli.CLI) (*natsgo.Conn, jetstream.JetStream, error) {
	config, err := f.Load()
	if err != nil {
		return nil, nil, err
	}
	config.Name = "jobledger subscribe"
	var failed atomic.Pointer[error] // why there is no connection yet
	options := []natsgo.Option{
		natsgo.ReconnectErrHandler(func(_ *natsgo.Conn, err error) { failed.Store(&err) }),
		natsgo.ErrorHandler(tellComplaint(c)),
	}
	if f.log != "" {
		options = append(options, natsgo.SetCustomDialer(embeddedDialer{f.log}), embeddedReader(f.log))
	}
	conn, err := config.Connect(options...)
	if err != nil {
		return nil, nil, err
	}
	if err := connected(ctx, conn, &config, &failed); err != nil {
		conn.Close()
		return nil, nil, f.advise(err)
	}
	js, err := config.JetStream(conn)
	if err != nil {
		conn.Close()
	}
	return conn, js, err
}

// advise adds to an error of the connection which flag the user may have forgotten.
func (f *subscribeFlags) advise(err error) error {
	switch {
	case f.log != "":
		return err
	case !f.where():
		return fmt.Errorf("%w; no server was named: give --log DIR of a controller with --nats-embedded, or --nats-url or --nats-context", err)
	case strings.Contains(strings.ToLower(err.Error()), "authorization violation"):
		return fmt.Errorf("%w; that server wants a user: give --nats-creds or --nats-context, or --log DIR of a controller with --nats-embedded", err)
	}
	return err
}

func connected(ctx context.Context, conn *natsgo.Conn, config *dial.Config, failed *atomic.Pointer[error]) error {
	bound, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	changed := conn.StatusChanged(natsgo.CONNECTED)
	defer conn.RemoveStatusListener(changed)
	if conn.IsConnected() {
		return nil
	}
	select {
	case <-changed:
		return nil
	case <-bound.Done():
	}
	err := conn.LastError()
	if err == nil && failed.Load() != nil {
		err = *failed.Load()
	}
	if err == nil {
		err = context.Cause(bound)
	}
	return fmt.Errorf("connect to NATS at %s: %w", config.Servers(), err)
}

// sayNothingYet prints a note if the stream has no message about the chosen object or namespace: the records may still
// come, or the name is misspelt.
func sayNothingYet(ctx context.Context, c *cli.CLI, stream jetstream.Stream, filters []nats.Filter) {
	if len(filters) == 0 || filters[0].Namespace == "" {
		return
	}
	all := filters[0] // any filter: they differ only in the kind of record, which is cleared here
	all.Event = ""
	bound, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if _, err := stream.GetMsg(bound, 1, jetstream.WithGetMsgSubject(all.String())); !errors.Is(err, jetstream.ErrMsgNotFound) {
		return // there is a message, or the stream cannot be read, which a later read reports
	}
	what, hint := "namespace "+all.Namespace, "is the name right?"
	switch {
	case all.Kind != "" && all.Name == "":
		what = all.Kind + "s in " + what
	case all.Name != "":
		what, hint = all.Kind+"/"+all.Name+" in namespace "+all.Namespace, "is the name right, and the namespace (-n)?"
	}
	fmt.Fprintf(c.Err, "jobledger: the stream holds nothing of %s; waiting for it (%s)\n", what, hint)
}
