package audit

import (
	"fmt"
	"strings"

	"github.com/jobledger/jobledger/events"
)

// command is a command in the log that makes a write, with all that the log says about its tries.
type command struct {
	Deed
	name     events.CommandID
	retried  bool
	stream   events.Stream
	object   [2]string // namespace and name of the object, as the log says; empty: unknown
	outcomes []outcome
	// how often the process ended while the command may have been in flight: the log lacks at most one try for each
	cuts int
	// the Job was gone or finished before the last outcome, so that it need not be recorded: the log lacks at most one
	// try
	left bool
	// no further outcome follows: the command is done, or has ended in a way after which it is not tried again
	over     bool
	problems []string
	// outcomes of other commands with the same backoff; a refusal that repeats one of them is not recorded
	answersOfOthers []outcome
}

// outcome is a recorded end of one try of a command.
type outcome struct {
	events.CommandEnded
	said string // the reason that the API server gave; empty if it gave none
}

func (c *command) String() string {
	var ends []string
	for i := range c.outcomes {
		ends = append(ends, c.outcomes[i].String())
	}
	return fmt.Sprintf("command %d/%d %s, %s/%s: %s",
		c.name.Decided, c.name.Place, c.Deed, c.object[0], c.object[1], strings.Join(append(ends, "no more outcomes")[:max(1, len(ends))], "; "))
}

func (o *outcome) String() string {
	text := o.Ending.String()
	if o.Class != 0 {
		text += " " + o.Class.String()
	}
	if !o.Sent {
		text += ", not sent"
	}
	if o.said != "" {
		text += " (" + o.said + ")"
	}
	return text
}
