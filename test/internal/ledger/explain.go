package ledger

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/test/internal/history"
)

// Explain describes the histories of the Jobs with violations, followed by the violations. They come last because
// people, and machines that store logs, see only the end of a long output.
func Explain(found []Violation, h *history.History) string {
	var text strings.Builder
	told := map[types.UID]bool{}
	for _, v := range found {
		if !told[v.UID] {
			told[v.UID] = true
			fmt.Fprintf(&text, "what was stored of job %s:\n%s", v.Job, history.Tell(h.Changes(v.UID)))
		}
	}
	text.WriteString("what is wrong:\n")
	for _, v := range found {
		fmt.Fprintf(&text, "  %s\n", v)
	}
	return text.String()
}
