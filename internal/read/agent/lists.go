package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Limits of the lists that a tool asks for: about twice as many rows as fit into the Markdown.
const (
	mostTrouble = "60"
	mostFound   = "60"
	mostTries   = "60"
	mostTicks   = "60"
)

// failures answers the tool failures: it lists what is stuck or failed, with one line for each cause.
func failures(ctx context.Context, a *asking) (any, error) {
	value, answer, err := put(ctx, a, ask.Failures.New(), map[string]string{"limit": mostTrouble})
	if answer == nil {
		return nil, err
	}
	numbers, rest := show.FailuresHead(answer, words.Zone{})
	for _, n := range numbers {
		a.text.add(strings.TrimSpace(fmt.Sprintf("- %s %d %s", n.Label, n.Number, n.Rest)))
	}
	a.text.line("LOOKED", strings.Join(rest, " · "))
	for _, row := range show.CauseRows(answer) {
		what := row.Of.Kind + " " + row.Name
		if row.Jobs > 1 {
			what += fmt.Sprintf(" (%s fared alike)", words.Count(row.Jobs, "Job"))
		}
		text := fmt.Sprintf("%s since %s: %s", what, words.Zone{}.Second(row.First), row.Why)
		a.text.line(strings.ToUpper(show.SortSays(row.Of.Sort)), text, row.Of.Records...)
	}
	if answer.More {
		a.text.add("CUT: there are more Jobs that failed, older ones. Ask with until.")
	}
	return value, err
}

// found answers the tool find: it lists the objects that match a text, one line for each.
func found(ctx context.Context, a *asking) (any, error) {
	value, answer, err := put(ctx, a, ask.Find.New(), map[string]string{"limit": mostFound}, a.values["text"])
	if answer == nil {
		return nil, err
	}
	a.text.add("- LOOKED " + strings.Join(show.FoundHead(&answer.Pieces), " · "))
	for i := range answer.Items {
		m := &answer.Items[i]
		what := strings.TrimSpace(m.Namespace + "/" + m.Name + " " + m.State + " " + show.MatchText(m))
		a.text.line(strings.ToUpper(m.Kind), what, m.Record)
	}
	return value, err
}

// attempts answers the tool attempts: it lists the pods of a Job and how they ended, one line for each.
func attempts(ctx context.Context, a *asking) (any, error) {
	value, answer, err := put(ctx, a, ask.Attempts.New(), map[string]string{"limit": mostTries}, a.values["object"])
	if answer == nil {
		return nil, err
	}
	a.text.line("SUM", answer.Sum)
	head, rows := show.AttemptCells(answer.Items, words.Zone{})
	for i, row := range rows {
		var parts []string
		for k, cell := range row {
			if cell != "" && cell != "-" {
				parts = append(parts, head[k]+" "+cell)
			}
		}
		x := &answer.Items[i]
		if x.How != "" {
			parts = append(parts, x.How)
		}
		a.text.line("TRY", strings.Join(parts, ", "), x.Records["seen"], x.Records["ended"], x.Records["counted"])
	}
	if answer.Continue > 0 {
		a.text.add(fmt.Sprintf("CUT: there are more tries. Ask with continue %d.", answer.Continue))
	}
	return value, err
}

// ticks answers the tool ticks: it lists the due times of a CronJob and what became of them, one line for each.
func ticks(ctx context.Context, a *asking) (any, error) {
	value, answer, err := put(ctx, a, ask.Ticks.New(), map[string]string{"tail": mostTicks}, named(a))
	if answer == nil {
		return nil, err
	}
	page := show.Page{}
	if answer.Due != nil {
		a.text.line("OPEN", cells(page.OpenCells(answer.Due)), answer.Due.Record)
	}
	for i := len(answer.Items) - 1; i >= 0; i-- { // the newest first, since a long text is cut at its end
		a.text.line("DUE", cells(page.TickCells(&answer.Items[i])), answer.Items[i].Record)
	}
	if answer.Earlier {
		a.text.add("CUT: there are earlier due times. Ask with since.")
	}
	a.passed(answer.PassedOver)
	return value, err
}

// passed writes the times in which not everything was recorded.
func (a *asking) passed(times []history.Passed) {
	for _, p := range times {
		from, until := words.Zone{}.Second(events.Time(p.From)), words.Zone{}.Second(events.Time(p.Until))
		a.text.line("NOT ALL RECORDED", "from "+from+" to "+until)
	}
}

// cells joins the columns of a row into one text. It leaves out column 2, the number of the record, which the line has
// anyway.
func cells(row []show.Cell) string {
	var parts []string
	for i, c := range row {
		if c.Text != "" && i != 2 {
			parts = append(parts, c.Text)
		}
	}
	return strings.Join(parts, " · ")
}
