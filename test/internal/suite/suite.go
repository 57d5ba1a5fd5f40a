// Package suite has the TestMain for packages whose tests share one control plane and one jobledger program.
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

// Suite has what the tests of a package share: a control plane and a program. It is read-only after Main has started
// the tests.
type Suite struct {
	*controlplane.ControlPlane
	Admin   kubernetes.Interface // client with all rights; it uses protobuf, which needs less processor time
	Program string               // path of the jobledger program
}

// Options says what a package needs in addition to a plain control plane and program.
type Options struct {
	Tags        []string // build tags for jobledger
	Controllers []string // controllers of kube-controller-manager, see controlplane.Options

	APIServerArgs []string // see controlplane.Options
	AuditBodies   bool     // see controlplane.Options
	Gangs         bool     // see controlplane.Options.WithGangs
}

// Main builds jobledger, starts the control plane, runs the tests, and exits with their status. If a test fails, it
// keeps the logs of the control plane and prints their path.
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
	ctx := context.Background() // the build has no time limit, and controlplane limits its own start
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
