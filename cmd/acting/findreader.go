package acting

import (
	"context"
	"errors"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/internal/run/finding"
)

// FindReader finds the reader of a cluster ('jobledger serve'), and connects to it as the user of the kubeconfig.
func FindReader(ctx context.Context, in cli.Cluster) (*serve.Reader, error) {
	loader, err := kubeconfigOf(in.Kubeconfig, in.Context)
	if err != nil {
		return nil, err
	}
	if err := knownContext(loader, in.Context); err != nil {
		return nil, err
	}
	reader, err := finding.Find(ctx, finding.Config{
		Loader: loader, Namespace: in.Namespace, UserAgent: "jobledger/" + cli.ThisBuild().Version,
	})
	if errors.Is(err, finding.ErrNoKubeconfig) {
		return nil, cli.ErrNoKubeconfig
	}
	return reader, err
}
