package ending

import (
	"strings"

	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
)

// withNode adds the state of the try's node to an ending.
func withNode(c *jobcase.Case, t *try.Try, e try.Ending, when explain.Mark) try.Ending {
	n, ok := c.NodeOf(t, when)
	if !ok {
		return e
	}
	e.Why = strings.TrimSuffix(strings.TrimSpace(e.Why), ".")
	if e.Why != "" {
		e.Why += "; "
	}
	e.Why += c.NodeWords(&n, t.Node)
	e.Marks = append(e.Marks, n.Mark)
	return e
}
