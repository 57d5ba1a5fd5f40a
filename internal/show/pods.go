package show

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jobledger/jobledger/events"
)

// podColumns are the columns of the table of pods. One that says nothing of any pod is left out, unless it is always there.
var podColumns = []struct {
	head   string
	always bool
	cell   func(j *Job, p *Pod) Cell
}{
	{"POD", true, func(_ *Job, p *Pod) Cell { return Cell{Text: Clean(p.called()), Name: true} }},
	{"INDEX", false, func(_ *Job, p *Pod) Cell {
		if p.Index == nil {
			return Cell{}
		}
		return Cell{Text: strconv.Itoa(int(*p.Index))}
	}},
	{"PHASE", true, func(_ *Job, p *Pod) Cell { return p.phase() }},
	{"NODE", true, func(_ *Job, p *Pod) Cell { return Cell{Text: Clean(p.Node), Name: true} }},
	{"FINISHED", true, func(j *Job, p *Pod) Cell { return Cell{Text: sameDay(p.Finished, j.Started)} }},
	{"RESTARTS", false, func(_ *Job, p *Pod) Cell {
		if p.Restarts == 0 {
			return Cell{}
		}
		return Cell{Text: strconv.FormatUint(uint64(p.Restarts), 10)}
	}},
	{"ACCOUNT", false, func(_ *Job, p *Pod) Cell { return Cell{Text: p.Account} }},
	{"EXITS", true, func(_ *Job, p *Pod) Cell { return Cell{Text: Clean(p.ended())} }},
}

func (p *Page) pods(j *Job) error {
	if len(j.Pods) == 0 {
		return nil
	}
	fmt.Fprintln(p.Out)
	shown := j.Pods
	if len(shown) > maxPods && !p.Wide {
		shown = shown[:maxPods]
	}
	t := &Table{Out: p.Out, Width: p.Width, Whole: p.Whole, Colour: p.Colour}
	rows := make([][]Cell, len(shown))
	for _, column := range podColumns {
		cells, says := make([]Cell, len(shown)), column.always
		for i := range shown {
			cells[i] = column.cell(j, &shown[i])
			says = says || cells[i].Text != ""
			cells[i].Text = dash(cells[i].Text)
		}
		if says {
			t.Head = append(t.Head, column.head)
			for i := range rows {
				rows[i] = append(rows[i], cells[i])
			}
		}
	}
	for _, row := range rows {
		t.Row(row...)
	}
	if more := len(j.Pods) - len(shown); more > 0 {
		t.Rule(fmt.Sprintf("… and %d more (-o wide shows all)", more))
	}
	return t.Flush()
}

func (p *Pod) called() string {
	if p.Name == "" {
		return p.UID
	}
	return p.Name
}

func (p *Pod) phase() Cell {
	c := Cell{Text: p.Phase}
	if p.Phase == events.PodFailed.String() {
		c.Style = Trouble
	}
	switch {
	case p.Gone:
		c.Text += ", deleted"
	case p.Deleted != 0:
		c.Text += ", being deleted"
	}
	return c
}

// ended says how the containers of a pod ended, as far as that is worth a word, and why the pod itself did.
func (p *Pod) ended() string {
	var parts []string
	for _, e := range p.Containers {
		if e.ExitCode != 0 || telling(e.Reason) {
			parts = append(parts, exitText(e.Name, e.ExitCode, e.Reason))
		}
	}
	if p.Reason != "" {
		parts = append(parts, p.Reason)
	}
	return strings.Join(parts, ", ")
}

// exitText is how what is named ended, a container: "main 137 (OOMKilled)".
func exitText(name string, code int32, reason string) string {
	text := fmt.Sprintf("%s %d", name, code)
	if telling(reason) {
		text += " (" + reason + ")"
	}
	return text
}

// telling reports whether the reason for which a container ended says more than its exit code.
func telling(reason string) bool { return !slices.Contains([]string{"", "Error", "Completed"}, reason) }

// sameDay is a time to the second; of another day than that one, with its date.
func sameDay(t, day Instant) string {
	if t == 0 {
		return ""
	}
	at := events.Time(t).Go()
	if day != 0 && at.Format("2006-01-02") == events.Time(day).Go().Format("2006-01-02") {
		return at.Format("15:04:05Z")
	}
	return second(t)
}
