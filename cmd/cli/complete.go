package cli

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

// Limits of a lookup of names for the shell's completion, because the user waits for it.
const (
	completionTime  = 3 * time.Second
	completionNames = 200  // most names that are offered
	completionJobs  = 5000 // newest Jobs that are searched for namespaces
)

// completeJobs returns a completion function. It offers "job/NAME" for the Jobs in the log and, if lists is true,
// "jobs". After the word "job" it offers names only.
func completeJobs(c *CLI, f *JobFlags, lists bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		prefix := ""
		switch {
		case len(args) == 1 && isKind(args[0], which.Job):
		case len(args) == 0 && strings.Contains(begun, "/"):
			var kind string
			kind, begun, _ = strings.Cut(begun, "/")
			if prefix = kind + "/"; !isKind(kind, which.Job) && !inNamespace(f, kind) {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
		case len(args) == 0:
			kinds := []string{"job/", "pod/"}
			if lists {
				kinds = append(kinds, "jobs")
			}
			return kinds, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		default:
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		names := jobsLike(c, cmd, f, begun)
		for i := range names {
			names[i] = prefix + names[i]
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeCronJobs returns a completion function. It offers "cronjob/NAME" for the CronJobs in the log. After the word
// "cronjob" it offers names only.
func completeCronJobs(c *CLI, f *JobFlags) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		prefix := ""
		switch {
		case len(args) == 1 && isKind(args[0], which.CronJob):
		case len(args) == 0 && strings.Contains(begun, "/"):
			var kind string
			kind, begun, _ = strings.Cut(begun, "/")
			if prefix = kind + "/"; !isKind(kind, which.CronJob) && !inNamespace(f, kind) {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
		case len(args) == 0:
			return []string{"cronjob/"}, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		default:
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		names := cronJobsLike(c, cmd, f, begun)
		for i := range names {
			names[i] = prefix + names[i]
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

func isKind(word string, kind which.Kind) bool {
	named, is := which.KindOf(word)
	return is && named == kind
}

// inNamespace reports whether before, the word in front of a slash, is a namespace and not a kind. If so, it makes f
// look for names in that namespace.
func inNamespace(f *JobFlags, before string) bool {
	h, _, err := which.Parse([]string{before + "/x"})
	if err != nil || h.Kind != which.Any {
		return false
	}
	f.Namespace = before
	return true
}

// CompleteObjects returns a completion function that offers the Jobs and CronJobs in the log, and the kinds if lists is
// true.
func CompleteObjects(c *CLI, f *JobFlags, lists bool) cobra.CompletionFunc {
	jobs, crons := completeJobs(c, f, lists), completeCronJobs(c, f)
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		kind := begun
		if len(args) > 0 {
			kind = args[0]
		}
		kind, _, slash := strings.Cut(kind, "/")
		if isKind(kind, which.CronJob) && (slash || len(args) > 0) {
			return crons(cmd, args, begun)
		}
		names, directive := jobs(cmd, args, begun)
		if len(args) == 0 && !strings.Contains(begun, "/") {
			names = append(names, "cronjob/")
			if lists {
				names = append(names, "cronjobs")
			}
		}
		return names, directive
	}
}

// cronJobsLike returns the names of the newest CronJobs that begin with begun, without duplicates.
func cronJobsLike(c *CLI, cmd *cobra.Command, f *JobFlags, begun string) (names []string) {
	lookIn(c, cmd, f, func(ctx context.Context, src history.Source) {
		page, _ := src.CronJobs(ctx, history.CronJobsQuery{Namespace: completionNamespace(c, cmd, f), Name: begun, Limit: completionNames})
		for _, j := range page.Items {
			if name := words.Clean(j.Name); name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	})
	slices.Sort(names)
	return names
}

// CompleteJobFlag makes the shell offer names of Jobs as values of a flag.
func CompleteJobFlag(c *CLI, cmd *cobra.Command, flag string, f *JobFlags) {
	if !c.Completes {
		return
	}
	err := cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return jobsLike(c, cmd, f, begun), cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err) // a bug: it fails only if there is no such flag, or it has values
	}
}

// completeNamespaces makes -n offer the namespaces of the newest Jobs.
func completeNamespaces(c *CLI, cmd *cobra.Command, f *JobFlags) {
	if !c.Completes {
		return
	}
	err := cmd.RegisterFlagCompletionFunc("namespace", func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		var out []string
		for _, j := range lookUp(c, cmd, f, history.JobsQuery{Limit: completionJobs}) {
			if strings.HasPrefix(j.Namespace, begun) {
				out = append(out, words.Clean(j.Namespace))
			}
		}
		slices.Sort(out)
		return slices.Compact(out), cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err) // a bug: it fails only if there is no such flag, or it has values
	}
}

// jobsLike returns the names of the newest Jobs that begin with begun, without duplicates.
func jobsLike(c *CLI, cmd *cobra.Command, f *JobFlags, begun string) (names []string) {
	for _, j := range lookUp(c, cmd, f, history.JobsQuery{Namespace: completionNamespace(c, cmd, f), Name: begun, Limit: completionNames}) {
		if name := words.Clean(j.Name); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// completionNamespace returns the namespace in which the completion looks for names; empty for all.
func completionNamespace(c *CLI, cmd *cobra.Command, f *JobFlags) string {
	namespace := f.Namespace
	if all, err := cmd.Flags().GetBool("all-namespaces"); (err != nil || !all) && namespace == "" {
		if Plugin(cmd.Root().DisplayName()) && c.KubeNamespace != nil {
			namespace, _ = c.KubeNamespace(KubeFlags(cmd)) // after an error, the default namespace is used
		}
		namespace = OrDefault(namespace)
	}
	return namespace
}

// lookUp returns Jobs from the log. After an error it returns none, because a shell could not show the error.
func lookUp(c *CLI, cmd *cobra.Command, f *JobFlags, q history.JobsQuery) (found []history.Summary) {
	lookIn(c, cmd, f, func(ctx context.Context, src history.Source) {
		page, _ := src.Jobs(ctx, q) // after an error, the page has the Jobs found before
		found = page.Items
	})
	return found
}

// lookIn opens the log, and calls look with it. If the log cannot be opened, it does nothing.
func lookIn(c *CLI, cmd *cobra.Command, f *JobFlags, look func(context.Context, history.Source)) {
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	silent := *c
	silent.Err, silent.Met = io.Discard, &store.Damage{} // print nothing: a completion may be incomplete
	src, _, err := f.Source.Open(ctx, &silent)
	if err != nil {
		return
	}
	defer src.Close()
	look(ctx, src)
}

// Plugin reports whether this program runs as a plugin of kubectl. name is the display name of the root command:
// "kubectl jobledger" if the executable is called kubectl-jobledger, as kubectl requires of a plugin; else "jobledger".
// As a plugin, the program takes the default of -n from the kubeconfig, as kubectl does.
func Plugin(name string) bool { return strings.HasPrefix(name, "kubectl ") }
