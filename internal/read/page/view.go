package page

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

// view is the state of one request. The template reads its exported fields.
type view struct {
	Title  string
	Where  string
	Base   string
	Only   string // the only namespace that the user may read; empty for all
	Ask    bool   // the user may not read all namespaces, so the page asks for the name of one
	Zone   string // time zone as the address names it; empty for UTC
	Query  string // the text of a search (?q=)
	AsOf   history.Place
	Clock  string // time of the newest record that the page shows
	Notes  []string
	Damage []string
	File   bool // the page is a file to save: it has no forms, scripts and links to other pages
	Forms  []form

	Now    *nowScreen
	Object *objectScreen
	Record *recordScreen
	Find   *findScreen
	Error  string

	site    *site
	request *http.Request
	values  url.Values
	zone    words.Zone
	head    store.Head
	id      events.Identity
	src     ask.Source
	damage  *store.Damage
	limits  []string        // remarks on what this user may not see
	cited   map[uint64]bool // records that a saved file contains, by number
}

// form is a link to the same page in another form, such as JSON or SVG.
type form struct{ Name, Href string }

func newView(s *site, r *http.Request) *view {
	return &view{
		site: s, request: r, values: r.URL.Query(), Where: words.Clean(s.Where), Base: s.Base, damage: &store.Damage{},
	}
}

// about says what the request asks for, as its address names it: a namespace or a record.
func (v *view) about() About {
	// n is 0 if the text is not a number: the page of the record then refuses the request.
	n, _ := strconv.ParseUint(v.request.PathValue("record"), 10, 64)
	return About{
		Namespace: cmp.Or(v.request.PathValue("namespace"), v.values.Get("n")), Record: events.Sequence(n),
	}
}

// Standing returns the notes about the whole log, not about this page. The script replaces them when a new event comes.
func (v *view) Standing() []string { return v.limits }

// Others returns the notes that are about this page alone.
func (v *view) Others() (out []string) {
	for _, note := range v.Notes {
		if !slices.Contains(v.limits, note) {
			out = append(out, note)
		}
	}
	return out
}

// note adds a remark to the page, unless the page has the same remark already.
func (v *view) note(text string) {
	if text = words.Clean(text); !slices.Contains(v.Notes, text) {
		v.Notes = append(v.Notes, text)
	}
}

// readZone sets the time zone of the page from ?zone=.
func (v *view) readZone() {
	if name := v.values.Get("zone"); name != "" && name != "UTC" {
		if location, err := time.LoadLocation(name); err == nil {
			v.zone, v.Zone = words.Zone{Location: location}, name
		} else {
			v.note(fmt.Sprintf("there is no time zone %q: times are in UTC", name))
		}
	}
}

// begin reads what each page shows: the time zone, and the newest record of the log.
func (v *view) begin(ctx context.Context) {
	v.readZone()
	id, head, err := v.src.Head(ctx)
	if err != nil {
		return // do not report err here: the page asks a question next, and meets the same error
	}
	v.id, v.head = id, head
	v.AsOf = history.Place{Sequence: uint64(head.Sequence), Time: recordjson.Instant(head.Time)}
	v.Clock = v.zone.Second(head.Time)
}

// set sets the flags of a question: the given values, without empty ones, and the time zone of the page.
func (v *view) set(flags *pflag.FlagSet, values map[string]string) error {
	if v.Zone != "" {
		for _, name := range []string{ask.FlagZone, ask.FlagTexts} {
			if err := flags.Set(name, v.Zone); err != nil {
				return which.Wrong("zone=%q: %v", v.Zone, err)
			}
		}
	}
	for name, value := range values {
		if value == "" {
			continue
		}
		if err := flags.Set(name, value); err != nil {
			return which.Wrong("%s=%q: %v", name, value, err)
		}
	}
	return nil
}

// put asks a question, with values as its flags and args as its arguments. It returns the answer even if damage of the
// log makes it incomplete; the page then shows the damage. Otherwise it returns the error.
func put[A any](ctx context.Context, v *view, q *ask.Asked[A], values map[string]string, args ...string) (*A, error) {
	if err := v.set(q.Flags, values); err != nil {
		return nil, err
	}
	if err := q.Read(args); err != nil {
		return nil, err
	}
	answer, err := q.Ask(ctx, v.src)
	v.damage.Note(err)
	switch {
	case answer != nil:
		return answer, nil
	case err == nil:
		err = which.Unknown("there is no answer")
	}
	return nil, err
}

// json answers with the JSON that the command prints with -o json.
func (v *view) json(answer any) (*reply, error) {
	text, err := ask.Write(answer, v.damage.Met())
	if err != nil {
		return nil, err
	}
	return &reply{kind: "application/json", body: text}, nil
}

// form returns the form of the page in ?o=, such as "json"; empty for HTML. has lists the forms that the page has;
// others are an error.
func (v *view) form(has ...string) (string, error) {
	o := v.values.Get("o")
	if o != "" && !slices.Contains(has, o) {
		return "", which.Wrong("o=%q: this page has the forms %s", o, strings.Join(has, ", "))
	}
	for _, name := range has {
		v.Forms = append(v.Forms, form{name, v.with("o", name)})
	}
	return o, nil
}

// with returns the address of this page with one parameter changed: name is set to value, or removed if value is empty.
func (v *view) with(name, value string) string {
	values := url.Values{}
	for k, all := range v.values {
		values[k] = all
	}
	values.Del("o") // drop ?o=, so that the link leads to the HTML page; if name is "o", it is set again below
	if value == "" {
		values.Del(name)
	} else {
		values.Set(name, value)
	}
	path := v.request.URL.EscapedPath()
	if query := values.Encode(); query != "" {
		return path + "?" + query
	}
	return path
}

// to returns the address of another page. parts are the parts of its path, values the parameters. It adds the time
// zone.
func (v *view) to(values map[string]string, parts ...string) string {
	path := v.Base
	for _, part := range parts {
		path += "/" + url.PathEscape(part)
	}
	query := url.Values{}
	if v.Zone != "" {
		query.Set("zone", v.Zone)
	}
	for name, value := range values {
		if value != "" {
			query.Set(name, value)
		}
	}
	if len(query) > 0 {
		return path + "?" + query.Encode()
	}
	return path
}

// Home returns the address of the first page.
func (v *view) Home() string { return v.to(map[string]string{"n": v.Only}, "") }

// recordAt returns the address of a record's page. In a saved file it returns a link to the record within the file, or
// nothing if the file does not contain the record.
func (v *view) recordAt(record uint64) string {
	if !v.File {
		return v.to(nil, "record", fmt.Sprint(record))
	}
	if v.cited[record] {
		return fmt.Sprintf("#r%d", record)
	}
	return ""
}

// sentence is one sentence of an answer, with links to the records that prove it.
type sentence struct {
	Text, Whole string
	Cites       []cite
}

type cite struct {
	Record uint64
	Href   string
}

func (v *view) says(s *explain.Sentence) sentence {
	return sentence{words.Clean(s.Text), wholeOf(s.Text, s.Whole), v.cites(s.Records)}
}

// wholeOf returns whole, the uncut text, without invisible characters. It returns nothing if text is not a cut version.
func wholeOf(text, whole string) string {
	if whole == "" || whole == text {
		return ""
	}
	lines := strings.Split(strings.ReplaceAll(whole, "\t", "    "), "\n")
	for i, line := range lines {
		lines[i] = words.Clean(strings.TrimRight(line, "\r"))
	}
	return strings.Join(lines, "\n")
}

func (v *view) cites(records []uint64) (out []cite) {
	for _, r := range records {
		out = append(out, cite{r, v.recordAt(r)})
	}
	return out
}

// clock returns a time of day. It adds the date if the log does not end on the same day.
func (v *view) clock(t events.Time) string {
	switch {
	case t == 0:
		return ""
	case v.zone.SameDay(t, v.head.Time):
		return v.zone.In(t).Format("15:04:05")
	}
	return v.zone.In(t).Format("2 Jan 15:04")
}

// failed returns an error page with the given HTTP status. It shows err, and if the request itself was wrong
// (which.WrongError), the hints that err has for the user.
func (v *view) failed(status int, err error) *reply {
	v.Title, v.Error = http.StatusText(status), words.Clean(err.Error())
	var wrong *which.WrongError
	if errors.As(err, &wrong) {
		for _, line := range wrong.Lines() {
			v.note(line)
		}
	}
	if o := v.values.Get("o"); o != "" && o != "file" {
		return &reply{status: status, kind: "text/plain; charset=utf-8", body: []byte(v.Error + "\n")}
	}
	v.Now, v.Object, v.Record, v.Find = nil, nil, nil, nil
	out, failed := v.page()
	if failed != nil {
		return &reply{status: status, kind: "text/plain; charset=utf-8", body: []byte(v.Error + "\n")}
	}
	out.status = status
	return out
}
