package explain

import (
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/words"
)

// ownManager is our field manager: kubeapi.FieldManager, which this package may not import.
const ownManager = "jobledger"

// managers names the field managers that the records show on the Job's spec, where an API client deleted the Job or a
// pod of it and which one is unknown. They are where to ask first, and no more: a deletion has no field manager.
// Controllers are left out: what they delete is told as theirs.
func (c *Case) managers() []Sentence {
	if !c.byUnknownClient() {
		return nil
	}
	var names []string
	var from []Mark
	add := func(e *events.Edit, did string, m Mark) {
		if e == nil || e.Manager == "" || e.Manager == events.BuiltinManager || e.Manager == ownManager {
			return
		}
		if text := words.Clean(e.Manager) + " " + did; !slices.Contains(names, text) && len(names) < mostCited {
			names, from = append(names, text), append(from, m)
		}
	}
	add(c.maker, "made it", c.added)
	for i := range c.edits {
		add(c.edits[i].By, "edited it at "+c.clock(c.edits[i].At.At), c.edits[i].At)
	}
	if len(names) == 0 {
		return nil
	}
	const none = "; a deletion has no field manager, so who deleted may be another"
	return []Sentence{say(marks(from...), "seen on the Job's spec: %s%s", strings.Join(names, ", "), none)}
}

// byUnknownClient reports whether an API client of which nothing is known deleted the Job, or a pod of it that had not
// ended.
func (c *Case) byUnknownClient() bool {
	if m := c.deletion(); m.Record != 0 {
		if _, unknown, _ := c.removedBy(m, m.At); unknown != "" && !c.finished() {
			return true
		}
	}
	return slices.ContainsFunc(c.Tries, func(t *Try) bool { return c.ending(t).By == ByClient })
}
