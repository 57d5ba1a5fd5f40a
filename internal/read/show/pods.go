package show

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
)

// podColumns are the columns of the table of pods. A column that is empty for all pods is left out, unless always is
// set.
var podColumns = []struct {
	head   string
	always bool
	cell   func(g *Page, j *history.Job, p *history.Pod) Cell
}{
	{"POD", true, func(_ *Page, _ *history.Job, p *history.Pod) Cell {
		return Cell{Text: words.Clean(called(p)), Name: true}
	}},
	{"INDEX", false, func(_ *Page, _ *history.Job, p *history.Pod) Cell {
		if p.Index == nil {
			return Cell{}
		}
		return Cell{Text: strconv.Itoa(int(*p.Index))}
	}},
	{"PHASE", true, func(_ *Page, _ *history.Job, p *history.Pod) Cell { return phase(p) }},
	{"NODE", true, func(_ *Page, _ *history.Job, p *history.Pod) Cell { return Cell{Text: words.Clean(p.Node), Name: true} }},
	{"FINISHED", true, func(g *Page, j *history.Job, p *history.Pod) Cell {
		return Cell{Text: g.sameDay(p.Finished, j.Started)}
	}},
	{"RESTARTS", false, func(_ *Page, _ *history.Job, p *history.Pod) Cell {
		if p.Restarts == 0 {
			return Cell{}
		}
		return Cell{Text: strconv.FormatUint(uint64(p.Restarts), 10)}
	}},
	{"ACCOUNT", false, func(_ *Page, _ *history.Job, p *history.Pod) Cell { return Cell{Text: p.Account} }},
	{"EXITS", true, func(_ *Page, _ *history.Job, p *history.Pod) Cell { return Cell{Text: words.Clean(ended(p))} }},
}

func (p *Page) pods(j *history.Job) error {
	if len(j.Pods) == 0 {
		return nil
	}
	fmt.Fprintln(p.Out)
	shown := j.Pods
	if len(shown) > maxPods && !p.Wide {
		shown = shown[:maxPods]
	}
	t := p.table()
	rows := make([][]Cell, len(shown))
	for _, column := range podColumns {
		cells, says := make([]Cell, len(shown)), column.always
		for i := range shown {
			cells[i] = column.cell(p, j, &shown[i])
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

func called(p *history.Pod) string {
	if p.Name == "" {
		return p.UID
	}
	return p.Name
}

func phase(p *history.Pod) Cell {
	c := Cell{Text: p.Phase}
	if p.Phase == events.PodFailed.String() {
		c.Style = Trouble
	}
	if p.Waiting != "" && !p.Gone {
		if c.Text += ", " + p.Waiting; p.Sandbox != "" {
			c.Text += ": " + p.Sandbox
		}
	}
	switch {
	case p.Gone:
		c.Text += ", deleted"
	case p.Deleted != 0:
		c.Text += ", being deleted"
	}
	return c
}

// ended says why a pod ended, and how its containers ended if that is unusual.
func ended(p *history.Pod) string {
	var parts []string
	for _, e := range p.Containers {
		if e.ExitCode != 0 || words.Telling(e.Reason) {
			parts = append(parts, words.Exit(e.Name, e.ExitCode, e.Reason))
		}
	}
	if p.Reason != "" {
		parts = append(parts, p.Reason)
	}
	return strings.Join(parts, ", ")
}

// sameDay returns the time t to the second. It adds the date if t is on another day than day.
func (p *Page) sameDay(t, day recordjson.Instant) string {
	switch at := events.Time(t); {
	case t == 0:
		return ""
	case day != 0 && p.Zone.SameDay(at, events.Time(day)):
		return p.Zone.ClockSecond(at)
	default:
		return p.Zone.Second(at)
	}
}
