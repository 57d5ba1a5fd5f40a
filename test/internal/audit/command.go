package audit

import (
	"fmt"
	"strings"

	"github.com/jobledger/jobledger/events"
)

// command is a command in the log that makes a write, with everything that the log knows about its tries.
type command struct {
	Deed
	name     events.CommandID
	retried  bool
	stream   events.Stream
	object   [2]string // namespace and name of the object in the log; empty: unknown
	outcomes []outcome
	// number of process restarts while the command may have been in flight: each hides at most one try
	cuts int
	// its Job was gone or retired before the last outcome, which need not be recorded then: this hides at most one try
	left     bool
	over     bool // no outcome follows: it is done, or ended in a way after which it is not tried again
	problems []string
	// outcomes of commands that share its backoff; a refusal that repeats one of them is not recorded
	answersOfOthers []outcome
}

// outcome is a recorded end of a try.
type outcome struct {
	events.CommandEnded
	said string // the reason in the API server's answer; empty when there was none
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
