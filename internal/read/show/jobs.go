package show

import (
	"strconv"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// JobsTable is a table of Jobs. It is written piece by piece, so it can have any number of rows.
type JobsTable struct {
	Table
	page *Page
	why  bool
}

// Jobs returns an empty table of Jobs.
func (p *Page) Jobs() *JobsTable {
	head := []string{"NAMESPACE", "NAME", "STATE", "SUCCEEDED", "FAILED", "ACTIVE", "STARTED", "TOOK"}
	if p.Wide {
		head = append(head, "RECORDS", "UID")
	}
	return p.jobs(false, head)
}

// JobsWhy returns an empty table of Jobs with the column WHY: the state of the Job, and the reason.
func (p *Page) JobsWhy() *JobsTable {
	head := []string{"NAMESPACE", "NAME", "WHY"}
	switch {
	case p.Wide:
		head = []string{"NAMESPACE", "NAME", "STARTED", "TOOK", "RECORDS", "UID", "WHY"}
	case p.Namespace != "":
		head = head[1:]
	}
	return p.jobs(true, head)
}

func (p *Page) jobs(why bool, head []string) *JobsTable {
	t := &JobsTable{Table: *p.table(head...), page: p, why: why}
	t.Fold, t.Drop = why, []string{"ACTIVE", "SUCCEEDED", "FAILED"}
	return t
}

// Row adds a Job.
func (t *JobsTable) Row(j *history.Summary) {
	if t.why {
		t.whyRow(j)
		return
	}
	state := Cell{Text: string(j.State), Style: styleOfState(j.State)}
	if j.Gone && j.State != history.StateDeleted {
		state.Text += ", deleted"
	}
	if (t.page.Wide || j.State == history.StateWaiting) && j.Reason != "" {
		state.Text += " (" + words.Clean(j.Reason) + ")"
	}
	namespace, name := namesOf(j)
	counts := []string{succeeded(&j.Counts), strconv.Itoa(int(j.Counts.Failed)), strconv.Itoa(int(j.Counts.Active))}
	if j.State == history.StateFinished {
		counts = []string{"-", "-", "0"} // of such a Job, the log has no results of its pods
	}
	row := []Cell{
		namespace, name, state, {Text: counts[0]}, {Text: counts[1]}, {Text: counts[2]}, t.started(j), {Text: dash(took(j.Started, j.Finished))},
	}
	if t.page.Wide {
		row = append(row, Cell{Text: strconv.FormatUint(j.Records, 10)}, Cell{Text: words.Clean(j.UID)})
	}
	t.Table.Row(row...)
}

func (t *JobsTable) whyRow(j *history.Summary) {
	why := Cell{Text: "-", Style: styleOfState(j.State)}
	if j.Why != nil {
		why.Text = words.Clean(t.page.wholeOr(j.Why.Text, j.Why.Whole))
	}
	namespace, name := namesOf(j)
	switch {
	case t.page.Wide:
		t.Table.Row(namespace, name, t.started(j), Cell{Text: dash(took(j.Started, j.Finished))},
			Cell{Text: strconv.FormatUint(j.Records, 10)}, Cell{Text: words.Clean(j.UID)}, why)
	case t.page.Namespace != "":
		t.Table.Row(name, why)
	default:
		t.Table.Row(namespace, name, why)
	}
}

func namesOf(j *history.Summary) (namespace, name Cell) {
	return Cell{Text: dash(words.Clean(j.Namespace)), Name: true}, Cell{Text: dash(words.Clean(j.Name)), Name: true}
}

func (t *JobsTable) started(j *history.Summary) Cell {
	return Cell{Text: t.page.Zone.Second(events.Time(j.Started))}
}

func styleOfState(s history.State) Style {
	if s == history.StateFailed || s == history.StateFailing {
		return Trouble
	}
	return Plain
}
