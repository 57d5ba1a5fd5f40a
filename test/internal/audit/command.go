package audit

import (
	"fmt"
	"strings"

	"github.com/jobledger/jobledger/events"
)

// command is a command of the log that makes a write, with all that the log says of its tries.
type command struct {
	Deed
	name            events.CommandID
	retried         bool
	stream          events.Stream
	object          [2]string // namespace and name of the object, as the log has them; empty for unknown
	outcomes        []outcome
	cuts            int  // of its process, while the command may have been under way: each hides one try at most
	left            bool // its Job had gone or retired before its last outcome: that need not be recorded, which hides one try at most
	over            bool // nothing more of it follows: it was done, or ended in another way that is not asked again
	problems        []string
	answersOfOthers []outcome // of commands that share its backoff: a refusal that repeats one of them is not recorded
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
