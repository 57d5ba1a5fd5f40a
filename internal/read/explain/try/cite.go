package try

import (
	"github.com/jobledger/jobledger/internal/read/explain"
)

// Cite returns the marks that of returns for the first explain.MostCited tries.
func Cite(tries []*Try, of func(*Try) explain.Mark) []explain.Mark {
	var out []explain.Mark
	for _, t := range tries[:min(len(tries), explain.MostCited)] {
		out = append(out, of(t))
	}
	return explain.Marks(out...)
}
