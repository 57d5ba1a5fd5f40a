package show

import (
	"fmt"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/plan"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Plan writes which owners of Jobs could give their future Jobs to Jobledger, one line for each. Below a line are the
// decisions that Jobledger would have made differently.
func (p *Page) Plan(x *plan.Plan) error {
	if _, err := fmt.Fprintln(p.Out, wrapped(planHead(x), "; ", p.Width)); err != nil || len(x.Owners) == 0 {
		return err
	}
	t := p.table("OWNER", "JOBS", "RUN BY", "FOR THE NEXT ONES")
	t.Fold = true
	for i := range x.Owners {
		o := &x.Owners[i]
		t.Row(
			Cell{Text: words.Clean(p.owner(o)), Name: true}, Cell{Text: strconv.Itoa(o.Jobs)}, Cell{Text: words.Clean(runner(o.RunBy)), Name: true},
			Cell{Text: words.Clean(o.Step)})
		for _, line := range []struct {
			says string
			all  []plan.Difference
		}{{"otherwise: ", o.Differences}, {"pods that did not come: ", o.PodsMissing}} {
			if len(line.all) > 0 {
				t.Rule(strings.Repeat(" ", belowAt) + line.says + words.Clean(differences(line.all)))
			}
		}
	}
	if err := t.Flush(); err != nil || x.Unfinished == 0 {
		return err
	}
	_, err := fmt.Fprintf(p.Out, "%s not finished. A Job stays with its controller: spec.managedBy cannot be changed.\n", areOrIs(x.Unfinished))
	return err
}

// planHead returns the parts of the first line: how many Jobs and owners were compared, and how many differ.
func planHead(x *plan.Plan) []string {
	parts := []string{countOf(x.Jobs, "Job") + " of " + countOf(len(x.Owners), "owner")}
	if x.Differ > 0 {
		parts = append(parts, countOf(x.Differ, "Job")+" would have been decided otherwise: jobledger events --kind would-decide")
	} else {
		parts = append(parts, "none of them would have been decided otherwise")
	}
	if x.PodsMissing > 0 {
		parts = append(parts, "of "+countOf(x.PodsMissing, "Job")+" pods did not come",
			"the log does not have whether they were refused, or not asked for")
	}
	return parts
}

func areOrIs(n int) string {
	if n == 1 {
		return "1 of them is"
	}
	return strconv.Itoa(n) + " of them are"
}

// owner returns the name of an owner: "prod/CronJob etl", or the creator of the Jobs: "prod/(made by kubectl-create)".
func (p *Page) owner(o *plan.Owner) string {
	text := "(made by " + o.Manager + ")"
	switch {
	case o.Kind != "":
		text = o.Kind + " " + o.Name
	case o.Manager == "":
		text = "(made by unknown)"
	}
	if p.Namespace == "" {
		text = o.Namespace + "/" + text
	}
	return text
}

// runner returns the name that people use for a controller, such as that of spec.managedBy.
func runner(name string) string {
	switch name {
	case batchv1.JobControllerName:
		return "built-in"
	case events.ManagedBy:
		return "jobledger"
	}
	return name
}

// differences lists decisions that would have differed: "PodsToRemove of 2 Jobs #310" is the reason of the decision,
// the number of Jobs, and the first record.
func differences(of []plan.Difference) string {
	var all []string
	for _, d := range of {
		all = append(all, fmt.Sprintf("%s of %s #%d", d.Reason, countOf(d.Jobs, "Job"), d.Record))
	}
	return strings.Join(all, ", ")
}

// countOf returns "1 Job" or "3 Jobs".
func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
