package jobcase

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
)

// Refusal is a period in which the API server refused one kind of command for one reason.
type Refusal struct {
	Kind  events.CommandKind
	Class events.RefusalClass
	Says  string // message of the API server
	Own   string // our own sentence about it, if the API server sent no message
	First explain.Mark
	Last  explain.Mark // newest refusal
	Over  explain.Mark // record of a later success of such a command; none if there was none
	Then  *Refusal     // the next refusal of this kind, for another reason; nil for none
}

func (c *Case) refused(r *events.Record, f *events.CommandEnded, kind events.CommandKind) {
	if f.Class == events.RefusedNamespaceTerminating && c.NamespaceGoing.Record == 0 {
		c.NamespaceGoing = explain.MarkOf(r)
	}
	now := c.lasting(kind, f.Class)
	if now == nil {
		now = &Refusal{Kind: kind, Class: f.Class, Says: r.Evidence.Message, Own: r.Evidence.Sentence,
			First: explain.MarkOf(r)}
		c.Refusals = append(c.Refusals, now)
	}
	now.Last = explain.MarkOf(r)
	for _, x := range c.Refusals {
		if x.Kind == kind && x.Over.Record == 0 {
			x.Then = now
		}
	}
	now.Then = nil
}

// lasting returns the refusal of commands of this kind, for reason class, that has not ended; nil if there is none.
func (c *Case) lasting(kind events.CommandKind, class events.RefusalClass) *Refusal {
	for _, x := range c.Refusals {
		if x.Kind == kind && x.Class == class && x.Over.Record == 0 {
			return x
		}
	}
	return nil
}

// NoGroup says in a few words why the Job has no PodGroup: the API server refused it, or its Workload.
func (x *Refusal) NoGroup() string {
	what := "Workload and PodGroup"
	switch x.Kind {
	case events.CommandCreateWorkload:
		what = "Workload"
	case events.CommandCreatePodGroup:
		what = "PodGroup"
	}
	if x.Class == events.RefusedNameTaken {
		return "the name of its " + what + " is taken"
	}
	return fmt.Sprintf("its %s cannot be made or read (%s)", what, x.Class)
}

// RefusedNow returns the refusal of commands of this kind that has not ended; nil if there is none.
func (c *Case) RefusedNow(kind events.CommandKind) *Refusal {
	for _, x := range c.Refusals {
		if x.Over.Record == 0 && x.Then == nil && x.Kind == kind {
			return x
		}
	}
	return nil
}
