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

	"github.com/jobledger/jobledger/test/bench/kubelet"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// Config says what to run. The zero value is everything at full size.
type Config struct {
	// Quick takes the small size of each workload.
	Quick bool
	// Rounds is how often each workload is run by each contender, in turn; 0: 1 with Quick, else 3.
	Rounds int
	// Workloads are the names of those to run; empty: all.
	Workloads []string
	// Contenders are the names of those to run; empty: both. With one there are no ratios.
	Contenders []string
	// Program is the jobledger to run; empty: it is built.
	Program string
	// Observer has Jobledger look on (--manage=observe) while the built-in runs Jobs. What that costs is in the built-in's figures.
	Observer bool
	// Keep leaves the files of the bench where they are, and Report.Dir says where.
	Keep bool
	// Progress is told what is being run; may be nil.
	Progress io.Writer
}

func (c *Config) setDefaults() {
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
}

// bench is the control plane, the kubelet and the stopwatch that all laps share.
type bench struct {
	config     Config
	dir        string
	cp         *controlplane.ControlPlane
	client     kubernetes.Interface // an administrator's, without a limit
	watch      *stopwatch
	contenders []*contender
	observer   *contender // looks on while the built-in runs Jobs; nil for none
	namespaces int        // made so far
	audited    int64      // so much of the audit log has been read
}

// auditPolicy records every request of the contenders once, when it has been answered, and no other request.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
  users: [` + Ours + `, ` + Builtin + `, ` + Observer + `]
- level: None
`

// Run runs the workloads and returns what came out. A workload whose outcome was wrong is in the report, see
// Report.Wrong, and is no error; an error means that there is nothing to report.
func Run(ctx context.Context, config Config) (report *Report, err error) {
	config.setDefaults()
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
	defer func() { err = errors.Join(err, b.cp.Stop()) }()

	g, ctx := errgroup.WithContext(ctx)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := b.attend(ctx, g); err != nil {
		return nil, errors.Join(err, wait(cancel, g))
	}
	g.Go(func() error {
		var err error
		if report, err = b.all(ctx, workloads); err == nil {
			cancel() // the rest ends with it; an error ends it too
		}
		return err
	})
	return report, errors.Join(g.Wait(), b.checkRights())
}

// checkRights is an error when ours asked for what a deployment does not let it do.
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

// start builds what is missing, starts the control plane and makes the contenders' users.
func (b *bench) start(ctx context.Context) error {
	program := b.config.Program
	if program == "" {
		var err error
		if program, err = controller.Build(ctx, b.dir); err != nil {
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
	b.cp, err = controlplane.Start(ctx, controlplane.Options{
		Bare: true, AuditLog: b.auditLog(), DataDir: filepath.Join(b.dir, "controlplane"), Keep: b.config.Keep,
		APIServerArgs: []string{"--audit-policy-file=" + policy, "--delete-collection-workers=8"},
	})
	if err != nil {
		return err
	}
	err = b.users(ctx, program)
	if err != nil {
		err = errors.Join(err, b.cp.Stop())
	}
	return err
}

func (b *bench) auditLog() string { return filepath.Join(b.dir, "audit.log") }

func (b *bench) users(ctx context.Context, program string) error {
	config := b.cp.RESTConfig()
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	var err error
	if b.client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	for _, name := range b.config.Contenders {
		c, err := newContender(ctx, b.cp, name, program, b.dir)
		if err != nil {
			return err
		}
		b.contenders = append(b.contenders, c)
	}
	if b.config.Observer {
		b.observer, err = newContender(ctx, b.cp, Observer, program, b.dir)
	}
	return err
}

// attend starts the kubelet, the stopwatch and a guard of the control plane, which all end with ctx.
func (b *bench) attend(ctx context.Context, g *errgroup.Group) error {
	follow, err := b.watch.follow(ctx, b.client)
	if err != nil {
		return err
	}
	k, err := kubelet.New(ctx, kubelet.Config{
		Client: b.client, Seen: b.watch.podChanged, Fails: b.watch.podFails, Ended: b.watch.podEnded,
	})
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

// warmUp has the first contender run a large Job that is not measured. The API server sizes its buffers by what it has
// seen of late, and one that has seen nothing ends the watches of everybody in the first burst.
func (b *bench) warmUp(ctx context.Context) error {
	warm := workload{name: "warm-up", full: sizes{3000, 500}, fast: sizes{400, 100}, drive: oneJob(false)}
	lap, err := b.lap(ctx, &warm, b.contenders[0])
	if err == nil && lap.Wrong != "" {
		err = errors.New(lap.Wrong)
	}
	return err
}

// all runs every workload in every round: A B A B.
func (b *bench) all(ctx context.Context, workloads []*workload) (*Report, error) {
	report := &Report{
		At: time.Now().UTC().Truncate(time.Second), Quick: b.config.Quick, Rounds: b.config.Rounds, Kubernetes: b.cp.Version(),
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
