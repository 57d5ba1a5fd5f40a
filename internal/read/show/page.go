package show

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Page writes answers as text, to a terminal or a pipe.
type Page struct {
	Out   io.Writer
	Width int  // largest width of a line, in characters; 0 for no limit
	Whole bool // never cut or break names, even beyond Width; set if the output is a pipe
	// Asked is set if the user chose Width. Rows then keep to Width even in a pipe. If it is not set, a row in a pipe
	// is one uncut line.
	Asked  bool
	Wide   bool
	Colour bool
	Zone   words.Zone // time zone of the times
	// Namespace is set if all objects on the page are in one namespace: rows then do not repeat it.
	Namespace string
}

// table returns an empty table with the settings of the page.
func (p *Page) table(head ...string) *Table {
	t := &Table{Out: p.Out, Head: head, Width: p.Width, Whole: p.Whole, Colour: p.Colour}
	if p.Whole && !p.Asked {
		t.Width = 0
	}
	return t
}

// wholeOr returns text, in which messages may be cut. If the page goes into a pipe, it returns whole instead, the same
// text with uncut messages, unless whole is empty.
func (p *Page) wholeOr(text, whole string) string {
	if p.Whole && !p.Asked && whole != "" {
		return whole
	}
	return text
}

// Indented returns v as indented JSON, in which all characters are visible.
func Indented(v any) ([]byte, error) { return recordjson.Indented(v) }

// countsText returns how many pods of a Job succeeded and failed. If the records of the Job's end are missing, it says
// that the numbers are not known.
func countsText(j *history.Job) string {
	if j.State == history.StateFinished {
		return "not known: the records of them are not in the log"
	}
	c := &j.Counts
	return fmt.Sprintf("%s succeeded, %d failed, %d active (%d ready), %d terminating, %d being created",
		succeeded(c), c.Failed, c.Active, c.Ready, c.Terminating, c.Creating)
}

func succeeded(c *history.Counts) string {
	if c.Completions == 0 {
		return strconv.Itoa(int(c.Succeeded))
	}
	return fmt.Sprintf("%d/%d", c.Succeeded, c.Completions)
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// took returns the time from start to end as text. It first truncates start to whole seconds, as the API server does
// with other times.
func took(start, end recordjson.Instant) string {
	if start == 0 || end == 0 {
		return ""
	}
	return words.Span(max(events.Time(end).Sub(events.Time(start).Second()), 0))
}

// lines collects the lines "label: text" of a page.
type lines struct {
	page *Page
	b    bytes.Buffer
}

func (l *lines) put(label, format string, args ...any) { l.styled(Plain, label, format, args...) }

func (l *lines) styled(style Style, label, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if label != "" {
		label += ":"
	}
	for _, line := range wrap(words.Clean(text), l.page.Width-labelWidth, l.page.Whole) {
		if l.page.Colour && style != Plain {
			line = codes[style] + line + "\x1b[0m"
		}
		fmt.Fprintf(&l.b, "%-*s%s\n", labelWidth, label, line)
		label = ""
	}
}

// wrap breaks a text at spaces into lines of at most width columns. It breaks a longer word only if whole is not set. A
// width of 0 or less means no limit.
func wrap(text string, width int, whole bool) []string {
	if width <= 0 {
		return []string{text}
	}
	indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
	width = max(width, 20+len(indent))
	var out []string
	rest := []rune(text)
	for columns(string(rest)) > width {
		most := len([]rune(head(string(rest), width)))
		at := most
		for at > len(indent) && rest[at] != ' ' {
			at--
		}
		if at <= len(indent) {
			at = max(most, 1)
			for whole && at < len(rest) && rest[at] != ' ' {
				at++
			}
		}
		out = append(out, string(rest[:at]))
		rest = []rune(indent + strings.TrimLeft(string(rest[at:]), " "))
	}
	if len(rest) > len(indent) || len(out) == 0 {
		out = append(out, string(rest))
	}
	return out
}

const (
	labelWidth = 15
	maxPods    = 20 // rows of the table of pods, unless the page is wide
	maxRefused = 5  // refused commands that a page lists, unless it is wide
)

// Job writes the state of one Job, with its pods.
func (p *Page) Job(j *history.Job) error {
	l := &lines{page: p}
	l.put("Job", "%s/%s", dash(j.Namespace), dash(j.Name))
	l.put("UID", "%s", j.UID)
	if o := j.Origin; o != nil && o.Kind != "" {
		l.put("Made by", "%s %s", o.Kind, o.Name)
	}
	asOf := events.Time(j.AsOf.Time)
	l.put("As of", "record %d, %s%s", j.AsOf.Sequence, p.Zone.Moment(asOf), clockText(j.Clock, events.Time(j.LastRecord), asOf, p.Zone))
	if j.Gap != nil {
		l.styled(Trouble, "Not watched", "%s", notWatched(j.Gap, p.Zone))
	}
	l.late(j.PassedOver)
	style := Strong
	if j.State == history.StateFailed || j.State == history.StateFailing {
		style = Trouble
	}
	l.styled(style, "State", "%s", sentence(j))
	if j.Started != 0 {
		text := p.Zone.Second(events.Time(j.Started))
		if d := took(j.Started, j.Finished); d != "" {
			text += fmt.Sprintf(", finished %s after %s", p.Zone.Second(events.Time(j.Finished)), d)
		}
		l.put("Started", "%s", text)
	}
	l.put("Pods", "%s", countsText(j))
	if j.First == 0 {
		l.put("Records", "%d, to %d; older ones are not in the log", j.Records, j.Last)
	} else {
		l.put("Records", "%d, from %d to %d", j.Records, j.First, j.Last)
	}
	l.work(j)
	if _, err := p.Out.Write(l.b.Bytes()); err != nil {
		return err
	}
	return p.pods(j)
}

// late adds a line that the state may be out of date: the namespace is over its log budget (how much it may write an
// hour), so that newer changes may not be recorded.
func (l *lines) late(passed []history.Passed) {
	for i := range passed {
		l.styled(Trouble, "May be late", "%s", Late(&passed[i], l.page.Zone))
	}
}

// Late says since when the state may be out of date. The reason is that a namespace is over its log budget (how much it
// may write an hour): "namespace ci is over its budget of log since …".
func Late(x *history.Passed, zone words.Zone) string {
	whose := "nodes and namespaces are over their"
	if x.Namespace != "" {
		whose = "namespace " + words.Clean(x.Namespace) + " is over its"
	}
	return whose + " budget of log since " + zone.Moment(events.Time(x.From)) + ": not every change is recorded, and what is may be a minute late"
}

// NotWatched says in which time nobody watched the cluster.
func NotWatched(g *history.Gap, zone words.Zone) string {
	return "the cluster was not watched " + gapTimes(g, zone)
}

// notWatched says in which time nobody watched the cluster, and that the page shows the state before that time.
func notWatched(g *history.Gap, zone words.Zone) string {
	return gapTimes(g, zone) + ": this is how the Job was seen last before"
}

func gapTimes(g *history.Gap, zone words.Zone) string {
	text := "until " + zone.Moment(events.Time(g.Until))
	switch {
	case g.Until == 0:
		text = "since " + zone.Moment(events.Time(g.From))
	case g.From != 0:
		text = "from " + zone.Moment(events.Time(g.From)) + " " + text
	}
	return text
}

// noFullView is written if the controller was just listing the cluster, so that it did not know all objects.
const noFullView = "the controller had no full view of the cluster then"

// sentence returns the state of a Job as a sentence.
func sentence(j *history.Job) string {
	text := string(j.State)
	if because := words.Because(j.Reason, j.Message); because != "" {
		text += " (" + because + ")"
	}
	switch {
	case j.Gone && j.State != history.StateDeleted:
		text += "; its object was deleted"
	case j.Deleted != 0 && j.State != history.StateDeleting && j.State != history.StateDeleted:
		text += "; being deleted"
	}
	if !j.Managed && j.State != history.StateUnseen {
		text += "; not managed here"
	}
	if j.InPart() {
		text += "; " + noFullView
	}
	return text
}

// work adds lines about the controller's work: commands without an answer so far, waits, failures, and the last
// decision.
func (l *lines) work(j *history.Job) {
	label := func(i int, text string) string {
		if i == 0 {
			return text
		}
		return ""
	}
	for i, c := range j.InFlight {
		text := c.Does + ", decided " + l.page.Zone.Clock(events.Time(c.Since))
		if c.Doubt {
			text = c.Does + ", outcome unknown: sent " + l.page.Zone.Clock(events.Time(c.Since))
		}
		l.put(label(i, "In flight"), "%s", text)
	}
	for i, w := range j.Waits {
		l.put(label(i, "Waits"), "until %s for %s", l.page.Zone.Moment(events.Time(w.Until)), w.For)
	}
	for i := range j.Refused {
		if i == maxRefused && !l.page.Wide {
			l.styled(Trouble, "", "and %d more (-o wide shows all)", len(j.Refused)-maxRefused)
			break
		}
		l.styled(Trouble, label(i, "Refused"), "%s", refused(&j.Refused[i], l.page.Zone))
	}
	shown := 0
	for _, f := range j.Trouble {
		if !slices.ContainsFunc(j.Refused, func(r history.Refusal) bool { return r.Record == f.Sequence }) {
			l.styled(Trouble, label(shown, "Trouble"), "record %d: %s", f.Sequence, f.Says)
			shown++
		}
	}
	for i, note := range j.Notes {
		l.styled(Trouble, label(i, "Note"), "%s", note)
	}
	l.decision(j.LastDecision)
}

// decision adds lines about the newest decision, if there is one.
func (l *lines) decision(d *history.Decision) {
	if d == nil {
		return
	}
	l.put("Last decision", "record %d, %s", d.Sequence, l.page.Zone.Moment(events.Time(d.Time)))
	for _, s := range d.Steps {
		if text := strings.Join(capped(s.Commands, l.page.Wide), ", "); text != "" {
			l.put("", "%s: %s", s.Reason, text)
		} else {
			l.put("", "%s", s.Reason)
		}
		if s.Sentence != "" {
			l.put("", "  because %s", s.Sentence)
		}
	}
}

// capped returns the first 3 texts, and a text that says how many more there are. If all is set, it returns all texts.
func capped(texts []string, all bool) []string {
	const most = 3
	if all || len(texts) <= most {
		return texts
	}
	return append(slices.Clone(texts[:most]), fmt.Sprintf("and %d more", len(texts)-most))
}

// refused describes in words a command that the API server refused.
func refused(r *history.Refusal, zone words.Zone) string {
	text := r.Does + ": "
	if r.Class != "" {
		text += r.Class
	} else {
		text += "no answer"
	}
	text += fmt.Sprintf(" since %s, %s", zone.Moment(events.Time(r.Since)), tries(r.Tries))
	if r.Next != 0 {
		text += ", next at " + zone.Clock(events.Time(r.Next))
	}
	if r.Says != "" {
		text += fmt.Sprintf("; record %d: %s", r.Record, r.Says)
	}
	return text
}

func tries(n uint32) string {
	if n == 1 {
		return "1 try"
	}
	return fmt.Sprintf("%d tries", n)
}
