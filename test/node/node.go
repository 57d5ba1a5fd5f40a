//go:build linux

package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/child"
)

const (
	logsDir   = "logs"
	serviceIP = controlplane.ServiceIP
	// startTimeout limits the start of the node, which takes seconds on an idle machine.
	startTimeout = 5 * time.Minute
)

// Controllers are controllers of kube-controller-manager that a real node and the owners of its pods need, besides
// those that always run.
var Controllers = []string{
	"root-ca-certificate-publisher-controller", "statefulset-controller", "persistentvolume-binder-controller",
	"persistentvolume-protection-controller", "persistentvolumeclaim-protection-controller", "endpointslice-controller",
}

// Node is a running node. Start creates it.
type Node struct {
	cp     *controlplane.ControlPlane
	client kubernetes.Interface
	dir    string
	door   net.Listener // listens for pods at the address of the Service kubernetes, and leads to the API server

	mu        sync.Mutex
	processes []*process // in the order of their start
}

// process is one program of the node, such as containerd.
type process struct {
	name, log string
	pid       int
	ended     chan struct{} // closed when the process has ended; err is set before that
	err       error
}

// Start starts the node of a control plane with RealNodes, loads the images in the archives, and returns when the node
// is ready. A process can have only one node.
func Start(ctx context.Context, cp *controlplane.ControlPlane, archives ...string) (*Node, error) {
	if errMissing != nil {
		return nil, errMissing
	}
	client, err := kubernetes.NewForConfig(cp.RESTConfig())
	if err != nil {
		return nil, err
	}
	n := &Node{cp: cp, client: client, dir: Dir()}
	if err := os.MkdirAll(n.path(logsDir), 0o755); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("the node was not ready within %s", startTimeout))
	defer cancel()
	if err := n.start(ctx, archives); err != nil {
		return nil, errors.Join(fmt.Errorf("start a node: %w", err), n.Stop())
	}
	return n, nil
}

func (n *Node) start(ctx context.Context, archives []string) error {
	if err := n.openDoor(); err != nil {
		return err
	}
	if err := n.startContainerd(ctx); err != nil {
		return err
	}
	for _, archive := range archives {
		if err := n.Load(ctx, archive); err != nil {
			return err
		}
	}
	if err := n.startDNS(ctx); err != nil {
		return err
	}
	return n.startKubelet(ctx)
}

func (n *Node) path(name string) string { return filepath.Join(n.dir, name) }

// program returns the path of one of the programs of package binaries.
func (n *Node) program(name string) string { return n.cp.Program(name) }

// openDoor makes the API server reachable for pods: it listens at the address of the Service kubernetes, and forwards
// each connection to the server. Its goroutines end when Stop is called and their connections have ended.
func (n *Node) openDoor() error {
	at, err := n.cp.Address()
	if err != nil {
		return err
	}
	if n.door, err = net.Listen("tcp", net.JoinHostPort(serviceIP, "443")); err != nil {
		return err
	}
	go func() {
		for {
			from, err := n.door.Accept()
			if err != nil {
				return
			}
			go forward(from, at)
		}
	}()
	return nil
}

// forward copies bytes between the connection from and a new one to the address at, until both have ended.
func forward(from net.Conn, at string) {
	defer from.Close()
	to, err := net.Dial("tcp", at)
	if err != nil {
		return // the client sees only that its connection ends
	}
	defer to.Close()
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
		both.Go(func() {
			_, _ = io.Copy(way[1], way[0]) // an error needs no report: both sides see that the connection ends
			_ = way[1].(*net.TCPConn).CloseWrite()
		})
	}
	both.Wait()
}

// launch starts a program of the node, with its output in a log file.
func (n *Node) launch(name string, argv ...string) error {
	p := &process{name: name, log: n.path(filepath.Join(logsDir, name+".log")), ended: make(chan struct{})}
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer out.Close() // the child process keeps its own copy open
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = out, out
	// PATH gets the program's directory, because containerd looks there for its shim.
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(argv[0])+":"+os.Getenv("PATH"))
	ended, err := child.Start(cmd)
	if err != nil {
		return fmt.Errorf("start %s: %w", name, err)
	}
	p.pid = cmd.Process.Pid
	go func() { // this goroutine ends when the process ends
		p.err = <-ended
		close(p.ended)
	}()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.processes = append(n.processes, p)
	return nil
}

// await waits until check returns nil. It returns an error if the program ends before that.
func (n *Node) await(ctx context.Context, name string, check func() error) error {
	p := n.process(name)
	var last error
	err := wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(context.Context) (bool, error) {
		select {
		case <-p.ended:
			return false, fmt.Errorf("%s ended by itself: %w", name, p.err)
		default:
		}
		last = check()
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait for %s: %w; last: %w; its log is %s", name, err, last, p.log)
	}
	return nil
}

func (n *Node) process(name string) *process {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.processes {
		if p.name == name {
			return p
		}
	}
	return nil
}

// end kills one of the node's programs, and returns when it has ended.
func (n *Node) end(name string) error {
	p := n.process(name)
	if p == nil {
		return fmt.Errorf("%s does not run", name)
	}
	err := child.Signal(p.pid, syscall.SIGKILL)
	<-p.ended
	n.mu.Lock()
	defer n.mu.Unlock()
	n.processes = slices.DeleteFunc(n.processes, func(x *process) bool { return x == p })
	return err
}

// Stop kills the programs of the node. Processes that they started end with the child process of Main.
func (n *Node) Stop() error {
	var errs []error
	if n.door != nil {
		errs = append(errs, n.door.Close())
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range slices.Backward(n.processes) {
		errs = append(errs, child.Signal(p.pid, syscall.SIGKILL))
		<-p.ended
	}
	n.processes = nil
	return errors.Join(errs...)
}
