package try

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Failures returns the containers that ended with a known exit code other than 0 and were not restarted.
func Failures(cs []events.ContainerEnd) []events.ContainerEnd {
	var out []events.ContainerEnd
	for _, c := range cs {
		if c.ExitCode != 0 && !c.Again && !c.Lost() {
			out = append(out, c)
		}
	}
	return out
}

// ExitText says how the containers of a try failed: "main exit 3", "main OOMKilled (137)".
func ExitText(t *Try) string {
	var parts []string
	for _, c := range Failures(t.Containers) {
		parts = append(parts, ExitOf(&c))
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, ", ")
	case t.Reason != "":
		return words.Because(t.Reason, t.Message)
	case slices.ContainsFunc(t.Containers, lost):
		return LostText(&t.Containers[slices.IndexFunc(t.Containers, lost)])
	}
	return "no exit code is known"
}

func ExitOf(c *events.ContainerEnd) string {
	if words.Telling(c.Reason) {
		return fmt.Sprintf("%s %s (%d)", nameOf(c), c.Reason, c.ExitCode)
	}
	return fmt.Sprintf("%s exit %d", nameOf(c), c.ExitCode)
}

// nameOf returns the name of a container, with its kind unless it is a regular one.
func nameOf(c *events.ContainerEnd) string {
	if c.Kind == events.RegularContainer {
		return c.Name
	}
	return c.Kind.String() + " container " + c.Name
}

func lost(c events.ContainerEnd) bool { return c.Lost() }

// LostText says that it is unknown how a container ended, because its node found no trace of it.
func LostText(c *events.ContainerEnd) string {
	return "how " + nameOf(c) + " ended is unknown (" + c.Reason + "): its node found no trace of it"
}

// DoneFirst returns the first regular container that ended with exit code 0; nil if there is none.
func (t *Try) DoneFirst() *events.ContainerEnd {
	var first *events.ContainerEnd
	for i := range t.Containers {
		e := &t.Containers[i]
		if e.Kind == events.RegularContainer && e.ExitCode == 0 && !e.Again && (first == nil || e.Finished < first.Finished) {
			first = e
		}
	}
	return first
}

// OthersThan names the pod's containers that are known to have ended later than container e. If none is known, it
// returns "other containers of POD".
func (t *Try) OthersThan(e *events.ContainerEnd) string {
	var names []string
	for i := range t.Containers {
		if k := &t.Containers[i]; k.Kind != events.InitContainer && k.Finished > e.Finished {
			names = append(names, k.Name)
		}
	}
	if len(names) == 0 {
		return "other containers of " + t.Pod
	}
	return strings.Join(names, ", ")
}
