package show

import (
	"fmt"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
)

// FoundHead returns the parts of the first line of a search: "3 found · of 28 Jobs and 4 CronJobs, and the pods of 28
// Jobs".
func FoundHead(f *which.Pieces) []string {
	parts := []string{fmt.Sprintf("%d found", len(f.Items))}
	if f.Omitted > 0 {
		parts = append(parts, fmt.Sprintf("%d more match", f.Omitted))
	}
	looked := "of " + words.Count(f.Jobs, "Job") + " and " + words.Count(f.CronJobs, "CronJob")
	if f.PodsOf > 0 {
		looked += ", and the pods of " + words.Count(f.PodsOf, "Job")
	}
	parts = append(parts, looked)
	if f.Older {
		parts = append(parts, "these are the newest: older ones were not looked at")
	}
	return parts
}

// Found writes the results of a search as a table.
func (p *Page) Found(f *which.Pieces) error {
	if _, err := fmt.Fprintln(p.Out, wrapped(FoundHead(f), " · ", p.Width)); err != nil || len(f.Items) == 0 {
		return err
	}
	t := p.table("KIND", "NAME", "STATE", "SINCE", "WHAT")
	t.Fold = true
	for i := range f.Items {
		m := &f.Items[i]
		t.Row(Cell{Text: m.Kind}, Cell{Text: words.Clean(matchName(m)), Name: true}, Cell{Text: dash(words.Clean(m.State))},
			Cell{Text: p.since(m)}, Cell{Text: words.Clean(MatchText(m))})
	}
	return t.Flush()
}

func (p *Page) since(m *which.Match) string {
	at := m.Created
	if at == 0 {
		at = m.At
	}
	return p.momentOrDash(at)
}

func (p *Page) momentOrDash(at recordjson.Instant) string {
	if at == 0 {
		return "-"
	}
	return p.Zone.In(events.Time(at)).Format("2006-01-02 15:04:05")
}

func matchName(m *which.Match) string {
	if m.Kind == "record" {
		return fmt.Sprintf("#%d", m.Record)
	}
	return m.Namespace + "/" + m.Name
}

// MatchText returns the text in the last column of a result: for a pod its Job, for a record its kind and details, for
// other objects the UID.
func MatchText(m *which.Match) string {
	switch {
	case m.Kind == "record":
		return strings.TrimSpace(m.Name + " " + m.Says)
	case m.Of != "":
		return fmt.Sprintf("of job %s  #%d", m.Of, m.Record)
	}
	return "uid " + m.UID
}
