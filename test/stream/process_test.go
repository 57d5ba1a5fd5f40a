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

// process is a program that is restarted after a kill.
type process struct {
	t     *testing.T
	name  string
	args  []string // the program and its arguments
	env   []string
	data  string // file for its standard output, in lines; empty: that has only messages
	said  string // file for its messages
	pid   int
	ended <-chan error // nil while it does not run
	how   error        // the result of the last kill
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

// cut removes an incomplete last line, as every reader of such a file must.
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

// kill kills the process, like a power cut, if it runs.
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

// over reports whether the process has ended by itself, and how.
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

// tail returns the end of its messages.
func (p *process) tail() string {
	text, err := os.ReadFile(p.said)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s (last killed: %v) says:\n%s\n", p.name, p.how, text[max(0, len(text)-3000):])
}
