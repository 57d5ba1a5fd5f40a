package cli

import (
	"fmt"
	"io"
	"time"
)

// Progress shows on a terminal how much of a task is done. It shows nothing in the first second.
type Progress struct {
	out   io.Writer
	what  string
	Total uint64 // may be set later
	began time.Time
	told  time.Time
}

// NewProgress returns a Progress for a task; what names it, and total is how much there is to do. It shows nothing if
// out is not a terminal.
func NewProgress(out io.Writer, what string, total uint64) *Progress {
	if _, ok := Terminal(out); !ok {
		return &Progress{}
	}
	// If out also shows how many records were read, only this Progress is shown from now on.
	if s, is := out.(*shownBy); is {
		s.reading.clear(true)
		out = s.Writer
	}
	return &Progress{out: out, what: what, Total: max(total, 1), began: time.Now()}
}

// At says that n of the total are done. It does nothing unless n is a multiple of 1024, so that it costs little when it
// is called often.
func (p *Progress) At(n uint64) {
	if p.out == nil || n%1024 != 0 {
		return
	}
	p.Show(n)
}

// Show says that n of the total are done, and prints it at most every 200 ms.
func (p *Progress) Show(n uint64) {
	if now := time.Now(); p.out != nil && now.Sub(p.began) > time.Second && now.Sub(p.told) > 200*time.Millisecond {
		p.told = now
		fmt.Fprintf(p.out, "\r%s: %d of %d (%d %%)", p.what, n, p.Total, 100*n/p.Total)
	}
}

// Name begins another task, with another total.
func (p *Progress) Name(what string, total uint64) { p.what, p.Total = what, max(total, 1) }

// Clear removes the progress line from the terminal.
func (p *Progress) Clear() {
	if p.out != nil && !p.told.IsZero() {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.told = time.Time{}
	}
}
