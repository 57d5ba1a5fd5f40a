// Package suite has the TestMain for packages with tests that share one control plane and one jobledger.
package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/built"
)

// Suite is shared by the tests of a package. It is read-only once Main runs the tests.
type Suite struct {
	*controlplane.ControlPlane
	Admin   kubernetes.Interface // may do everything; speaks protobuf, to spare the shared machine
	Program string               // path of jobledger
}

// Options are the special needs of a package.
type Options struct {
	Tags        []string // build tags of jobledger
	Controllers []string // of kube-controller-manager, see controlplane.Options

	APIServerArgs []string // see controlplane.Options
	AuditBodies   bool     // likewise
	Gangs         bool     // see controlplane.Options.WithGangs
}

// Main builds jobledger, starts the control plane, runs the tests and ends the process with their status. If a test
// fails, it keeps the logs of the control plane and prints where they are.
func (s *Suite) Main(m *testing.M, options Options) {
	status, err := s.run(m, options)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

func (s *Suite) run(m *testing.M, options Options) (status int, err error) {
	dir, err := os.MkdirTemp("", "jobledger-suite-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ctx := context.Background() // no limit for a build; the control plane limits its start itself
	if s.Program, err = built.Program(ctx, dir, options.Tags...); err != nil {
		return 0, err
	}
	opts := controlplane.Options{Controllers: options.Controllers, APIServerArgs: options.APIServerArgs, AuditBodies: options.AuditBodies}
	if options.Gangs {
		opts = opts.WithGangs()
	}
	if s.ControlPlane, err = controlplane.Start(ctx, opts); err != nil {
		return 0, err
	}
	config := s.RESTConfig()
	config.ContentType = "application/vnd.kubernetes.protobuf"
	if s.Admin, err = kubernetes.NewForConfig(config); err != nil {
		return 0, errors.Join(err, s.Stop())
	}
	if status = m.Run(); status != 0 {
		s.KeepData()
		fmt.Fprintln(os.Stderr, "The logs of the control plane are in", s.LogDir())
	}
	return status, s.Stop()
}
