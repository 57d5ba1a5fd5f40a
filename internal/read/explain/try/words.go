package try

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/words"
)

func Count(n int) string {
	if n == 1 {
		return "1 try"
	}
	return fmt.Sprintf("%d tries", n)
}

func On(node string) string {
	if node == "" {
		return ""
	}
	return " on " + node
}

// List returns the names and a verb after them: one for a single name, several for more.
func List(names []string, one, several string) string {
	if len(names) == 1 {
		return names[0] + " " + one
	}
	return strings.Join(names, ", ") + " " + several
}

func PodsText(g []*Try) string {
	if len(g) == 1 {
		return g[0].Pod
	}
	return fmt.Sprintf("%s and %s", g[0].Pod, words.Count(len(g)-1, "other pod"))
}

// TryText returns words for one try (pod) of a Job: "try 2 of index 7".
func TryText(t *Try) string {
	text := "try " + strconv.Itoa(t.Number)
	if t.Index != events.NoIndex {
		text += fmt.Sprintf(" of index %d", t.Index)
	}
	return text
}
