package words

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// decision says what was decided and why: commands of one kind together, the reason behind them.
func (n *Names) decision(s events.Stream, d *events.Decision) string {
	var parts []string
	for _, step := range d.Steps {
		said := n.commands(s, step.Commands)
		if told := n.cronStep(step.Cron); told != "" {
			said = strings.TrimPrefix(said+", "+told, ", ")
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", said, step.Reason))
	}
	return strings.Join(parts, "; ")
}

// commands says what some commands ask for, those of one kind in one phrase.
func (n *Names) commands(s events.Stream, commands []events.Command) string {
	var parts []string
	for len(commands) > 0 {
		same := 1
		for same < len(commands) && commands[same].Traits() == commands[0].Traits() {
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

// many says what several commands of the kind of c ask for.
func many(c events.Command, k int) string {
	text := fmt.Sprintf(c.Traits().Many, k)
	if create, ok := c.(*events.CreatePod); ok && create.Again {
		text += " again"
	}
	return text
}

// Phrase says what one command asks for, with the names of pods where the log says them.
func (n *Names) Phrase(s events.Stream, c events.Command) string {
	if c == nil {
		return "command"
	}
	return phrase(c, func(pod types.UID) string { return n.Pod(s, pod) })
}

func phrase(c events.Command, pod func(types.UID) string) string {
	if w, ok := c.(*events.WriteStatus); ok {
		return writeText(w)
	}
	return events.Phrase(c, pod)
}

// writeText puts first what matters most about a status write: the condition that it adds, of several the last; then
// the pods that were found to have ended. That these leave the list of the uncounted again goes without saying.
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
		parts = append(parts, Count(n, "more succeeded pod"))
	}
	if n := len(c.Change.AddFailed); n > 0 {
		parts = append(parts, Count(n, "more failed pod"))
	}
	if described := strings.TrimPrefix(events.Describe(&rest), "write status: "); described != "first" {
		parts = append(parts, described)
	}
	switch {
	case len(parts) > 0:
		return text + ": " + strings.Join(parts, ", ")
	case len(c.Change.Counted) > 0:
		return text + ": " + Count(len(c.Change.Counted), "pod") + " counted"
	case text == "write status":
		return events.Describe(c)
	}
	return text
}

func (n *Names) commandEnded(r *events.Record, f *events.CommandEnded) string {
	command := n.Command(r.Stream, f.Command)
	text := fmt.Sprintf("command %d of record %d", f.Command.Place+1, f.Command.Decided)
	switch {
	case command == nil && f.Type.Traits() != nil:
		text = n.asked(r, f)
	case command == nil:
	case command.Traits().Kind == events.CommandWriteStatus:
		text = command.Traits().Verb // what it changes is said where it was decided
	default:
		text = phrase(command, func(pod types.UID) string { return n.podOf(r, f, pod) })
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

// asked is what the record itself says of the command that ended.
func (n *Names) asked(r *events.Record, f *events.CommandEnded) string {
	traits := f.Type.Traits()
	switch {
	case f.Ordinal != 0:
		return fmt.Sprintf("%s #%d", traits.Verb, f.Ordinal)
	case f.Pod != "":
		return traits.Verb + " " + n.podOf(r, f, f.Pod)
	}
	return traits.Verb
}

// podOf is the name of a pod in the end of a command. The record names the pod that the command was about: its object
// may be gone by then, and its name forgotten.
func (n *Names) podOf(r *events.Record, f *events.CommandEnded, pod types.UID) string {
	if pod == f.Pod && r.Evidence.Name != "" {
		return r.Evidence.Name
	}
	return n.Pod(r.Stream, pod)
}
