package page

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/attempts"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/picture"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/say/words"
)

// objectScreen is the page of a Job, a pod or a CronJob.
type objectScreen struct {
	Kind, Namespace, Name, UID string
	State, Tone                string // Tone is the colour class of the state: "bad", "good", "run", "hold" or "still"
	Verdict                    sentence
	About                      []string
	Lives                      string
	Lead                       *section
	Sections                   []section
	At                         string // the value of ?at=, the record or time that the page shows; empty for now
	Latest                     string // address of the same page as of now, without ?at=

	Picture  template.HTML
	Lanes    []turned // links to the other parts of the picture, if its rows do not fit on one page
	Tries    *table
	Sum      string
	TriesCut string
	Records  *listing
	Cited    []citedRecord
	Check    []string // in a saved file: the commands that check it

	Cron *cronPart
}

type section struct {
	Head      string
	Sentences []sentence
	More      []sentence // details, which the user unfolds with a click
}

// table is a table of texts. A row can be marked as bad, which colours it.
type table struct {
	Head []string
	Rows []tableRow
}

type tableRow struct {
	Cells []string
	Bad   bool
	Href  string // link of the first cell; empty for none
}

// job answers with the page of a Job, or with the form that ?o= asks for: JSON, Markdown, SVG or a file to save.
func job(ctx context.Context, v *view) (*reply, error) {
	return object(ctx, v, "job", "json", "md", "svg", "file")
}

// pod answers with the page of a pod, or with the form that ?o= asks for: JSON or Markdown.
func pod(ctx context.Context, v *view) (*reply, error) { return object(ctx, v, "pod", "json", "md") }

// object answers with the page of a Job or a pod. If the address has ?o=, it answers with that form of the page; forms
// lists the valid ones, such as "json".
func object(ctx context.Context, v *view, kind string, forms ...string) (*reply, error) {
	o, err := v.form(forms...)
	if err != nil {
		return nil, err
	}
	named := kind + "/" + v.request.PathValue("name")
	if uid := v.values.Get("uid"); uid != "" && kind == "job" {
		named = "job/" + uid
	}
	values := map[string]string{ask.FlagNamespace: v.request.PathValue("namespace"), "at": v.values.Get("at")}
	answer, err := put(ctx, v, ask.Explain.New(), values, named)
	if answer == nil {
		return nil, err
	}
	switch o {
	case "json":
		return v.json(answer)
	case "md":
		return v.markdown(answer), nil
	}
	if kind == "pod" {
		v.explained(answer)
		return v.page()
	}
	if o == "file" {
		v.File, v.cited = true, citedBy(answer)
	}
	v.explained(answer)
	if o == "svg" {
		t, err := v.timeline(ctx, answer, values)
		if t == nil {
			return nil, err
		}
		svg := picture.Timeline(t, picture.Options{Alone: true, Title: v.Title, Zone: v.zone, Page: v.lanes(t)})
		if svg == nil {
			svg = picture.Empty(v.Title)
		}
		return &reply{kind: "image/svg+xml", body: svg}, nil
	}
	if err := v.tries(ctx, answer, values); err != nil {
		return nil, err
	}
	if v.File {
		return v.file(ctx, answer)
	}
	return v.withRecords(ctx, events.JobStream(types.UID(answer.UID)))
}

func (v *view) markdown(a *explain.Answer) *reply {
	text := show.Markdown(a, v.zone) + show.MarkdownDamage(v.damage.Met()) + show.MarkdownNotes(v.limits)
	return &reply{kind: "text/markdown; charset=utf-8", body: []byte(text)}
}

// explained fills the page with an explanation: why the object is as it is.
func (v *view) explained(a *explain.Answer) {
	s := &objectScreen{
		Kind: a.Kind, Namespace: words.Clean(a.Namespace), Name: words.Clean(a.Name), UID: words.Clean(a.UID), State: a.State, Tone: toneOf(a),
		Verdict: v.says(&a.Verdict), At: v.values.Get("at"), Latest: v.with("at", ""),
	}
	v.Title = words.Clean(show.Title(a)) + " – " + a.State
	for _, part := range show.About(a, v.zone) {
		s.About = append(s.About, words.Clean(part))
	}
	if len(a.Lives) > 0 {
		s.Lives = words.Clean(explain.LivesText(a.Lives, v.zone))
	}
	for i := range a.Sections {
		told := section{Head: a.Sections[i].Head}
		for k := range a.Sections[i].Sentences {
			if x := &a.Sections[i].Sentences[k]; x.Detail && !v.File && len(told.Sentences) > 0 {
				told.More = append(told.More, v.says(x))
			} else {
				told.Sentences = append(told.Sentences, v.says(x))
			}
		}
		if i == 0 && told.Head == a.Lead {
			s.Lead = &told
			continue
		}
		s.Sections = append(s.Sections, told)
	}
	v.Object = s
}

// toneOf returns the colour class (objectScreen.Tone) for the state in an answer, such as "bad" for a failed Job.
func toneOf(a *explain.Answer) string {
	switch {
	case strings.Contains(a.State, "Fail") || a.State == string(history.CronInvalid) || a.State == string(history.CronOverdue):
		return "bad"
	case a.State == string(history.StateComplete):
		return "good"
	case a.State == string(history.StateRunning) || a.State == string(history.CronRunning):
		return "run"
	case a.State == string(history.CronHeld) || a.State == string(history.StateWaiting) && a.Kind != "cronjob":
		return "hold"
	}
	return "still"
}

// tries adds to the page the picture and the table of a Job's tries (a try: one pod, from creation to end).
func (v *view) tries(ctx context.Context, a *explain.Answer, values map[string]string) error {
	t, err := v.timeline(ctx, a, values)
	if t == nil {
		return err
	}
	v.Object.Picture = drawn(picture.Timeline(t, picture.Options{
		Title: "timeline of " + show.Title(a), Record: v.recordAt, Zone: v.zone, Page: v.lanes(t),
	}))
	of := map[string]string{ask.FlagNamespace: values[ask.FlagNamespace], "at": values["at"]}
	if len(t.Rows) > picture.MostLanes {
		of["failed"] = "true"
	}
	page, err := put(ctx, v, ask.Attempts.New(), of, "job/"+a.UID)
	if page == nil {
		return err
	}
	v.Object.Sum = words.Clean(page.Sum)
	if of["failed"] != "" {
		v.Object.TriesCut = "only tries that failed"
	}
	if page.Continue > 0 {
		v.Object.TriesCut = fmt.Sprintf("the first %d", len(page.Items))
	}
	head, cells := show.AttemptCells(page.Items, v.zone)
	out := &table{Head: head}
	for i, row := range cells {
		r := tableRow{Cells: row, Bad: show.AttemptFailed(&page.Items[i])}
		if record := page.Items[i].Records["seen"]; record != 0 {
			r.Href = v.recordAt(record)
		}
		out.Rows = append(out.Rows, r)
	}
	if len(out.Rows) > 0 {
		v.Object.Tries = out
	}
	return nil
}

// turned is a link to one part of a picture with too many rows for one page.
type turned struct {
	Number int
	Href   string
	Here   bool
}

// mostTurned is the largest number of links to parts of a picture.
const mostTurned = 60

// lanes returns which part of the picture's rows ?lanes= asks for, counted from 0. It adds the links to all parts.
func (v *view) lanes(t *attempts.Timeline) int {
	pages := picture.Pages(t)
	asked, err := strconv.Atoi(v.values.Get("lanes"))
	if err != nil {
		asked = 1
	}
	asked = min(max(asked, 1), pages)
	if v.Object != nil && pages > 1 && !v.File {
		for n := range min(pages, mostTurned) {
			v.Object.Lanes = append(v.Object.Lanes, turned{n + 1, v.with("lanes", strconv.Itoa(n+1)) + "#lanes", n+1 == asked})
		}
	}
	return asked - 1
}

func (v *view) timeline(ctx context.Context, a *explain.Answer, values map[string]string) (*attempts.Timeline, error) {
	of := map[string]string{ask.FlagNamespace: values[ask.FlagNamespace], "at": values["at"], "limit": "0"}
	return put(ctx, v, ask.Timeline.New(), of, "job/"+a.UID)
}

// citedBy returns the numbers of the records that the sentences of an answer cite.
func citedBy(a *explain.Answer) map[uint64]bool {
	out := map[uint64]bool{}
	add := func(s *explain.Sentence) {
		for _, r := range s.Records {
			out[r] = true
		}
	}
	add(&a.Verdict)
	for i := range a.Sections {
		for k := range a.Sections[i].Sentences {
			add(&a.Sections[i].Sentences[k])
		}
	}
	return out
}

// file answers with the page as one file to save, with the cited records and the commands that check the file.
func (v *view) file(ctx context.Context, a *explain.Answer) (*reply, error) {
	// Keep only remarks on what this user may not see; how the log was read does not matter in a file.
	v.Notes = v.limits
	if err := v.citedRecords(ctx); err != nil {
		return nil, err
	}
	log := cmp.Or(v.site.Log, "DIR")
	v.Object.Check = []string{
		"jobledger verify --log " + words.Clean(log),
		fmt.Sprintf("jobledger explain %s/%s --at %d --log %s", a.Kind, words.Clean(a.UID), a.AsOf.Sequence, words.Clean(log)),
	}
	out, err := v.page()
	if err != nil {
		return nil, err
	}
	out.body, out.file = picture.ASCII(out.body), fileName(a)
	return out, nil
}

// fileName returns a name for the saved file, of letters, digits and dashes: "jobledger-prod-etl.html".
func fileName(a *explain.Answer) string {
	safe := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}
	name := strings.Map(safe, a.Namespace+"-"+a.Name)
	return "jobledger-" + name[:min(len(name), 120)] + ".html"
}

// Head returns a line that identifies the end of the log (ID, epoch, last record, hash); the template of a file prints
// it.
func (v *view) Head() string {
	return fmt.Sprintf("log %s, epoch %d, record %d, hash %s", words.Clean(v.id.LogID), v.id.Epoch, v.head.Sequence, v.head.Hash)
}
