package show

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

const (
	headWidth = 11 // width of the column with the names of the sections (WHY, PODS), in characters
	screen    = 24 // most lines of an answer, unless the user asks for all of it
)

// Answer writes an explanation: a verdict, and sections (WHY, PODS, TIME) of sentences, each with the numbers of the
// records that prove it. Unless all is set, it shortens the answer to fit on a screen of 24 lines.
func (p *Page) Answer(a *explain.Answer, all bool) error {
	if sections, left := calm(a); left > 0 && !all {
		_, err := fmt.Fprintln(p.Out, strings.Join(p.answer(a, sections, false, fmt.Sprintf("-v: %d more", left)), "\n"))
		return err
	}
	sections, left := shorten(a.Sections, func(s []explain.Section) int { return len(p.answer(a, s, all, "")) }, all)
	text := p.answer(a, sections, all, "")
	if note := p.hidden(left); note != "" {
		text = append(text, fmt.Sprintf("%*s%s", headWidth, "", note))
	}
	_, err := fmt.Fprintln(p.Out, strings.Join(text, "\n"))
	return err
}

// hidden returns a line that says how many sentences of which sections were left out: "(-v shows more: PODS 2, RULED
// OUT 4)". left has these sentences. If the line is too long, it has only the total. A sentence without records, such
// as "the log has no earlier run", is not counted.
func (p *Page) hidden(left []explain.Section) string {
	var parts []string
	all := 0
	for i := range left {
		n := 0
		for _, x := range left[i].Sentences {
			if len(x.Records) > 0 {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", left[i].Head, n))
		}
		all += n
	}
	if all == 0 {
		return ""
	}
	note := "(-v shows more: " + strings.Join(parts, ", ") + ")"
	if p.Width > 0 && headWidth+columns(note) > p.Width {
		return fmt.Sprintf("(-v shows %s more)", words.Count(all, "sentence"))
	}
	return note
}

// Sentences writes sentences one below the other, with the numbers of the records that prove them.
func (p *Page) Sentences(all []explain.Sentence) error {
	for _, x := range all {
		if _, err := fmt.Fprintln(p.Out, strings.Join(p.fold("", p.wholeOr(x.Text, x.Whole), x.Records, 0), "\n")); err != nil {
			return err
		}
	}
	return nil
}

// calm shortens the answer about a Job that completed without trouble. It keeps only two sentences: the due time for
// which a CronJob created the Job, and how long the Job took. left is the number of sentences that it leaves out. For
// other answers left is 0, and the caller shows the whole answer.
func calm(a *explain.Answer) (sections []explain.Section, left int) {
	if a.State != string(history.StateComplete) || a.Kind != "job" {
		return nil, 0
	}
	for _, s := range a.Sections {
		switch s.Head {
		case "WHY", "ALSO":
			left += len(s.Sentences)
		case "TICK", "TIME":
			left += len(s.Sentences) - 1
			sections = append(sections, explain.Section{Head: s.Head, Sentences: s.Sentences[:1]})
		default:
			return nil, 0
		}
	}
	return sections, left
}

// light lists the least important sections of an answer, by their names. If an answer is longer than a screen, shorten
// removes sentences of these sections first, in this order.
var light = []string{"RULED OUT", "CLOSE", "TIME", "ALSO"}

// shorten removes sentences so that an answer fits on a screen of 24 lines. If all is set, it removes none. It removes:
//
//   - always: the sentences marked as Detail;
//   - if the answer is still too long: the sentences of the sections RULED OUT, CLOSE, TIME and ALSO (see light), in
//     this order of sections, each from its end, until the answer fits;
//   - then, from the last section to the first: each section's last sentences, but never its first one.
//
// lines returns the number of lines of an answer with the given sections. out has the sentences that stay, left has the
// removed ones, by section.
func shorten(sections []explain.Section, lines func([]explain.Section) int, all bool) (out, left []explain.Section) {
	if all {
		return sections, nil
	}
	out, left = make([]explain.Section, len(sections)), make([]explain.Section, len(sections))
	for i, s := range sections {
		out[i].Head, left[i].Head = s.Head, s.Head
		for _, x := range s.Sentences {
			to := &out[i]
			if x.Detail {
				to = &left[i]
			}
			to.Sentences = append(to.Sentences, x)
		}
	}
	cut := func(i, least int) {
		for s := &out[i]; len(s.Sentences) > least && lines(out) > screen-1; {
			last := len(s.Sentences) - 1
			left[i].Sentences = append(left[i].Sentences, s.Sentences[last])
			s.Sentences = s.Sentences[:last]
		}
	}
	for _, head := range light {
		if i := slices.IndexFunc(out, func(s explain.Section) bool { return s.Head == head }); i >= 0 {
			cut(i, 0)
		}
	}
	for i := len(out) - 1; i >= 0; i-- {
		cut(i, 1)
	}
	return slices.DeleteFunc(out, func(s explain.Section) bool { return len(s.Sentences) == 0 }), left
}

// answer returns the lines of an explanation with the given sections. note, such as "-v: 3 more", is added to the line
// of facts about the object.
func (p *Page) answer(a *explain.Answer, sections []explain.Section, all bool, note string) []string {
	var out []string
	if len(a.Lives) > 0 {
		out = wrap(words.Clean(explain.LivesText(a.Lives, p.Zone)), p.Width, p.Whole)
	}
	out = append(out, p.verdict(a)...)
	if len(sections) > 0 && sections[0].Head == a.Lead {
		out, sections = append(out, p.section(&sections[0], all)...), sections[1:]
	}
	parts := about(a, p.Zone)
	if note != "" {
		parts = append(parts, note)
	}
	out = append(out, p.fold("", strings.Join(parts, " · "), nil, 0)...)
	if len(sections) > 0 && note == "" {
		out = append(out, "")
	}
	for i := range sections {
		out = append(out, p.section(&sections[i], all)...)
	}
	return out
}

func (p *Page) section(s *explain.Section, all bool) (out []string) {
	head := s.Head
	for _, x := range s.Sentences {
		if x.Whole != "" && (all || p.Whole && !p.Asked) {
			out = append(out, p.whole(head, x.Whole, x.Records)...)
		} else {
			out = append(out, p.fold(head, x.Text, x.Records, headWidth)...)
		}
		head = ""
	}
	return out
}

// verdict returns the first sentence of an answer (how the object stands, and why), wrapped into lines.
func (p *Page) verdict(a *explain.Answer) []string {
	name := words.Clean(titleOf(a))
	const indent = 2
	text := name + "  " + words.Clean(p.wholeOr(a.Verdict.Text, a.Verdict.Whole))
	lines := wrap(text, p.Width, p.Whole)
	if len(lines) > 1 {
		rest := strings.TrimLeft(text[len(lines[0]):], " ")
		lines = append(lines[:1], wrap(rest, max(p.Width-indent, 1), p.Whole)...)
	}
	for i, line := range lines {
		if i > 0 {
			line = strings.Repeat(" ", indent) + line
		}
		if p.Colour {
			style := Strong
			if strings.Contains(a.State, "Fail") || a.Kind == "cronjob" && styleOfCron(history.CronState(a.State)) == Trouble {
				style = Trouble
			}
			line = codes[style] + line + "\x1b[0m"
		}
		lines[i] = line
	}
	return lines
}

// titleOf returns the name of the object of an answer: for a Job or a CronJob with its namespace.
func titleOf(a *explain.Answer) string {
	switch a.Kind {
	case "job":
		return a.Namespace + "/" + a.Name
	case "cronjob":
		return a.Namespace + "/" + a.Name + " (CronJob)"
	}
	return a.Name
}

// clockText returns words to follow the time asOf that an answer describes: by which clock that time is. With the
// controller's clock, they also tell the time of the controller's newest record (last). Without clock they are empty.
func clockText(clock string, last, asOf events.Time, zone words.Zone) string {
	switch clock {
	case history.ClockLog:
		return ", the end of the log"
	case history.ClockController:
		layout := "15:04:05"
		if !zone.SameDay(last, asOf) {
			layout = "2 Jan 15:04:05"
		}
		return " by the controller's clock, its last record " + zone.In(last).Format(layout)
	}
	return ""
}

// about returns facts about the object of an answer: its owner or schedule, from when to when it existed, and how
// complete its records are.
func about(a *explain.Answer, zone words.Zone) []string {
	var parts []string
	if a.Schedule != "" {
		parts = append(parts, a.Schedule)
	}
	created, finished := events.Time(a.Created), events.Time(a.Finished)
	switch {
	case created != 0 && finished != 0:
		to := "15:04:05 "
		if !zone.SameDay(created, finished) {
			to = "2 Jan 15:04:05 "
		}
		parts = append(parts, zone.In(created).Format("2 Jan 15:04:05")+" → "+zone.In(finished).Format(to)+zone.Name(finished))
	case created != 0:
		asOf, layout := events.Time(a.AsOf.Time), "15:04:05"
		if !zone.SameDay(created, asOf) {
			layout = "2 Jan 15:04:05"
		}
		parts = append(parts, "created "+zone.In(created).Format("2 Jan 15:04:05 ")+zone.Name(created), "as of "+zone.In(asOf).Format(layout)+clockText(a.Clock, events.Time(a.LastRecord), asOf, zone))
	}
	parts = append(parts, "uid "+words.Clean(a.UID[:min(len(a.UID), 8)]))
	switch {
	case a.Damaged != 0 && a.Resumed > a.Damaged:
		parts = append(parts, fmt.Sprintf("THE LOG IS DAMAGED from record %d to %d: what they say is not told", a.Damaged, a.Resumed-1))
	case a.Damaged != 0:
		parts = append(parts, fmt.Sprintf("THE LOG IS DAMAGED from record %d on: what follows is not told", a.Damaged))
	case len(a.Gaps) == 1:
		parts = append(parts, "1 GAP in its history")
	case len(a.Gaps) != 0:
		parts = append(parts, fmt.Sprintf("%d GAPS in its history", len(a.Gaps)))
	case a.Truncated:
		parts = append(parts, "its beginning is no longer kept")
	case a.Begun != "":
		parts = append(parts, "its beginning was not seen")
	case a.InPart:
		parts = append(parts, noFullView)
	case len(a.PassedOver) == 0 && a.Unrecorded == 0:
		parts = append(parts, "history complete")
	}
	if len(a.PassedOver) > 0 {
		parts = append(parts, "NOT ALL IS RECORDED: over the log's budget")
	} else if a.Unrecorded > 0 {
		parts = append(parts, fmt.Sprintf("%s NOT RECORDED", words.Count(int(a.Unrecorded), "version")))
	}
	switch history.State(a.State) { // the verdict of a deleted object says already when it was deleted, and by whom
	case history.StateDeleted, history.StateDeleting:
	default:
		if a.Deleted != nil {
			parts = append(parts, a.Deleted.Text)
		}
	}
	return parts
}

// whole returns the lines of a sentence that quotes a message of a user or the API server. The message is not cut, and
// keeps its line breaks.
func (p *Page) whole(head, text string, records []uint64) []string {
	says, theirs, _ := strings.Cut(text, "\n")
	out := p.fold(head, says, records, headWidth)
	for line := range strings.Lines(theirs) {
		line = strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    ")
		out = append(out, p.fold("", "| "+line, nil, headWidth)...)
	}
	return out
}

// fold wraps a sentence into lines and adds the numbers of its records at the end. head is the name of the section,
// before the first line; the other lines are indented.
func (p *Page) fold(head, text string, records []uint64, indent int) []string {
	lines := wrap(words.Clean(text), p.Width-indent, p.Whole)
	if cited := citation(records); cited != "" {
		last := len(lines) - 1
		if p.Width <= 0 || columns(lines[last])+2+columns(cited) <= p.Width-indent {
			lines[last] += "  " + cited
		} else {
			lines = append(lines, wrap(cited, p.Width-indent, p.Whole)...)
		}
	}
	for i, line := range lines {
		lines[i] = strings.TrimRight(fmt.Sprintf("%-*s%s", indent, head, line), " ")
		head = ""
	}
	return lines
}

func citation(records []uint64) string {
	var parts []string
	for _, r := range records {
		parts = append(parts, fmt.Sprintf("#%d", r))
	}
	return strings.Join(parts, " ")
}

// Markdown returns an answer as Markdown, for example for a chat about an incident. Texts of users cannot become
// markup, links or mentions.
func Markdown(a *explain.Answer, zone words.Zone) string {
	var b strings.Builder
	if len(a.Lives) > 0 {
		b.WriteString(plain(explain.LivesText(a.Lives, zone)) + "\n\n")
	}
	fmt.Fprintf(&b, "**%s** %s%s\n\n%s\n\n", plain(titleOf(a)), plain(a.Verdict.Text), cited(a.Verdict.Records), plain(strings.Join(about(a, zone), " · ")))
	for _, s := range a.Sections {
		for _, x := range s.Sentences {
			if !x.Detail {
				fmt.Fprintf(&b, "- **%s** %s%s\n", s.Head, plain(x.Text), cited(x.Records))
			}
		}
	}
	return b.String()
}

func cited(records []uint64) string {
	if len(records) == 0 {
		return ""
	}
	return " `" + citation(records) + "`"
}
