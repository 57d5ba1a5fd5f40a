package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/jobledger/jobledger/test/internal/child"
)

// show runs jobledger as a user would. It prints the command line and the output, and returns the output.
func (d *demo) show(ctx context.Context, args ...string) (string, error) {
	d.say("")
	d.typed(args)
	return d.call(ctx, d.out, os.Stderr, args...)
}

// call runs jobledger until it ends. It copies standard output to out and also returns it; standard error goes to
// notes, and into the error if there is one.
func (d *demo) call(ctx context.Context, out, notes io.Writer, args ...string) (string, error) {
	var text, said bytes.Buffer
	cmd := d.command(args)
	cmd.Stdout, cmd.Stderr = io.MultiWriter(out, &text), io.MultiWriter(notes, &said)
	ended, err := child.Start(cmd)
	if err != nil {
		return "", err
	}
	select {
	case err = <-ended:
	case <-ctx.Done():
		err = errors.Join(context.Cause(ctx), child.Signal(cmd.Process.Pid, syscall.SIGKILL), <-ended)
	}
	if err != nil {
		return text.String(), fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, bytes.TrimSpace(said.Bytes()))
	}
	return text.String(), nil
}

// following is a running command that prints new records until stop is called.
type following struct {
	name   string
	pid    int
	last   func() string // returns the line that was printed last
	ended  chan struct{}
	err    error         // the error with which the command ended; set before ended is closed
	copied chan struct{} // closed when all output of the command was given to merged
}

// width is the largest width of a printed line.
const width = 100

// reader returns a command line with the flag that makes jobledger read the controller's log.
func (d *demo) reader(args ...string) []string { return append(args, "--log", d.logDir()) }

// follow starts a command that prints records, and gives its output to lines until stop is called. from is the command.
func (d *demo) follow(lines *merged, from source, args []string) (*following, error) {
	text, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd := d.command(args)
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	ended, err := child.Start(cmd)
	out.Close() // the child process has its own copy of the pipe's end
	if err != nil {
		text.Close()
		return nil, err
	}
	f := &following{name: args[0], pid: cmd.Process.Pid, ended: make(chan struct{}), copied: make(chan struct{})}
	f.last = func() string { return lines.last(from) }
	go func() { // this goroutine ends when the process ends, because no other process has the write end of the pipe
		defer close(f.copied)
		defer text.Close()
		for s := bufio.NewScanner(text); s.Scan(); {
			lines.add(from, s.Text())
		}
	}()
	go func() { // this goroutine ends when the process ends
		f.err = <-ended
		close(f.ended)
	}()
	return f, nil
}

// awaitRecord returns when the command has printed the record with this sequence (number), or a later one.
func (f *following) awaitRecord(ctx context.Context, sequence uint64) error {
	return f.await(ctx, fmt.Sprintf("record %d", sequence), func(line string) bool {
		text, _, _ := strings.Cut(line, " ")
		n, err := strconv.ParseUint(text, 10, 64)
		return err == nil && n >= sequence
	})
}

// await returns when wanted is true for the line that the command printed last. what says what is awaited, for errors.
func (f *following) await(ctx context.Context, what string, wanted func(line string) bool) error {
	err := wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(context.Context) (bool, error) {
		select {
		case <-f.ended:
			return false, fmt.Errorf("%s ended: %w", f.name, f.err)
		default:
			return wanted(f.last()), nil
		}
	})
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%s has not shown %s, but last %q: %w", f.name, what, f.last(), context.Cause(ctx))
	}
	return err
}

// stop sends SIGINT to the command, as a user does with Ctrl-C.
func (f *following) stop() error {
	if err := child.Signal(f.pid, syscall.SIGINT); err != nil {
		return fmt.Errorf("stop %s (pid %d): %w", f.name, f.pid, err)
	}
	select {
	case <-f.ended:
	case <-time.After(stopsWithin):
		err := child.Signal(f.pid, syscall.SIGKILL)
		<-f.ended
		return errors.Join(fmt.Errorf("%s did not end within %s of SIGINT", f.name, stopsWithin), err)
	}
	<-f.copied
	return nil
}

// awaitRetired waits until the log has a record JobRetired for every Job, which says that nothing is left to do for it.
// It returns the highest number (sequence) of these records.
func (d *demo) awaitRetired(ctx context.Context) (last uint64, err error) {
	err = wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		text, err := d.call(ctx, io.Discard, io.Discard, "events", "--kind", "JobRetired", "-o", "json", "--log", d.logDir())
		if err != nil {
			return false, err
		}
		n := 0
		for records := json.NewDecoder(strings.NewReader(text)); ; n++ {
			var r struct{ Sequence uint64 }
			if err := records.Decode(&r); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return false, fmt.Errorf("read what events -o json wrote: %w", err)
			}
			last = max(last, r.Sequence)
		}
		return n >= len(ends), nil
	})
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("the log does not say of all Jobs that nothing is left to do: %w", context.Cause(ctx))
	}
	return last, err
}
