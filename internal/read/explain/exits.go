package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/words"
)

// failures returns the containers with a known exit code other than 0 that were not restarted.
func failures(cs []events.ContainerEnd) []events.ContainerEnd {
	var out []events.ContainerEnd
	for _, c := range cs {
		if c.ExitCode != 0 && !c.Again && !c.Lost() {
			out = append(out, c)
		}
	}
	return out
}

// exitText says how the containers of a try failed: "main exit 3", "main OOMKilled (137)".
func exitText(t *Try) string {
	var parts []string
	for _, c := range failures(t.Containers) {
		parts = append(parts, exitOf(&c))
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, ", ")
	case t.Reason != "":
		return words.Because(t.Reason, t.Message)
	case slices.ContainsFunc(t.Containers, lost):
		return lostText(&t.Containers[slices.IndexFunc(t.Containers, lost)])
	}
	return "no exit code is known"
}

func exitOf(c *events.ContainerEnd) string {
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

// lostText says that the end of a container is unknown.
func lostText(c *events.ContainerEnd) string {
	return "how " + nameOf(c) + " ended is unknown (" + c.Reason + "): its node found no trace of it"
}
