package show

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// maxRuns is how many Jobs of a CronJob the page shows, unless it is wide (-o wide).
const maxRuns = 10

// CronJob writes the state of one CronJob.
func (p *Page) CronJob(j *history.CronJob) error {
	l := &lines{page: p}
	l.put("CronJob", "%s/%s", dash(j.Namespace), dash(j.Name))
	l.put("UID", "%s", j.UID)
	asOf := events.Time(j.AsOf.Time)
	l.put("As of", "record %d, %s%s", j.AsOf.Sequence, p.Zone.Moment(asOf), clockText(j.Clock, events.Time(j.LastRecord), asOf, p.Zone))
	if j.Gap != nil {
		l.styled(Trouble, "Not watched", "%s: this is how the CronJob was seen last before", gapTimes(j.Gap, p.Zone))
	}
	l.late(j.PassedOver)
	style := Strong
	if styleOfCron(j.State) == Trouble {
		style = Trouble
	}
	l.styled(style, "State", "%s", cronSentence(j))
	l.put("Schedule", "%s", cronSpecText(&j.Spec))
	l.dueTimes(j)
	if j.First != 0 {
		l.put("Records", "from %d to %d", j.First, j.Last)
	} else {
		l.put("Records", "to %d; older ones are no longer kept", j.Last)
	}
	l.cronWork(j)
	if _, err := p.Out.Write(l.b.Bytes()); err != nil {
		return err
	}
	return p.runs(j)
}

// cronSentence returns the state of a CronJob as a sentence.
func cronSentence(j *history.CronJob) string {
	text := string(j.State)
	if j.Reason != "" {
		text += ": " + strings.TrimPrefix(j.Reason, "held back: ")
	}
	switch j.State {
	case history.CronWaiting:
		text += ": no Job of it runs"
	case history.CronRunning:
		text += ": " + words.Count(j.Active, "Job")
	}
	if !j.Managed && j.State != history.CronUnseen {
		text += "; another controller makes its Jobs"
	}
	if j.InPart() {
		text += "; " + noFullView
	}
	return text
}

func cronSpecText(s *history.CronSpec) string {
	parts := []string{strconv.Quote(s.Schedule)}
	if s.TimeZone != nil {
		parts[0] += " in " + *s.TimeZone
	}
	if s.Policy != "" {
		parts = append(parts, s.Policy)
	}
	if s.Deadline != nil {
		parts = append(parts, fmt.Sprintf("to be started within %d s", *s.Deadline))
	}
	if s.Suspend {
		parts = append(parts, "suspended")
	}
	var kept []string
	keep := func(n *int32, what string) {
		if n != nil {
			kept = append(kept, fmt.Sprintf("%d that %s", *n, what))
		}
	}
	keep(s.KeepSucceeded, "succeeded")
	keep(s.KeepFailed, "failed")
	if len(kept) > 0 {
		parts = append(parts, "keeps of its Jobs "+strings.Join(kept, " and "))
	}
	return strings.Join(parts, ", ")
}

// dueTimes adds lines about due times (the instants of the schedule): the newest one that is decided, the one that is
// still undecided, and the next one.
func (l *lines) dueTimes(j *history.CronJob) {
	p := l.page
	if t := j.LastDue; t != nil {
		text := p.dueIn(events.Time(t.Last), j.Location()) + ": " + p.TickFate(t)
		if t.Job != "" {
			text += ", as " + t.Job
		}
		l.put("Last due", "%s (record %d)", text, t.Record)
	}
	if d := j.Due; d != nil {
		text := p.dueIn(events.Time(d.At), j.Location())
		switch says := strings.TrimPrefix(d.Says, "held back: "); {
		case d.Hold != "" && d.Since != 0:
			text += ", held back since " + p.Zone.ClockSecond(events.Time(d.Since)) + ": " + says
		case d.Hold != "":
			text += ", held back: " + says
		default:
			text += ": " + says
		}
		if d.Record != 0 {
			text += fmt.Sprintf(" (record %d)", d.Record)
		}
		l.styled(Trouble, "Due", "%s", text)
	}
	switch {
	case j.Next != 0:
		l.put("Next due", "%s", p.dueIn(events.Time(j.Next), j.Location()))
	case j.State == history.CronWaiting || j.State == history.CronRunning || j.State == history.CronOverdue:
		l.put("Next due", "never: the schedule has no due time in the next five years")
	}
	if s := j.Published.LastSuccess; s != 0 {
		l.put("Last success", "%s", p.Zone.Second(events.Time(s)))
	}
}

// dueIn returns a due time in the time zone of the page, and again in the zone of the schedule if that is another one.
func (p *Page) dueIn(t events.Time, zone *time.Location) string {
	text := p.due(t) + " " + p.Zone.Name(t)
	if zone == nil || p.Zone.Location != nil {
		return text
	}
	layout, own := "15:04 ", words.Zone{Location: zone}
	if p.Zone.In(t).Day() != own.In(t).Day() {
		layout = "2006-01-02 15:04 "
	}
	return text + " (" + own.In(t).Format(layout) + zone.String() + ")"
}

// cronWork adds lines about the controller's work: commands without an answer so far, waits, failures, and the last
// decision.
func (l *lines) cronWork(j *history.CronJob) {
	label := func(i int, text string) string {
		if i == 0 {
			return text
		}
		return ""
	}
	for i, c := range j.InFlight {
		text := c.Does
		if c.Since != 0 {
			text += ", decided " + l.page.Zone.Clock(events.Time(c.Since))
		}
		if c.Doubt {
			text += ", outcome unknown"
		}
		l.put(label(i, "In flight"), "%s", text)
	}
	for i, w := range j.Waits {
		l.put(label(i, "Waits"), "until %s for %s", l.page.Zone.Moment(events.Time(w.Until)), w.For)
	}
	for i, f := range j.Trouble {
		l.styled(Trouble, label(i, "Trouble"), "record %d: %s", f.Sequence, f.Says)
	}
	for i, note := range j.Notes {
		l.styled(Trouble, label(i, "Note"), "%s", note)
	}
	l.decision(j.LastDecision)
}

// runs writes the table of the CronJob's Jobs.
func (p *Page) runs(j *history.CronJob) error {
	if len(j.Runs) == 0 {
		return nil
	}
	if _, err := fmt.Fprintln(p.Out); err != nil {
		return err
	}
	head := []string{"JOB", "STATE", "STARTED", "TOOK", "MADE FOR"}
	if p.Wide {
		head = []string{"JOB", "STATE", "STARTED", "TOOK", "UID", "MADE FOR"}
	}
	t := p.table(head...)
	for i := range j.Runs {
		r := &j.Runs[i]
		if i == maxRuns && !p.Wide {
			t.Rule(fmt.Sprintf("and %d more (-o wide shows all)", len(j.Runs)-maxRuns))
			break
		}
		row := []Cell{
			{Text: words.Clean(r.Name), Name: true}, {Text: string(r.State), Style: styleOfState(r.State)},
			{Text: p.Zone.Second(events.Time(r.Started))}, {Text: dash(took(r.Started, r.Finished))},
		}
		if p.Wide {
			row = append(row, Cell{Text: words.Clean(r.UID)})
		}
		t.Row(append(row, Cell{Text: words.Clean(p.madeFor(r, j.Location()))})...)
	}
	return t.Flush()
}

// madeFor says why a Job of a CronJob was created: for which due time, or by which user.
func (p *Page) madeFor(r *history.Run, zone *time.Location) string {
	switch {
	case r.Made != "" && r.By != "":
		return madeWords[r.Made] + " " + words.Asker(r.By)
	case r.Made != "":
		return strings.TrimSuffix(madeWords[r.Made], " by")
	case r.Due != 0:
		return p.dueIn(events.Time(r.Due), zone)
	}
	return "-"
}

// madeWords has the words for Jobs that a user created or asked for.
var madeWords = map[string]string{
	events.TickManual.String(): "made by hand by", events.TickTriggered.String(): "triggered by",
}
