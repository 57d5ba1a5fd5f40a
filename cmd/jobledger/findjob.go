package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// jobFlags say where records are read from, and the namespace of the Job that is meant.
type jobFlags struct {
	source    sourceFlags
	namespace string
	given     func() bool // the user gave -n
	settled   bool        // the namespace stood before the name, or the object was found in it
}

// inSpace is the namespace in which an object is looked for. Unless the user named it, an object that is not there, and in one other namespace, is
// that one.
type inSpace struct {
	namespace string
	named     bool
}

func (f *jobFlags) place() inSpace {
	return inSpace{orDefault(f.namespace), f.settled || f.given != nil && f.given()}
}

// handle reads what the arguments name. A namespace before the name is as if -n had given it.
func (f *jobFlags) handle(args []string) (h handle, err error) {
	h, before, err := parseHandle(args)
	if err != nil || before == "" {
		return h, err
	}
	flag := ""
	if f.place().named {
		flag = f.namespace
	}
	f.namespace, err = oneNamespace(args, before, flag)
	f.settled = true
	return h, err
}

// resolve finds out what a name alone means, and where that is.
func (f *jobFlags) resolve(ctx context.Context, c *cli, src history.Source, h handle) (handle, error) {
	if !h.any {
		return h, nil
	}
	h, in, err := c.kindOf(ctx, src, f.place(), h.name)
	if err == nil {
		f.namespace, f.settled = in.namespace, in.named
	}
	return h, err
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
	c.completeNamespaces(cmd, f)
}

// find finds the stream of the Job that is meant: of several Jobs of one name the newest. Older ones are told as a note.
func (f *jobFlags) find(ctx context.Context, c *cli, src history.Source, h handle) (events.Stream, error) {
	streams, err := c.findJobs(ctx, src, f.place(), h)
	if err != nil {
		return events.Stream{}, err
	}
	c.noteOlder(streams[1:])
	return streams[0], nil
}

func (c *cli) noteOlder(older []events.Stream) {
	if len(older) > 0 {
		what := "Job"
		if older[0].Kind == events.StreamCronJob {
			what = "CronJob"
		}
		fmt.Fprintf(c.err, "note: the name was also that of an earlier %s: %s\n", what, words.Clean(older[0].String()))
	}
}

var (
	uid       = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	uidBegins = regexp.MustCompile(`^[0-9a-fA-F][0-9a-fA-F-]{3,}$`)
)

// mostLike is how many Jobs are named when a beginning of UIDs is that of several.
const mostLike = 10

// findJobs finds the streams of the Jobs, or of the CronJobs, that are meant, newest first. There is at least one. A name comes first, then a UID or how one
// begins, then a pod's name.
func (c *cli) findJobs(ctx context.Context, src history.Source, p inSpace, h handle) ([]events.Stream, error) {
	namespace := p.namespace
	if h.cron {
		return c.findCronJobs(ctx, src, p, h.name)
	}
	if !h.pod && uid.MatchString(h.name) {
		return []events.Stream{events.JobStream(types.UID(strings.ToLower(h.name)))}, nil
	}
	var unread error // where the name may be
	if !h.pod {
		streams, err := history.FindJobs(ctx, src, namespace, h.name)
		if unread = err; err != nil && !src.Beside(err) {
			return nil, fmt.Errorf("find %s: %w", h, err)
		}
		if len(streams) > 0 {
			return streams, nil // there may be newer ones of the name, where the log is damaged
		}
		if uidBegins.MatchString(h.name) {
			if s, ok, err := c.byUID(ctx, src, strings.ToLower(h.name)); ok || err != nil {
				return []events.Stream{s}, err
			}
		}
	}
	s, ok, err := history.JobOfPod(ctx, src, namespace, h.name)
	switch {
	case errors.Is(err, history.ErrManyJobs):
		return nil, fmt.Errorf("find %s: %w: name its Job with job/NAME or job/UID", h, err)
	case unread != nil && (err == nil || src.Beside(err)) && !ok:
		return nil, fmt.Errorf("find %s: %w", h, unread)
	case err != nil:
		return nil, fmt.Errorf("find %s: %w", h, err)
	case ok:
		fmt.Fprintf(c.err, "note: pod %s is of job %s\n", words.Clean(h.name), called(ctx, src, s))
		return []events.Stream{s}, nil
	}
	if streams, err := c.findElsewhere(ctx, src, p, h); len(streams) > 0 || err != nil {
		return streams, err
	}
	return nil, c.unknown(ctx, src, p, h)
}

// byUID finds the Job whose UID begins so, in whatever namespace. Several are an error that names them.
func (c *cli) byUID(ctx context.Context, src history.Source, prefix string) (s events.Stream, ok bool, err error) {
	page, err := src.Jobs(ctx, history.JobsQuery{UID: prefix, Limit: mostLike + 1})
	if len(page.Items) == 0 || err != nil && !src.Beside(err) {
		return s, false, err
	}
	if len(page.Items) == 1 {
		return events.JobStream(types.UID(page.Items[0].UID)), true, nil
	}
	fmt.Fprintf(c.err, "The UIDs of these Jobs begin with %s:\n", prefix)
	for i, j := range page.Items {
		if i == mostLike {
			fmt.Fprintln(c.err, "  … and more")
			break
		}
		fmt.Fprintf(c.err, "  %s  %s/%s (%s)\n", words.Clean(j.UID), words.Clean(j.Namespace), words.Clean(j.Name), j.State)
	}
	return s, false, usage("job/%s is not one Job: write more of the UID, or the name", prefix)
}

// called is what a Job is called in a note.
func called(ctx context.Context, src history.Source, s events.Stream) string {
	job := history.NamesOf(ctx, src).Job(s)
	if job.Name == "" {
		return words.Clean(s.ID)
	}
	return words.Clean(job.Namespace + "/" + job.Name)
}
