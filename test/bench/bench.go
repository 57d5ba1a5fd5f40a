package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/jobledger/jobledger/test/bench/kubelet"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/built"
)

// Config says what to run. The zero value runs everything at full size.
type Config struct {
	// Setting describes the cluster: how pods live, and the network between a controller and its API server.
	Setting Setting
	// Self is the program that simulates the network: called with LinkCommand as its first argument, it must run
	// package link. It is needed for every network except loopback.
	Self string
	// Quick selects the small size of each workload.
	Quick bool
	// Rounds is how often each contender (each of the two controllers) runs each workload. The contenders alternate. 0:
	// 1 with Quick, else 3.
	Rounds int
	// Workloads are the names of the workloads to run; empty: all.
	Workloads []string
	// Contenders are the names of the contenders to run; empty: both. With only one there are no ratios.
	Contenders []string
	// Program is the path of the jobledger to run; empty: it is built.
	Program string
	// Observer also runs a Jobledger with --manage=observe while the built-in controller runs Jobs. Its cost is
	// reported with the built-in's figures.
	Observer bool
	// Keep keeps the files of the run, in the directory Report.Dir.
	Keep bool
	// Progress receives a line about each thing that is run; may be nil.
	Progress io.Writer
}

// LinkCommand is the first argument with which Config.Self must run package link; the other arguments are for that
// package.
const LinkCommand = "link"

func (c *Config) setDefaults() error {
	if c.Rounds == 0 {
		c.Rounds = 3
		if c.Quick {
			c.Rounds = 1
		}
	}
	if len(c.Contenders) == 0 {
		c.Contenders = contenders
	}
	if c.Progress == nil {
		c.Progress = io.Discard
	}
	return c.Setting.setDefaults()
}

// bench has what all laps share: the control plane, the simulated kubelets, and the stopwatch, which notes when things
// happen. A lap is one workload, run once by one contender (one of the two controllers that are compared).
type bench struct {
	config Config
	dir    string
	cp     *controlplane.ControlPlane
	client kubernetes.Interface // client of an administrator, without a rate limit
	watch  *stopwatch
	line   line // process that simulates the network between contenders and server; see type line
	// Moves a contender (a compared controller) to processors of its own; nil if it shares those of the server
	pin        func(pid int) error
	contenders []*contender
	observer   *contender // a Jobledger that only observes while the built-in runs Jobs; nil: none
	namespaces int        // number of namespaces so far
	audited    int64      // offset in the audit log's file up to which it was read
}

// auditPolicy makes the API server write each request of the contenders (the compared controllers) into its audit log
// once, when it has answered. Other requests are not written.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
  users: [` + Ours + `, ` + Builtin + `, ` + Observer + `]
- level: None
`

// Run runs the workloads and returns a report. A workload with a wrong outcome is no error; Report.Wrong describes it.
// If Run returns an error, there is no report.
func Run(ctx context.Context, config Config) (report *Report, err error) {
	if err := config.setDefaults(); err != nil {
		return nil, err
	}
	workloads, err := choose(config.Workloads)
	if err != nil {
		return nil, err
	}
	b := &bench{config: config, watch: newStopwatch()}
	if b.dir, err = os.MkdirTemp("", "jobledger-bench-"); err != nil {
		return nil, fmt.Errorf("make a directory for the bench: %w", err)
	}
	defer func() {
		if !config.Keep {
			err = errors.Join(err, os.RemoveAll(b.dir))
		}
	}()
	if err := b.start(ctx); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.line.stop(), b.cp.Stop()) }()

	g, ctx := errgroup.WithContext(ctx)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := b.attend(ctx, g); err != nil {
		return nil, errors.Join(err, wait(cancel, g))
	}
	g.Go(func() error {
		var err error
		if report, err = b.all(ctx, workloads); err == nil {
			cancel() // when ctx ends, all other goroutines end, also after an error
		}
		return err
	})
	return report, errors.Join(g.Wait(), b.checkRights())
}

// checkRights returns an error if Jobledger sent a request that its role in a deployment does not allow.
func (b *bench) checkRights() error {
	for _, name := range []string{Ours, Observer} {
		refused, err := b.cp.Forbidden(name)
		if err != nil {
			return err
		}
		if len(refused) > 0 {
			return fmt.Errorf("no role lets %s do this, and %d more: %+v", name, len(refused)-1, refused[0])
		}
	}
	return nil
}

func wait(cancel context.CancelFunc, g *errgroup.Group) error {
	cancel()
	return g.Wait()
}

// start builds the programs that are missing, starts the control plane, and creates the users of the contenders (the
// compared controllers).
func (b *bench) start(ctx context.Context) error {
	program := b.config.Program
	if program == "" {
		var err error
		if program, err = built.Program(ctx, b.dir); err != nil {
			return err
		}
	}
	program, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	policy := filepath.Join(b.dir, "audit-policy.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return fmt.Errorf("write the audit policy: %w", err)
	}
	if b.config.Setting.Place == other {
		if b.pin, err = divide(); err != nil {
			return err
		}
	}
	options := controlplane.Options{
		Bare: true, AuditLog: b.auditLog(), DataDir: filepath.Join(b.dir, "controlplane"), Keep: b.config.Keep,
		APIServerArgs: []string{"--audit-policy-file=" + policy, "--delete-collection-workers=8"},
	}
	if b.config.Setting.Profile == Cluster {
		options.Bare, options.Nodes = false, nodes
		options.PodOutcome, options.PodRunFor = b.config.Setting.queries()
	}
	if b.cp, err = controlplane.Start(ctx, options); err != nil {
		return err
	}
	if err = b.startLine(b.cp.RESTConfig().Host); err == nil {
		err = b.users(ctx, program)
	}
	if err != nil {
		err = errors.Join(err, b.line.stop(), b.cp.Stop())
	}
	return err
}

func (b *bench) auditLog() string { return filepath.Join(b.dir, "audit.log") }

func (b *bench) users(ctx context.Context, program string) error {
	var err error
	if b.client, err = client(b.cp.RESTConfig()); err != nil {
		return err
	}
	for _, name := range b.config.Contenders {
		c, err := b.newContender(ctx, name, program)
		if err != nil {
			return err
		}
		b.contenders = append(b.contenders, c)
	}
	if b.config.Observer {
		b.observer, err = b.newContender(ctx, Observer, program)
	}
	return err
}

func client(config *rest.Config) (kubernetes.Interface, error) {
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	return kubernetes.NewForConfig(config)
}

// kubelet returns the simulation of scheduler and kubelets that the profile of the setting asks for.
func (b *bench) kubelet(ctx context.Context) (*kubelet.Kubelet, error) {
	config := kubelet.Config{
		Client: b.client, API: kubelet.Through(b.client, b.client),
		Seen: b.watch.podChanged, Fate: b.watch.podFate, Ended: b.watch.podEnded, Wrote: b.watch.podWrote,
	}
	switch b.config.Setting.Profile {
	case Cluster:
		config.Nodes = -1
	case Life:
		config.Nodes = nodes
		scheduler, kubelets, err := b.nodeUsers(ctx)
		if err != nil {
			return nil, err
		}
		config.API = kubelet.Through(scheduler, kubelets)
	}
	return kubelet.New(ctx, config)
}

// nodeUsers returns one client for the simulated scheduler and one for all simulated kubelets. They have the rights
// that a cluster gives them, and the priority that the API server's flow control gives these users.
func (b *bench) nodeUsers(ctx context.Context) (scheduler, kubelets kubernetes.Interface, err error) {
	config, err := b.cp.UserConfig("system:kube-scheduler")
	if err == nil {
		scheduler, err = client(config)
	}
	if err != nil {
		return nil, nil, err
	}
	if config, err = b.cp.UserConfig(nodeUser, "system:nodes"); err == nil {
		kubelets, err = client(config)
	}
	if err != nil {
		return nil, nil, err
	}
	return scheduler, kubelets, b.cp.Bind(ctx, nodeUser, "system:node")
}

const nodeUser = "system:node:bench"

// attend starts the simulated kubelets, the stopwatch (which notes when things happen), and a goroutine that watches
// the control plane. All of them end with ctx.
func (b *bench) attend(ctx context.Context, g *errgroup.Group) error {
	follow, err := b.watch.follow(ctx, b.client)
	if err != nil {
		return err
	}
	k, err := b.kubelet(ctx)
	if err != nil {
		return err
	}
	g.Go(follow)
	g.Go(func() error { return k.Run(ctx) })
	g.Go(func() error {
		select {
		case <-b.cp.Done():
			return b.cp.Err()
		case <-ctx.Done():
			return nil
		}
	})
	return nil
}

// warmUp makes the first contender run a large Job that is not measured. The API server sizes its watch buffers by
// recent load; without this Job, the first measured burst would overflow them, and the server would end all watches.
func (b *bench) warmUp(ctx context.Context) error {
	warm := workload{name: "warm-up", full: sizes{3000, 500}, fast: sizes{400, 100}, drive: oneJob(false), alike: true}
	lap, err := b.lap(ctx, &warm, b.contenders[0])
	if err == nil && lap.Wrong != "" {
		err = errors.New(lap.Wrong)
	}
	return err
}

// all runs every workload in every round. In each round both contenders (the compared controllers) run the workload,
// one after the other.
func (b *bench) all(ctx context.Context, workloads []*workload) (*Report, error) {
	report := &Report{
		At: time.Now().UTC().Truncate(time.Second), Quick: b.config.Quick, Setting: b.config.Setting, Rounds: b.config.Rounds, Kubernetes: b.cp.Version(),
		Go: runtime.Version(), CPUs: runtime.NumCPU(), Processor: processor(),
	}
	if b.config.Keep {
		report.Dir = b.dir
	}
	if err := b.warmUp(ctx); err != nil {
		return nil, fmt.Errorf("warm up: %w", err)
	}
	before, err := b.mark(0, 0)
	if err != nil {
		return nil, err
	}
	for _, w := range workloads {
		outcome := &Outcome{Workload: w.name, Title: w.title(b.config.Quick), Laps: map[string][]Lap{}}
		report.Outcomes = append(report.Outcomes, outcome)
		rounds := b.config.Rounds
		if w.rounds > 0 {
			rounds = min(rounds, w.rounds)
		}
		for round := range rounds {
			for _, c := range b.contenders {
				if w.only != "" && w.only != c.name {
					continue
				}
				lap, err := b.lap(ctx, w, c)
				if err != nil {
					return nil, fmt.Errorf("%s by %s, round %d: %w", w.name, c.name, round+1, err)
				}
				outcome.Laps[c.name] = append(outcome.Laps[c.name], lap)
				fmt.Fprintf(b.config.Progress, "%-4s %-10s round %d: %s\n", w.name, c.name, round+1, lap.summary())
			}
		}
		outcome.summarise()
	}
	after, err := b.mark(0, 0)
	if err != nil {
		return nil, err
	}
	report.Bench = after.self.cpu - before.self.cpu
	report.Took = after.at.Sub(before.at)
	return report, nil
}
