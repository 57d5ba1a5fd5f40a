package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/which"
)

// jobFlags say where records are read from, and the namespace of the Job that is meant.
type jobFlags struct {
	source    sourceFlags
	namespace string
	given     func() bool // the user gave -n
	settled   bool        // the namespace stood before the name, or the object was found in it
}

const defaultNamespace = "default"

func orDefault(namespace string) string { return cmp.Or(namespace, defaultNamespace) }

func (f *jobFlags) place() which.Place {
	return which.Place{Namespace: orDefault(f.namespace), Named: f.settled || f.given != nil && f.given()}
}

// object reads what the arguments name. A namespace before the name is as if -n had given it.
func (f *jobFlags) object(args []string) (h which.Object, err error) {
	h, before, err := which.Parse(args)
	if err != nil || before == "" {
		return h, err
	}
	flag := ""
	if f.place().Named {
		flag = f.namespace
	}
	f.namespace, err = which.OneNamespace(args, before, flag)
	f.settled = true
	return h, err
}

// resolve finds out what a name alone means, and where that is.
func (f *jobFlags) resolve(ctx context.Context, c *cli, src history.Source, h which.Object) (which.Object, error) {
	found, in, err := newFinder(c, src).Resolve(ctx, f.place(), h)
	if err == nil && h.Kind == which.Any {
		f.namespace, f.settled = in.Namespace, in.Named
	}
	return found, err
}

// newFinder finds objects in a log, and tells on standard error what the user should know of that.
func newFinder(c *cli, src history.Source) *which.Finder {
	return &which.Finder{Source: src, Note: func(text string) { fmt.Fprintf(c.err, "note: %s\n", text) }}
}

// ofKubeconfig marks the commands whose namespace is that of the kubeconfig, when kubectl calls them and none is given.
const ofKubeconfig = "namespace of the kubeconfig"

// gaveNamespace reports whether the user gave -n. The namespace of a kubeconfig is not given.
func gaveNamespace(cmd *cobra.Command) bool {
	n := cmd.Flags().Lookup("namespace")
	return n.Changed && n.Annotations[ofKubeconfig] == nil
}

func (f *jobFlags) add(cmd *cobra.Command, c *cli, namespace string) {
	f.source.add(cmd)
	cmd.Flags().StringVarP(&f.namespace, "namespace", "n", "", namespace)
	f.given = func() bool { return gaveNamespace(cmd) }
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[ofKubeconfig] = ""
	completeNamespaces(c, cmd, f)
}

// find finds the stream of the Job that is meant: of several Jobs of one name the newest. Older ones are told as a note.
func (f *jobFlags) find(ctx context.Context, c *cli, src history.Source, h which.Object) (events.Stream, error) {
	finder := newFinder(c, src)
	streams, err := finder.Jobs(ctx, f.place(), h)
	if err != nil {
		return events.Stream{}, err
	}
	finder.NoteOlder(streams[1:])
	return streams[0], nil
}
