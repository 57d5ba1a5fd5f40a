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

// view is the state of one request, with the data for the template.
type view struct {
	Title  string
	Where  string
	Base   string
	Only   string // the only namespace that the source covers; empty for all
	Ask    bool   // the page asks for a namespace: the user may not read all of them
	Zone   string // as in the address; empty for UTC
	Query  string // the text of a search
	AsOf   history.Place
	Clock  string // the time of AsOf, for display
	Notes  []string
	Damage []string
	File   bool // laid out as a file: without forms, scripts and links to other pages
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
	limits  []string        // notes on what the source leaves out
	cited   map[uint64]bool // in a file: the records that it contains
}

// form is another form of the page.
type form struct{ Name, Href string }

func newView(s *site, r *http.Request) *view {
	return &view{
		site: s, request: r, values: r.URL.Query(), Where: words.Clean(s.Where), Base: s.Base, damage: &store.Damage{},
	}
}

// about returns the subject of the request, from its address.
func (v *view) about() About {
	n, _ := strconv.ParseUint(v.request.PathValue("record"), 10, 64) // the screen refuses an invalid number
	return About{
		Namespace: cmp.Or(v.request.PathValue("namespace"), v.values.Get("n")), Record: events.Sequence(n),
	}
}

// Standing returns the notes on the log as a whole: those that each event has anew.
func (v *view) Standing() []string { return v.limits }

// Others returns the notes on this page alone.
func (v *view) Others() (out []string) {
	for _, note := range v.Notes {
		if !slices.Contains(v.limits, note) {
			out = append(out, note)
		}
	}
	return out
}

// note adds a remark for the user, once.
func (v *view) note(text string) {
	if text = words.Clean(text); !slices.Contains(v.Notes, text) {
		v.Notes = append(v.Notes, text)
	}
}

// readZone reads the time zone of the address.
func (v *view) readZone() {
	if name := v.values.Get("zone"); name != "" && name != "UTC" {
		if location, err := time.LoadLocation(name); err == nil {
			v.zone, v.Zone = words.Zone{Location: location}, name
		} else {
			v.note(fmt.Sprintf("there is no time zone %q: times are in UTC", name))
		}
	}
}

// begin reads the zone, and the end of the log, as of which the page is.
func (v *view) begin(ctx context.Context) {
	v.readZone()
	id, head, err := v.src.Head(ctx)
	if err != nil {
		return // the question reports the same error
	}
	v.id, v.head = id, head
	v.AsOf = history.Place{Sequence: uint64(head.Sequence), Time: recordjson.Instant(head.Time)}
	v.Clock = v.zone.Second(head.Time)
}

// set sets the parameters of a question: the values that are not empty, and the zone.
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

// put asks a question. If it returns an answer, damage is noted and shown on the page. If not, it returns the error.
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

// json returns an answer as the command writes it with -o json.
func (v *view) json(answer any) (*reply, error) {
	text, err := ask.Write(answer, v.damage.Met())
	if err != nil {
		return nil, err
	}
	return &reply{kind: "application/json", body: text}, nil
}

// form returns the form that ?o= asks for; empty for the page. It fails for a form that is not in has.
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

// with returns the address of this page with parameter name set to value, or removed if value is empty.
func (v *view) with(name, value string) string {
	values := url.Values{}
	for k, all := range v.values {
		values[k] = all
	}
	values.Del("o") // links lead to the page itself, except for links to its forms
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

// to returns the address of a page.
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

// recordAt returns the address of a record: its page, or in a file the place of the record. In a file it is empty for a
// record that the file does not contain.
func (v *view) recordAt(record uint64) string {
	if !v.File {
		return v.to(nil, "record", fmt.Sprint(record))
	}
	if v.cited[record] {
		return fmt.Sprintf("#r%d", record)
	}
	return ""
}

// sentence is a statement with links to the records it follows from.
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

// wholeOf returns the full text, cleaned line by line; empty if text is already the full one.
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

// clock returns the time of day, with the date if that is not the day of the log's end.
func (v *view) clock(t events.Time) string {
	switch {
	case t == 0:
		return ""
	case v.zone.SameDay(t, v.head.Time):
		return v.zone.In(t).Format("15:04:05")
	}
	return v.zone.In(t).Format("2 Jan 15:04")
}

// failed returns a page with the error.
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
