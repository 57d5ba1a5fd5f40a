package try

import (
	"github.com/jobledger/jobledger/internal/read/explain"
)

// Cite returns one record for each of the first 5 tries (explain.MostCited), for a sentence about many pods. of selects
// the record.
func Cite(tries []*Try, of func(*Try) explain.Mark) []explain.Mark {
	var out []explain.Mark
	for _, t := range tries[:min(len(tries), explain.MostCited)] {
		out = append(out, of(t))
	}
	return explain.Marks(out...)
}
