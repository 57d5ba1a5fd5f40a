package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
)

// mostSorted is the largest number of objects that can be sorted, because they are held in memory.
const mostSorted = 200_000

// sortFields maps the field names that users of kubectl give to --sort-by to our names.
var sortFields = map[string]string{
	"metadata.name": "name", "metadata.namespace": "namespace", "metadata.uid": "uid", "metadata.creationTimestamp": "created",
	"status.startTime": "started", "status.completionTime": "finished",
}

// sortNames returns the values for --sort-by that the shell offers.
func sortNames() []string {
	return []string{
		"name", "namespace", "state", "created", "started", "finished", "records", "counts.succeeded", "counts.failed", "counts.active",
	}
}

// sortPath returns the value of --sort-by as a JSONPath.
func sortPath(text string) string {
	path := cli.Braced(text)
	if ours, ok := sortFields[path[2:len(path)-1]]; ok {
		return cli.Braced(ours)
	}
	return path
}

// checkSort returns a usage error if text names a field that Jobs do not have.
func checkSort(text string) error {
	if text == "" {
		return nil
	}
	one := recordjson.Instant(1)
	full, err := cli.Fields(history.Summary{
		Reason: "r", Gone: true, Created: one, Started: one, Finished: one, First: 1, Last: 1, Counts: history.Counts{Completions: 1},
		Labels: map[string]string{},
	})
	if err != nil {
		return err
	}
	full.(map[string]any)["labels"] = map[string]any{}
	path := sortPath(text)
	if _, err := cli.FieldOf(full, path, false); err != nil {
		if _, below := cli.FieldOf(full, path, true); below == nil && len(path) > len("{.labels") && path[:len("{.labels")] == "{.labels" {
			return nil
		}
		return cli.Usage("--sort-by %s: the JSON of a list has no such field: such as %s", text, strings.Join(sortNames(), ", "))
	}
	return nil
}

// writeSorted prints all chosen Jobs, sorted by a field. If there are more than the limit, it prints those with the
// greatest values, which are the last in the order.
func writeSorted(ctx context.Context, c *cli.CLI, src history.Source, f *getFlags, out jobsOut) error {
	var jobs []history.Summary
	var unread error
	var rest history.JobsPage
	for page, err := range pagesOf(ctx, c, src, f.jobs, 0, ofJobsPage) {
		switch {
		case err != nil && !(src.Beside(err) && (page != nil || len(jobs) > 0)):
			return err
		case err != nil:
			unread = err
		}
		if page == nil {
			break
		}
		rest = history.JobsPage{PrunedBefore: page.PrunedBefore, PassedOver: page.PassedOver}
		if jobs = append(jobs, page.Items...); len(jobs) > mostSorted {
			return fmt.Errorf("there are more than %d Jobs to sort: ask for fewer, with -n, -l, --state or --since", mostSorted)
		}
	}
	notePassed(c, rest.PassedOver, &f.Output)
	if len(jobs) == 0 && !f.Output.Document() {
		tellNoJobs(c, f.Job.Namespace)
		return unread
	}
	if err := sortBy(jobs, sortPath(f.sortBy)); err != nil {
		return err
	}
	all := len(jobs)
	if f.limit.Most > 0 && all > f.limit.Most {
		jobs = jobs[all-f.limit.Most:]
	}
	if err := out.add(jobs); err != nil {
		return err
	}
	if err := out.end(rest); err != nil {
		return err
	}
	if len(jobs) < all {
		fmt.Fprintf(c.Err, "note: these are the last %d of %d, in the order of %s; --limit 0 shows all\n", len(jobs), all, words.Clean(f.sortBy))
	}
	return unread
}

// sortBy sorts objects by a field, stably. As in kubectl, objects without the field come first.
func sortBy[T any](jobs []T, path string) error {
	type keyed struct {
		key any
		job T
	}
	all := make([]keyed, len(jobs))
	for i := range jobs {
		tree, err := cli.Fields(&jobs[i])
		if err != nil {
			return err
		}
		key, err := cli.FieldOf(tree, path, true)
		if err != nil {
			return cli.Usage("--sort-by: %v", err)
		}
		all[i] = keyed{key, jobs[i]}
	}
	slices.SortStableFunc(all, func(a, b keyed) int { return compareFields(a.key, b.key) })
	for i := range all {
		jobs[i] = all[i].job
	}
	return nil
}

// compareFields compares the values of a field in two objects.
func compareFields(a, b any) int {
	if a == nil || b == nil {
		return cmp.Compare(boolInt(a != nil), boolInt(b != nil))
	}
	switch x := a.(type) {
	case int64:
		if y, ok := b.(int64); ok {
			return cmp.Compare(x, y)
		}
	case string:
		if y, ok := b.(string); ok {
			return cmp.Compare(x, y)
		}
	case bool:
		if y, ok := b.(bool); ok {
			return cmp.Compare(boolInt(x), boolInt(y))
		}
	}
	return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
