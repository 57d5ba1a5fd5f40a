package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/serve"
)

// Cluster says in which cluster to look for a reader ('jobledger serve').
type Cluster struct {
	Kubeconfig string // path of a file; empty for kubectl's default
	Context    string // context of the kubeconfig; empty for the current one
	Namespace  string // namespace in which the reader runs
}

// UsualReader is the namespace of the reader ('jobledger serve'), unless a flag names another one.
const UsualReader = "jobledger-reader"

// clusterFlags are the flags by which a command finds the reader ('jobledger serve') of a cluster.
type clusterFlags struct {
	Cluster
	finds bool          // the command has these flags
	given func() bool   // reports whether the user gave one of them
	scope func() string // returns the namespace that the command is about; empty for all
}

func (f *clusterFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.Kubeconfig, "kubeconfig", "", "without --log and --server: the file by which the cluster's reader is found; kubectl's unless given")
	flags.StringVar(&f.Context, "context", "", "context of the kubeconfig; its current one unless given")
	flags.StringVar(&f.Namespace, "reader-namespace", UsualReader, "namespace of the cluster's reader")
	f.finds = true
	f.given = func() bool {
		return flags.Changed("kubeconfig") || flags.Changed("context") || flags.Changed("reader-namespace")
	}
}

// Finds reports whether the command reads through the reader of a cluster ('jobledger serve'), because the user names
// no log.
func (f *sourceFlags) Finds(c *CLI) bool {
	return f.cluster.finds && f.Log == "" && f.server == "" && c.FindReader != nil
}

// ErrNoKubeconfig is returned if there is no kubeconfig, and this process does not run in a pod.
var ErrNoKubeconfig = errors.New("there is no kubeconfig")

// find returns a client of the cluster's reader ('jobledger serve').
func (f *clusterFlags) find(ctx context.Context, c *CLI) (*serve.Client, error) {
	reader, err := f.reader(ctx, c)
	if err != nil {
		return nil, err
	}
	scope := ""
	if f.scope != nil {
		scope = f.scope()
	}
	return c.client(reader, scope), nil
}

// client returns a client of a reader ('jobledger serve') for requests about one namespace; an empty scope stands for
// all.
func (c *CLI) client(reader *serve.Reader, scope string) *serve.Client {
	of := *reader
	of.Scope = scope
	client := serve.NewReaderClient(&of)
	client.Damage, client.Note = c.Met, c.Note
	return client
}

// At returns the log behind a reader ('jobledger serve'), for requests about one namespace; empty for all. When it is
// closed, the connections of reader stay open.
func (c *CLI) At(reader *serve.Reader, namespace string) history.Source {
	of := *reader
	of.Close = nil
	return c.client(&of, namespace)
}

func (f *clusterFlags) reader(ctx context.Context, c *CLI) (*serve.Reader, error) {
	reader, err := c.FindReader(ctx, f.Cluster)
	if errors.Is(err, ErrNoKubeconfig) {
		return nil, nowhere(", or have a kubeconfig whose cluster has a reader: there is none (--kubeconfig names one)")
	}
	return reader, err
}

// Reader returns the reader of the cluster ('jobledger serve'), connected. It returns nil if a flag or the environment
// names a log.
func (f *sourceFlags) Reader(ctx context.Context, c *CLI) (*serve.Reader, error) {
	if err := f.take(c.Getenv); err != nil {
		return nil, err
	}
	if !f.Finds(c) {
		return nil, nil //nolint:nilnil // nil without an error: a log is named, so no reader is needed
	}
	return f.cluster.reader(ctx, c)
}

// KubeFlags returns which kubeconfig and which context the flags of a command name; empty for what kubectl would use.
func KubeFlags(cmd *cobra.Command) (kubeconfig, context string) {
	value := func(name string) string {
		if f := cmd.Flags().Lookup(name); f != nil {
			return f.Value.String()
		}
		return ""
	}
	return value("kubeconfig"), value("context")
}
