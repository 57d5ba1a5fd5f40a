package cli

import (
	"fmt"
	"io"
	"time"
)

// Progress shows the progress of a task on a terminal, once the task takes longer than a second.
type Progress struct {
	out   io.Writer
	what  string
	Total uint64 // may be set once it is known
	began time.Time
	told  time.Time
}

// NewProgress starts to show the progress of a task with a total. It shows nothing if out is no terminal.
func NewProgress(out io.Writer, what string, total uint64) *Progress {
	if _, ok := Terminal(out); !ok {
		return &Progress{}
	}
	if s, is := out.(*shownBy); is { // this shows more than a Reading
		s.reading.clear(true)
		out = s.Writer
	}
	return &Progress{out: out, what: what, Total: max(total, 1), began: time.Now()}
}

// At reports that n of the total are done. It ignores an n that is not a multiple of 1024.
func (p *Progress) At(n uint64) {
	if p.out == nil || n%1024 != 0 {
		return
	}
	p.Show(n)
}

// Show reports that n of the total are done, and shows it at most every 200 ms.
func (p *Progress) Show(n uint64) {
	if now := time.Now(); p.out != nil && now.Sub(p.began) > time.Second && now.Sub(p.told) > 200*time.Millisecond {
		p.told = now
		fmt.Fprintf(p.out, "\r%s: %d of %d (%d %%)", p.what, n, p.Total, 100*n/p.Total)
	}
}

// Name starts another task with another total.
func (p *Progress) Name(what string, total uint64) { p.what, p.Total = what, max(total, 1) }

// Clear removes the line from the terminal.
func (p *Progress) Clear() {
	if p.out != nil && !p.told.IsZero() {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.told = time.Time{}
	}
}
