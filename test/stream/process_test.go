package stream

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/jobledger/jobledger/test/internal/child"
)

// process is a program, which is started again when it was killed.
type process struct {
	t     *testing.T
	name  string
	args  []string // the program and its arguments
	env   []string
	data  string // file for its standard output, lines; empty when that is no more than messages
	said  string // file for its messages
	pid   int
	ended <-chan error // nil while it does not run
	how   error        // it was killed last
	kills int
}

func (p *process) start() {
	p.t.Helper()
	said := p.open(p.said)
	defer said.Close()
	cmd := exec.Command(p.args[0], p.args[1:]...)
	cmd.Env = append(os.Environ(), p.env...)
	cmd.Stdout, cmd.Stderr = said, said
	if p.data != "" {
		p.cut()
		data := p.open(p.data)
		defer data.Close()
		cmd.Stdout = data
	}
	var err error
	if p.ended, err = child.Start(cmd); err != nil {
		p.t.Fatal(err)
	}
	p.pid = cmd.Process.Pid
}

func (p *process) open(name string) *os.File {
	p.t.Helper()
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.t.Fatal(err)
	}
	return file
}

// cut takes away a last line that was not written whole, as whoever reads such a file has to.
func (p *process) cut() {
	p.t.Helper()
	text, err := os.ReadFile(p.data)
	if os.IsNotExist(err) {
		return
	}
	if err == nil {
		err = os.Truncate(p.data, int64(bytes.LastIndexByte(text, '\n')+1))
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// kill kills it, as a power cut does, if it runs.
func (p *process) kill() {
	p.t.Helper()
	if p.ended == nil {
		return
	}
	if err := child.Signal(p.pid, syscall.SIGKILL); err != nil {
		p.t.Error(err)
	}
	p.how = <-p.ended
	p.ended = nil
	p.kills++
}

// over reports whether it has ended by itself, and how.
func (p *process) over() (bool, error) {
	if p.ended == nil {
		return false, nil
	}
	select {
	case err := <-p.ended:
		p.ended = nil
		return true, err
	default:
		return false, nil
	}
}

// tail is the end of what it says.
func (p *process) tail() string {
	text, err := os.ReadFile(p.said)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s (last killed: %v) says:\n%s\n", p.name, p.how, text[max(0, len(text)-3000):])
}
