package show

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/jobledger/jobledger/events"
)

// decision says what was decided and why: commands of one kind together, the reason behind them.
func (n *Names) decision(s events.Stream, d *events.Decision) string {
	var parts []string
	for _, step := range d.Steps {
		parts = append(parts, fmt.Sprintf("%s (%s)", n.commands(s, step.Commands), step.Reason))
	}
	return strings.Join(parts, "; ")
}

// commands says what some commands ask for, those of one type in one phrase.
func (n *Names) commands(s events.Stream, commands []events.Command) string {
	var parts []string
	for len(commands) > 0 {
		same := 1
		for same < len(commands) && reflect.TypeOf(commands[same]) == reflect.TypeOf(commands[0]) {
			same++
		}
		if same == 1 {
			parts = append(parts, n.Phrase(s, commands[0]))
		} else {
			parts = append(parts, many(commands[0], same))
		}
		commands = commands[same:]
	}
	return strings.Join(parts, ", ")
}

// many says what several commands of the type of c ask for.
func many(c events.Command, k int) string {
	switch c := c.(type) {
	case *events.CreatePod:
		if c.Again {
			return fmt.Sprintf("create %d pods again", k)
		}
		return fmt.Sprintf("create %d pods", k)
	case *events.DeletePod:
		return fmt.Sprintf("delete %d pods", k)
	case *events.DropFinalizer:
		return fmt.Sprintf("remove the finalizers of %d pods", k)
	case *events.ReadPod:
		return fmt.Sprintf("look for %d pods", k)
	case *events.Withdraw:
		return fmt.Sprintf("withdraw %d commands", k)
	}
	return fmt.Sprintf("%d × %s", k, events.Describe(c))
}

// Phrase says what one command asks for, with the names of pods where the log says them.
func (n *Names) Phrase(s events.Stream, c events.Command) string {
	switch c := c.(type) {
	case nil:
		return "command"
	case *events.DeletePod:
		return "delete pod " + n.Pod(s, c.Pod)
	case *events.DropFinalizer:
		if c.ThenDelete {
			return "remove finalizer of surplus pod " + n.Pod(s, c.Pod)
		}
		return "remove finalizer of pod " + n.Pod(s, c.Pod)
	case *events.AdoptPod:
		if c.Spent {
			return "adopt counted pod " + n.Pod(s, c.Pod)
		}
		return "adopt pod " + n.Pod(s, c.Pod)
	case *events.ReleasePod:
		return "release pod " + n.Pod(s, c.Pod)
	case *events.WriteStatus:
		return writeText(c)
	}
	return events.Describe(c)
}

// writeText puts first what matters most about a status write: the condition that it adds, of several the last; then the
// pods that were found to have ended. That these leave the list of the uncounted again goes without saying.
func writeText(c *events.WriteStatus) string {
	rest := *c
	rest.Change.Conditions, rest.Change.AddSucceeded, rest.Change.AddFailed, rest.Change.Counted = nil, nil, nil, nil
	text := "write status"
	if conditions := c.Change.Conditions; len(conditions) > 0 {
		added := conditions[len(conditions)-1]
		text += " " + added.Type
		if added.Status != "True" {
			text += "=" + added.Status
		}
	}
	var parts []string
	if n := len(c.Change.AddSucceeded); n > 0 {
		parts = append(parts, count(n, "more succeeded pod"))
	}
	if n := len(c.Change.AddFailed); n > 0 {
		parts = append(parts, count(n, "more failed pod"))
	}
	if described := strings.TrimPrefix(events.Describe(&rest), "write status: "); described != "first" {
		parts = append(parts, described)
	}
	switch {
	case len(parts) > 0:
		return text + ": " + strings.Join(parts, ", ")
	case len(c.Change.Counted) > 0:
		return text + ": " + count(len(c.Change.Counted), "pod") + " counted"
	case text == "write status":
		return events.Describe(c)
	}
	return text
}

// commandText names a command for programs: the record that decided it and its place there, from 0.
func commandText(name events.CommandName) string {
	return fmt.Sprintf("%d/%d", name.Decided, name.Place)
}

func (n *Names) commandEnded(r *events.Record, f *events.CommandEnded) string {
	command := n.Command(r.Stream, f.Command)
	text := fmt.Sprintf("command %d of record %d", f.Command.Place+1, f.Command.Decided)
	switch command.(type) {
	case nil:
	case *events.WriteStatus:
		text = "write status"
	default:
		text = n.Phrase(r.Stream, command)
	}
	text += ": " + f.Ending.String()
	if f.Ending == events.Refused {
		text += " (" + f.Class.String() + ")"
	}
	for _, said := range []string{r.Evidence.Sentence, r.Evidence.Message} {
		if said != "" {
			text += ", " + said
		}
	}
	return text
}

// StyleOf says how a record stands out.
func StyleOf(r *events.Record) Style {
	switch f := r.Facts.(type) {
	case *events.Decision:
		return Strong
	case *events.CommandEnded:
		if f.Ending == events.Refused || f.Ending == events.UnknownIf {
			return Trouble
		}
	case *events.PodSeen:
		if f.Phase == events.PodFailed {
			return Trouble
		}
	}
	return Plain
}
