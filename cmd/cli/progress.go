package cli

import (
	"fmt"
	"io"
	"time"
)

// Progress shows on a terminal how far something has come, once it takes longer than a second.
type Progress struct {
	out   io.Writer
	what  string
	Total uint64 // may be set later, where it is known later
	began time.Time
	told  time.Time
}

// NewProgress begins to show how far something of a total has come. It shows nothing where out is no terminal.
func NewProgress(out io.Writer, what string, total uint64) *Progress {
	if _, ok := Terminal(out); !ok {
		return &Progress{}
	}
	if s, is := out.(*shownBy); is { // this tells more
		s.reading.clear(true)
		out = s.Writer
	}
	return &Progress{out: out, what: what, Total: max(total, 1), began: time.Now()}
}

// At says that as many are done; it is shown now and then.
func (p *Progress) At(n uint64) {
	if p.out == nil || n%1024 != 0 {
		return
	}
	p.Show(n)
}

// Show says that as many are done.
func (p *Progress) Show(n uint64) {
	if now := time.Now(); p.out != nil && now.Sub(p.began) > time.Second && now.Sub(p.told) > 200*time.Millisecond {
		p.told = now
		fmt.Fprintf(p.out, "\r%s: %d of %d (%d %%)", p.what, n, p.Total, 100*n/p.Total)
	}
}

// Name says what is shown from now on, and of how much.
func (p *Progress) Name(what string, total uint64) { p.what, p.Total = what, max(total, 1) }

// Clear takes the line off the terminal.
func (p *Progress) Clear() {
	if p.out != nil && !p.told.IsZero() {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.told = time.Time{}
	}
}
