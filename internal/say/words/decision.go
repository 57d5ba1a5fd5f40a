package words

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// decision says what was decided and why: first the commands, with one phrase for all of a kind, then the reason.
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

// commands describes commands, with one phrase for consecutive ones of the same kind.
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

// many describes k commands of the same kind as c in one phrase.
func many(c events.Command, k int) string {
	text := fmt.Sprintf(c.Traits().Many, k)
	if create, ok := c.(*events.CreatePod); ok && create.Again {
		text += " again"
	}
	return text
}

// Phrase describes one command. It names the command's pod, if the log has the name.
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

// writeText describes a status write, the most important part first: the last condition that it adds, then the pods
// that it newly counts. It leaves out that counted pods are removed from status.uncountedTerminatedPods.
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
		text = command.Traits().Verb // only the verb: the record of the decision says what the write changes
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

// asked describes a command that has ended, if the decision that asked for it is not known: only from the record of
// the end.
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

// podOf returns the name of a pod for the record of a command's end. For the command's own pod it takes the name from
// the record, because the pod may be gone and Names may have forgotten it.
func (n *Names) podOf(r *events.Record, f *events.CommandEnded, pod types.UID) string {
	if pod == f.Pod && r.Evidence.Name != "" {
		return r.Evidence.Name
	}
	return n.Pod(r.Stream, pod)
}
