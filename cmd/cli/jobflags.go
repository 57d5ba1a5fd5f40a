package cli

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/which"
)

// JobFlags are the flags that say which log to read, and the namespace of the Job.
type JobFlags struct {
	Source    sourceFlags
	Namespace string
	given     func() bool // reports whether the user gave -n
	settled   bool        // the user wrote the namespace before the name, or the object was found in it
}

const defaultNamespace = "default"

// OrDefault returns the namespace, or "default" if it is empty.
func OrDefault(namespace string) string { return cmp.Or(namespace, defaultNamespace) }

func (f *JobFlags) place() which.Place {
	return which.Place{Namespace: OrDefault(f.Namespace), Named: f.settled || f.given != nil && f.given()}
}

// Object parses the arguments that name an object. A namespace before the name has the effect of -n.
func (f *JobFlags) Object(args []string) (h which.Object, err error) {
	h, before, err := which.Parse(args)
	if err != nil || before == "" {
		return h, err
	}
	flag := ""
	if f.place().Named {
		flag = f.Namespace
	}
	f.Namespace, err = which.OneNamespace(args, before, flag)
	f.settled = true
	return h, err
}

// Resolve returns the object with its kind and namespace, which it finds in the log if the user gave only a name.
func (f *JobFlags) Resolve(ctx context.Context, c *CLI, src history.Source, h which.Object) (which.Object, error) {
	found, in, err := newFinder(c, src).Resolve(ctx, f.place(), h)
	if err == nil && h.Kind == which.Any {
		f.Namespace, f.settled = in.Namespace, in.Named
	}
	return found, err
}

// AddSource adds only the flags that name the log, for a command that is not about a Job.
func (f *JobFlags) AddSource(cmd *cobra.Command) { f.Source.add(cmd) }

// AddCluster allows the command to read from the reader of a cluster if no log is named, and adds the flags for that.
func (f *JobFlags) AddCluster(cmd *cobra.Command) {
	f.Source.cluster.add(cmd)
	f.Source.cluster.scope = func() string { return f.Namespace }
}

// Given reports whether a flag or the environment names a log.
func (f *sourceFlags) Given(getenv func(string) string) bool {
	return f.Log != "" || f.server != "" || getenv(EnvLog) != "" || getenv(envServer) != ""
}

// newFinder returns a finder for objects in the log. It prints its notes on standard error.
func newFinder(c *CLI, src history.Source) *which.Finder {
	return &which.Finder{Source: src, Note: func(text string) { fmt.Fprintf(c.Err, "note: %s\n", text) }}
}

// OfKubeconfig marks commands that use the namespace of the kubeconfig if kubectl calls them and the user does not give
// -n.
const OfKubeconfig = "namespace of the kubeconfig"

// GaveNamespace reports whether the user gave -n. A namespace that was taken from the kubeconfig does not count.
func GaveNamespace(cmd *cobra.Command) bool {
	n := cmd.Flags().Lookup("namespace")
	return n.Changed && n.Annotations[OfKubeconfig] == nil
}

// Add adds the flags to cmd. namespace is the help text of -n.
func (f *JobFlags) Add(cmd *cobra.Command, c *CLI, namespace string) {
	f.Source.add(cmd)
	cmd.Flags().StringVarP(&f.Namespace, "namespace", "n", "", namespace)
	f.given = func() bool { return GaveNamespace(cmd) }
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[OfKubeconfig] = ""
	completeNamespaces(c, cmd, f)
}

// Find returns the stream (the records) of the Job. If several Jobs had the name, it returns the newest, and notes the
// older ones.
func (f *JobFlags) Find(ctx context.Context, c *CLI, src history.Source, h which.Object) (events.Stream, error) {
	finder := newFinder(c, src)
	streams, err := finder.Jobs(ctx, f.place(), h)
	if err != nil {
		return events.Stream{}, err
	}
	finder.NoteOlder(streams[1:])
	return streams[0], nil
}
