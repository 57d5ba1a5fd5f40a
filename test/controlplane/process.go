package controlplane

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/jobledger/jobledger/test/internal/child"
)

// process is one component of the control plane.
type process struct {
	name string
	argv []string
	log  string // path of its log; a restart appends to it
	pid  int
	// asked is true when the process was told to end. ControlPlane.mu guards it.
	asked bool
	// ended is closed when the process has ended. err is set before that: the error with which it ended.
	ended chan struct{}
	err   error
}

// garbage is GOGC for the components if the environment has none, as in the bench: between collections the heap may
// grow to five times the live heap. make test sets Go's default 100; see "The time of make test" in test/README.md.
const garbage = "400"

// launch starts a program, with its output appended to the file log. A goroutine, which ends with the process, waits
// for it.
func launch(name, log string, argv ...string) (*process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	defer out.Close() // the child process keeps its own copy open
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = filepath.Dir(log)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Env = append(os.Environ(), "GOGC="+cmp.Or(os.Getenv("GOGC"), garbage))
	ended, err := child.Start(cmd)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p := &process{name: name, argv: argv, log: log, pid: cmd.Process.Pid, ended: make(chan struct{})}
	go func() {
		p.err = <-ended
		close(p.ended)
	}()
	return p, nil
}

func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// kill kills the process and its process group with SIGKILL, and returns when the process has ended. SIGTERM first is
// not necessary: nothing must be saved, since what etcd has written is already in the page cache.
func (p *process) kill() error {
	if err := child.Signal(p.pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill %s (pid %d): %w", p.name, p.pid, err)
	}
	<-p.ended
	return nil
}

// failure returns the error for a process that ended by itself: its exit, and the end of its log.
func (p *process) failure() error {
	how := "exit status 0"
	if p.err != nil {
		how = p.err.Error()
	}
	return fmt.Errorf("%s ended by itself (%s); the end of its log %s:\n%s", p.name, how, p.log, tail(p.log, 4096))
}

// tail returns about the last size bytes of a file, if possible from the beginning of a line; nothing if the file
// cannot be read.
func tail(path string, size int64) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	if info.Size() <= size {
		data, _ := io.ReadAll(f)
		return data
	}
	if _, err := f.Seek(-size, io.SeekEnd); err != nil {
		return nil
	}
	data, _ := io.ReadAll(f)
	if _, rest, ok := bytes.Cut(data, []byte("\n")); ok {
		return rest
	}
	return data
}
