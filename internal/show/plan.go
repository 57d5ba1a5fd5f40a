package show

import (
	"fmt"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/plan"
	"github.com/jobledger/jobledger/internal/words"
)

// Plan writes whose future Jobs could be run, an owner a line.
func (p *Page) Plan(x *plan.Plan) error {
	differ := "none of them would have been decided otherwise"
	if x.Differ > 0 {
		differ = fmt.Sprintf("%s would have been decided otherwise: jobledger events --kind would-decide", countOf(x.Differ, "Job"))
	}
	if _, err := fmt.Fprintf(p.Out, "%s of %s; %s\n", countOf(x.Jobs, "Job"), countOf(len(x.Owners), "owner"), differ); err != nil || len(x.Owners) == 0 {
		return err
	}
	t := &Table{Out: p.Out, Head: []string{"OWNER", "JOBS", "RUN BY", "DIFFER", "FOR THE NEXT ONES"}, Width: p.Width, Whole: p.Whole, Colour: p.Colour}
	for i := range x.Owners {
		o := &x.Owners[i]
		t.Row(
			Cell{Text: words.Clean(p.owner(o)), Name: true}, Cell{Text: strconv.Itoa(o.Jobs)}, Cell{Text: words.Clean(runner(o.RunBy)), Name: true},
			Cell{Text: dash(words.Clean(differences(o)))}, Cell{Text: words.Clean(o.Step)})
	}
	if err := t.Flush(); err != nil || x.Unfinished == 0 {
		return err
	}
	_, err := fmt.Fprintf(p.Out, "%s not finished. A Job stays with its controller: spec.managedBy cannot be changed.\n", areOrIs(x.Unfinished))
	return err
}

func areOrIs(n int) string {
	if n == 1 {
		return "1 of them is"
	}
	return strconv.Itoa(n) + " of them are"
}

// owner is "prod/CronJob etl", or who made the Jobs: "prod/(made by kubectl-create)".
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

// runner is a controller, as people call it.
func runner(name string) string {
	switch name {
	case batchv1.JobControllerName:
		return "built-in"
	case events.ManagedBy:
		return "jobledger"
	}
	return name
}

// differences are "MorePodsWanted 2 #310": the reason, of how many Jobs, and the first record.
func differences(o *plan.Owner) string {
	var all []string
	for _, d := range o.Differences {
		all = append(all, fmt.Sprintf("%s %d #%d", d.Reason, d.Jobs, d.Record))
	}
	return strings.Join(all, ", ")
}

// countOf is "1 Job" or "3 Jobs".
func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
