package binaries

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// progress shows how far a build is: as one changing line on a terminal, elsewhere as a line every 15 s. Its methods
// may be called from any goroutine.
type progress struct {
	w        io.Writer
	prefix   string
	cold     time.Duration
	terminal bool
	began    time.Time
	stop     chan struct{}
	stopped  sync.WaitGroup

	mu       sync.Mutex
	packages int // number of packages in the program; 0: unknown
	built    int // packages compiled so far, without those from the build cache
	noted    string
}

// How often progress is shown.
const (
	terminalInterval = 500 * time.Millisecond
	logInterval      = 15 * time.Second
)

// newProgress starts a goroutine that shows the progress on w until end is called.
func newProgress(w io.Writer, prefix string, cold time.Duration) *progress {
	p := &progress{w: w, prefix: prefix, cold: cold, began: time.Now(), stop: make(chan struct{})}
	if f, ok := w.(*os.File); ok {
		p.terminal = term.IsTerminal(int(f.Fd()))
	}
	interval := logInterval
	if p.terminal {
		interval = terminalInterval
	} else {
		fmt.Fprintf(w, "%s (about %s)\n", prefix, cold)
	}
	p.stopped.Go(func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-p.stop:
				return
			case <-tick.C:
				p.show()
			}
		}
	})
	return p
}

func (p *progress) total(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.packages = n
}

func (p *progress) compiled() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.built++
	p.noted = ""
}

func (p *progress) note(s string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.noted = s
}

// line returns the line that shows the progress.
func (p *progress) line() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := fmt.Sprintf("%s: %d packages compiled", p.prefix, p.built)
	if p.packages > 0 {
		s = fmt.Sprintf("%s: %d of at most %d packages compiled", p.prefix, p.built, p.packages)
	}
	s += fmt.Sprintf(", %s of about %s", time.Since(p.began).Round(time.Second), p.cold)
	if p.noted != "" {
		s += ", " + p.noted
	}
	return s
}

func (p *progress) show() {
	if p.terminal {
		fmt.Fprintf(p.w, "\r\033[K%s", p.line())
		return
	}
	fmt.Fprintln(p.w, p.line())
}

// end stops the goroutine, and prints whether the build succeeded.
func (p *progress) end(ok bool) {
	close(p.stop)
	p.stopped.Wait()
	if p.terminal {
		fmt.Fprint(p.w, "\r\033[K")
	}
	how := "built"
	if !ok {
		how = "not built"
	}
	fmt.Fprintf(p.w, "%s: %s in %s\n", p.prefix, how, time.Since(p.began).Round(time.Second))
}
