package job

import (
	"fmt"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/say/words"
)

// edited returns a sentence for each edit of the Job's spec, with its field manager.
func (c *Case) edited() []explain.Sentence {
	var out []explain.Sentence
	by := explain.ByWhomever
	for i := range c.Edits {
		e := &c.Edits[i]
		text := strings.Join(words.SpecChanges(e.Before, e.After), ", ") + by(e.By)
		// If this sentence says that the manager is unknown, later sentences do not repeat it.
		if explain.ManagerOf(e.By) == "" {
			by = explain.ByManager
		}
		out = append(out, explain.Say(explain.Marks(e.Was, e.At), "%s %s", c.Clock(e.At.At), text))
	}
	return explain.Fewer(out, 3)
}

// refusedText lists which commands the API server refused, for which reason, and for how long.
func (c *Case) refusedText() []explain.Sentence {
	var out []explain.Sentence
	for _, x := range c.Refusals {
		if !x.Class.Passing() || x.Class == events.RefusedConflict {
			// Leave out conflicts, and refusals after which the same command cannot succeed (such as NameTaken).
			continue
		}
		to, then, over := "", "; still refused", x.Over
		switch {
		case x.Over.Record != 0:
			to, then = " to "+c.Clock(x.Over.At), "; then accepted"
		case x.Then != nil:
			to, then, over = " to "+c.Clock(x.Last.At), fmt.Sprintf("; then refused (%s)", x.Then.Class), x.Then.Last
		case c.Gone.Record != 0: // if the Job is gone, nothing is tried again
			then, over = "; not accepted before the Job was deleted", c.Gone
		case c.Finished() && x.Kind == events.CommandCreatePod && c.Settled != nil:
			then, over = "; not accepted before the Job ended", c.Settled.StoredBy()
		}
		out = append(out, explain.Say(explain.Marks(x.First, x.Last, over), "%s refused (%s) from %s%s: %s%s",
			x.Kind.Traits().Verb, x.Class, c.Clock(x.First.At), to, explain.Says(x.Says), then))
	}
	return explain.Fewer(out, 2)
}
