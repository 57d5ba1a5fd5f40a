package binaries

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jobledger/jobledger/test/internal/child"
)

// build is one program, with what is needed to build it.
type build struct {
	program
	version  string
	toolsDir string
	dir      string
}

// run builds the program into a temporary file, and renames the file. Then it writes the stamp: a file beside the
// program that says from which version and with which flags the program was built.
func (b build) run(ctx context.Context, p *progress) error {
	stamp := stampPath(b.dir, b.label())
	if err := os.Remove(stamp); err != nil && !os.IsNotExist(err) {
		return err
	}
	partial := filepath.Join(b.dir, stampDir, b.label()+".partial")
	err := b.compile(ctx, partial, p)
	p.end(err == nil)
	if err != nil {
		return err
	}

	file := filepath.Join(b.dir, b.file())
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if err := os.Rename(partial, file); err != nil {
		return err
	}
	return os.WriteFile(stamp, []byte(b.stamp(b.version)), 0o644)
}

// compile builds the program. First it counts the packages of the program, so that progress can be shown as a fraction.
func (b build) compile(ctx context.Context, output string, p *progress) error {
	var packages bytes.Buffer
	if err := b.goCommand(ctx, p, &packages, "list", "-deps", b.pkg); err != nil {
		return fmt.Errorf("list its packages: %w", err)
	}
	p.total(bytes.Count(packages.Bytes(), []byte("\n")))
	args := append(b.verb(), "-trimpath", "-ldflags", b.ldflags(b.version), "-o", output, b.pkg)
	return b.goCommand(ctx, p, io.Discard, args...)
}

// goCommand runs a go command in the tools module, with low priority, so that the machine stays usable. When ctx ends,
// it stops the command and its compilers. If the command fails, the error contains the last lines of its output.
func (b build) goCommand(ctx context.Context, p *progress, stdout io.Writer, args ...string) error {
	argv := append([]string{"go"}, args...)
	if nice, err := exec.LookPath("nice"); err == nil {
		argv = append([]string{nice, "-n", "10"}, argv...)
	}
	said := &follower{progress: p}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = b.toolsDir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS="+withoutModFlag(os.Getenv("GOFLAGS")), "PWD="+b.toolsDir)
	cmd.Stdout, cmd.Stderr = stdout, said
	cmd.Cancel = func() error { return child.Signal(cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	ended, err := child.Start(cmd)
	if err == nil {
		err = <-ended
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	default:
		return fmt.Errorf("%w\n%s", err, said.complaint())
	}
}

// withoutModFlag removes -mod and -modfile from flags, because they belong to the caller's own module.
func withoutModFlag(flags string) string {
	var kept []string
	for _, f := range strings.Fields(flags) {
		if name := strings.TrimLeft(f, "-"); !strings.HasPrefix(name, "mod=") && !strings.HasPrefix(name, "modfile=") {
			kept = append(kept, f)
		}
	}
	return strings.Join(kept, " ")
}

// keepLines is the number of output lines that a follower keeps, for the error of a failed build.
const keepLines = 40

// follower reads the output of go build -v. Lines with a package path or a download count as progress. All other lines
// are error messages, of which it keeps the last ones. It is not safe for concurrent use: os/exec writes to it from one
// goroutine, and complaint is called after that goroutine has ended.
type follower struct {
	progress *progress
	partial  []byte // beginning of a line whose end was not read yet
	kept     []string
}

func (f *follower) Write(data []byte) (int, error) {
	f.partial = append(f.partial, data...)
	for {
		line, rest, ended := bytes.Cut(f.partial, []byte("\n"))
		if !ended {
			return len(data), nil
		}
		f.line(string(line))
		f.partial = rest
	}
}

func (f *follower) line(line string) {
	switch {
	case strings.HasPrefix(line, "go: downloading "):
		f.progress.note(strings.TrimPrefix(line, "go: "))
	case line != "" && !strings.ContainsAny(line, " :#\t"):
		f.progress.compiled()
	default:
		f.kept = append(f.kept, line)
		if len(f.kept) > keepLines {
			f.kept = f.kept[1:]
		}
	}
}

func (f *follower) complaint() string {
	return strings.Join(append(f.kept, string(f.partial)), "\n")
}
