package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/test/binaries"
	"github.com/jobledger/jobledger/test/controlplane"
)

// demo is one run of the demo. It writes only below dir, where only the event log stays after a success.
type demo struct {
	root   string // root directory of the repository
	binary string // path of the jobledger program that is shown
	keep   bool
	out    io.Writer

	dir     string
	cluster *controlplane.ControlPlane
	client  kubernetes.Interface
	started *controller
}

// endsWithin limits the time until the Jobs end. Two of them wait for 10 s between two pods, and the machine may be
// busy.
const endsWithin = 3 * time.Minute

// run runs the whole demo. When it returns, every process that it started has ended.
func (d *demo) run(ctx context.Context) (err error) {
	if _, err := os.Stat(d.binary); err != nil {
		return fmt.Errorf("there is no %s: 'make demo' builds it before it runs this (%w)", program, err)
	}
	if _, err := binaries.Ensure(ctx, binaries.Config{Root: d.root}); err != nil {
		return err
	}
	if d.dir, err = os.MkdirTemp("", "jobledger-demo-"); err != nil {
		return fmt.Errorf("make a directory for the demo: %w", err)
	}
	defer func() { err = d.end(ctx, err) }()

	if err := d.startCluster(ctx); err != nil {
		return err
	}
	d.say("$ DEMO=%s", d.dir)
	if d.started, err = d.startController(ctx); err != nil {
		return err
	}
	if err := d.watchJobs(ctx); err != nil {
		return err
	}
	return d.look(ctx)
}

// end stops the processes of the demo. It also removes the demo's files, except if err is set: after a failure they
// may show why.
func (d *demo) end(ctx context.Context, err error) error {
	if d.started != nil {
		err = errors.Join(err, d.started.stop())
	}
	if d.cluster != nil {
		if err != nil && ctx.Err() == nil {
			d.cluster.KeepData()
		}
		err = errors.Join(err, d.cluster.Stop())
	}
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("%w\nWhat was written is in %s: log/ (the event log), run.log (what the controller said), cluster/logs/", err, d.dir)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(d.dir))
	}
	d.say(`
Everything is stopped. The log stays: look at any Job in it, at any time of its life.

    DEMO=%s
    %[2]s get jobs --why --log $DEMO/log
    %[2]s explain job/indexed --log $DEMO/log
    %[2]s explain %[3]s --log $DEMO/log
    %[2]s get job/indexed --at 40 --log $DEMO/log
    rm -r $DEMO`, d.dir, program, pulse)
	return errors.Join(os.Remove(d.started.messages), os.Remove(d.kubeconfig()))
}

func (d *demo) say(format string, args ...any) { fmt.Fprintf(d.out, format+"\n", args...) }

// logDir returns the directory of the event log.
func (d *demo) logDir() string { return filepath.Join(d.dir, "log") }

// messagesName is the name of the file with the controller's log messages.
const messagesName = "run.log"

func (d *demo) startCluster(ctx context.Context) error {
	d.say("Starting a Kubernetes control plane (real API server, simulated node: no container runs) …")
	began := time.Now()
	cluster, err := controlplane.Start(ctx, controlplane.Options{DataDir: filepath.Join(d.dir, "cluster")})
	if err != nil {
		return err
	}
	d.cluster = cluster
	if d.client, err = kubernetes.NewForConfig(cluster.RESTConfig()); err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	d.say("Kubernetes %s is up after %.1f s.\n", cluster.Version(), time.Since(began).Seconds())
	return d.createUser(ctx)
}

// createUser creates the user of the controller with the rights of a deployment, and writes a kubeconfig for it.
func (d *demo) createUser(ctx context.Context) error {
	if err := d.allow(ctx, "base", "watch-cluster"); err != nil {
		return err
	}
	if err := d.allowLease(ctx); err != nil {
		return err
	}
	config, err := d.cluster.UserConfig(user)
	if err != nil {
		return err
	}
	return controlplane.WriteKubeconfig(config, d.kubeconfig())
}

// user is the name of the Kubernetes user as which the controller runs.
const user = "jobledger"

// allow gives the controller's user the ClusterRoles in these directories of deploy/.
func (d *demo) allow(ctx context.Context, features ...string) error {
	for _, feature := range features {
		var role rbacv1.ClusterRole
		if err := d.decode(filepath.Join("deploy", feature, "clusterrole.yaml"), &role); err != nil {
			return err
		}
		if _, err := d.client.RbacV1().ClusterRoles().Create(ctx, &role, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create the ClusterRole %s: %w", role.Name, err)
		}
		if err := d.cluster.Bind(ctx, user, role.Name); err != nil {
			return err
		}
	}
	return nil
}

// allowLease creates the namespace of the controller's Lease, and gives its user the rights to hold the Lease.
func (d *demo) allowLease(ctx context.Context) error {
	var namespace corev1.Namespace
	var role rbacv1.Role
	var binding rbacv1.RoleBinding
	for name, into := range map[string]runtime.Object{"namespace": &namespace, "role": &role, "rolebinding": &binding} {
		if err := d.decode(filepath.Join("deploy", "base", name+".yaml"), into); err != nil {
			return err
		}
	}
	binding.Subjects = []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}}
	create := metav1.CreateOptions{}
	if _, err := d.client.CoreV1().Namespaces().Create(ctx, &namespace, create); err != nil {
		return fmt.Errorf("create the namespace %s: %w", namespace.Name, err)
	}
	if _, err := d.client.RbacV1().Roles(role.Namespace).Create(ctx, &role, create); err != nil {
		return fmt.Errorf("create the Role %s: %w", role.Name, err)
	}
	if _, err := d.client.RbacV1().RoleBindings(binding.Namespace).Create(ctx, &binding, create); err != nil {
		return fmt.Errorf("create the RoleBinding %s: %w", binding.Name, err)
	}
	return nil
}

// kubeconfig returns the path of the controller's kubeconfig.
func (d *demo) kubeconfig() string { return filepath.Join(d.dir, "kubeconfig") }

// watchJobs creates the Jobs, and shows the new records until all Jobs have ended as they should. Beside the records it
// shows what a subscriber to the NATS stream receives about one of the Jobs.
func (d *demo) watchJobs(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, endsWithin, fmt.Errorf("the Jobs did not end within %s", endsWithin))
	defer cancel()
	if _, err := d.awaitStream(ctx); err != nil {
		return err
	}
	d.say(`
Now three Jobs are created from examples/; one waits for ten seconds between two tries. The
records of all are shown as they are written, and beside them, behind a %s, what a subscriber to the
NATS stream gets of the decisions about that one:
`, strings.TrimSpace(beside))
	lines := &merged{say: d.say, shared: ofFailed}
	ends, err := d.watched(ctx, lines)
	lines.rest()
	if err != nil {
		return err
	}
	d.say("\nAll three ended as they should:\n%s", strings.Join(ends, "\n"))
	return d.streamed(ctx)
}

// beside is the prefix of each line that shows what the subscriber to the NATS stream receives.
const beside = "│ "

// subscribed lists the kinds of records that the subscriber asks for. The first kind is there because it names the
// pods.
var subscribed = []string{events.KindPodAdded.String(), events.KindDecided.String(), events.KindJobRetired.String()}

// ofFailed reports whether the subscriber receives a record of this kind about this object: the Job failed, or one of
// its pods.
func ofFailed(kind, object string) bool {
	return slices.Contains(subscribed, kind) && (object == failed || strings.HasPrefix(object, failed+"-"))
}

// watched creates the Jobs. It returns when they have ended, the log has a record JobRetired for each (nothing is left
// to do for it), and these records are shown. The subscriber starts as soon as the stream has a record for it, and
// reads from the beginning.
func (d *demo) watched(ctx context.Context, lines *merged) (ends []string, err error) {
	watch := d.reader("events", "-w")
	subscribe := d.reader("subscribe", "job/"+failed, "--kind", strings.Join(subscribed, ","), "--all")
	d.typed(subscribe)
	d.typed(watch)
	records, err := d.follow(lines, log, watch)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, records.stop()) }()
	if err := d.createJobs(ctx); err != nil {
		return nil, err
	}
	if err := d.awaitPublished(ctx); err != nil {
		return nil, err
	}
	got, err := d.follow(lines, subscriber, subscribe)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, got.stop()) }()
	if ends, err = d.awaitEnds(ctx); err != nil {
		return nil, err
	}
	last, err := d.awaitRetired(ctx)
	if err != nil {
		return nil, err
	}
	if err := records.awaitRecord(ctx, last); err != nil {
		return nil, err
	}
	return ends, got.await(ctx, "the end of job/"+failed, func(line string) bool { return strings.Contains(line, "JobRetired") })
}

// look prints what the log says about the Job that failed. While the controller runs, this is the Job's state and
// history; after the controller has stopped, it is the replay (all decisions made again, and compared).
func (d *demo) look(ctx context.Context) error {
	d.say("\nThe state of the one that exceeded its backoffLimit, and its history:")
	for _, args := range [][]string{{"get", "job/" + failed}, {"events", "job/" + failed}} {
		if _, err := d.show(ctx, append(args, "--log", d.logDir())...); err != nil {
			return err
		}
	}
	if err := d.showCronJob(ctx); err != nil {
		return err
	}
	if d.keep {
		if _, err := d.show(ctx, "explain", "job/"+failed, "--log", d.logDir()); err != nil {
			return err
		}
		return d.wait(ctx)
	}
	if err := d.started.stop(); err != nil {
		return err
	}
	d.say(`
The controller is stopped. From here on there is only the log. Every decision is made again from the
records that led to it, and compared with the recorded one; every checksum and hash is checked.`)
	if _, err := d.replay(ctx, "replay", "--job", failed); err != nil {
		return err
	}
	found, err := d.replay(ctx, "replay")
	if err != nil {
		return err
	}
	if _, err := d.show(ctx, "verify", "--log", d.logDir()); err != nil {
		return err
	}
	d.conclude(found)
	d.say("\nAnd why did job/%s fail? Its object may be deleted by now; the log answers:", failed)
	_, err = d.show(ctx, "explain", "job/"+failed, "--log", d.logDir())
	return err
}

// conclude prints a summary of the demo. replay is what jobledger replay has found.
func (d *demo) conclude(replay string) {
	complete := 0
	for _, e := range ends {
		if e.condition == batchv1.JobComplete {
			complete++
		}
	}
	d.say(`
What this was: %d Jobs ended as they should, %d Complete and %d Failed. Whatever led there is in the
log, and so is what became of the CronJob's due times. Its bytes are whole; made again from it
alone, no decision comes out differently (%s).`, len(ends), complete, len(ends)-complete, replay)
}

// replay runs jobledger replay, which makes all decisions again and must find no difference. It returns the last line
// of its output, without the heading.
func (d *demo) replay(ctx context.Context, args ...string) (found string, err error) {
	text, err := d.show(ctx, append(args, "--log", d.logDir())...)
	if err != nil {
		return "", err
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	found = strings.TrimPrefix(lines[len(lines)-1], "replay: ")
	if !strings.HasSuffix(found, ", 0 divergences") {
		return "", errors.New("the last line of the replay does not say 0 divergences")
	}
	return found, nil
}

// wait leaves the cluster and the controller running until ctx ends, or one of the processes ends.
func (d *demo) wait(ctx context.Context) error {
	if _, err := d.replay(ctx, "replay"); err != nil {
		return err
	}
	nats, err := d.natsURL()
	if err != nil {
		return err
	}
	d.say(`
Everything keeps running until Ctrl-C, which stops it. In another terminal, at the repository's root:

    export KUBECONFIG=%s
    %[2]s get jobs --log %[3]s
    %[2]s events -w --server %[4]s
    curl %[4]s/metrics
    %[2]s subscribe --decisions --all --log %[3]s
    nats --server %[6]s sub 'jobledger.v1.>' --headers-only    (if you have the tool nats)

If you have kubectl: delete the Jobs of examples/ and create them again, or change one.
The controller's own messages are in %[5]s`, d.cluster.Kubeconfig(), program, d.logDir(), d.started.server, d.started.messages, nats)
	select {
	case <-ctx.Done():
		return d.started.stop()
	case <-d.started.ended:
		return d.started.failure()
	case <-d.cluster.Done():
		return d.cluster.Err()
	}
}
