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

// JobFlags are the flags that say which log a command reads, and in which namespace the Job is.
type JobFlags struct {
	Source    sourceFlags
	Namespace string
	given     func() bool // reports whether the user gave -n
	settled   bool        // the namespace is certain: the user wrote it before the name, or the object was found in it
}

const defaultNamespace = "default"

// OrDefault returns the namespace, or "default" if it is empty.
func OrDefault(namespace string) string { return cmp.Or(namespace, defaultNamespace) }

func (f *JobFlags) place() which.Place {
	return which.Place{Namespace: OrDefault(f.Namespace), Named: f.settled || f.given != nil && f.given()}
}

// Object returns the object that the arguments name. A namespace in front of the name has the effect of -n.
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

// Resolve returns the object with its kind and namespace. If the user gave only a name, it looks them up in the log.
func (f *JobFlags) Resolve(ctx context.Context, c *CLI, src history.Source, h which.Object) (which.Object, error) {
	found, in, err := newFinder(c, src).Resolve(ctx, f.place(), h)
	if err == nil && h.Kind == which.Any {
		f.Namespace, f.settled = in.Namespace, in.Named
	}
	return found, err
}

// AddSource adds only the flags that name the log, to a command that is not about a Job.
func (f *JobFlags) AddSource(cmd *cobra.Command) { f.Source.add(cmd) }

// AddCluster makes the command read through the reader of a cluster ('jobledger serve') if no log is named. It adds the
// flags for this.
func (f *JobFlags) AddCluster(cmd *cobra.Command) {
	f.Source.cluster.add(cmd)
	f.Source.cluster.scope = func() string { return f.Namespace }
}

// Given reports whether a flag or the environment names a log.
func (f *sourceFlags) Given(getenv func(string) string) bool {
	return f.Log != "" || f.server != "" || getenv(EnvLog) != "" || getenv(envServer) != ""
}

// newFinder returns what looks up objects by name in the log src. Its notes are printed on standard error.
func newFinder(c *CLI, src history.Source) *which.Finder {
	return &which.Finder{Source: src, Note: func(text string) { fmt.Fprintf(c.Err, "note: %s\n", text) }}
}

// OfKubeconfig is the key of two annotations. On a command it says that -n, if the user does not give it and kubectl
// calls the command, is the namespace of the kubeconfig. On the flag -n it says that the value came from there.
const OfKubeconfig = "namespace of the kubeconfig"

// GaveNamespace reports whether the user gave -n. A namespace that was taken from the kubeconfig does not count.
func GaveNamespace(cmd *cobra.Command) bool {
	n := cmd.Flags().Lookup("namespace")
	return n.Changed && n.Annotations[OfKubeconfig] == nil
}

// Add adds these flags to cmd. namespace is the help text of -n.
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

// Find returns the stream of the Job: its records. If several Jobs had this name, it returns the newest, and prints a
// note about the older ones.
func (f *JobFlags) Find(ctx context.Context, c *CLI, src history.Source, h which.Object) (events.Stream, error) {
	finder := newFinder(c, src)
	streams, err := finder.Jobs(ctx, f.place(), h)
	if err != nil {
		return events.Stream{}, err
	}
	finder.NoteOlder(streams[1:])
	return streams[0], nil
}
