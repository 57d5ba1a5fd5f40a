//go:build linux && (amd64 || arm64)

package powercut

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// childEnv makes this test binary work in the directory of its argument.
const childEnv = "POWERCUT_TEST_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "work":
		if err := work(os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case "write at once":
		writeAtOnce(os.Args[1])
		os.Exit(0)
	case "append":
		f, err := os.OpenFile(filepath.Join(os.Args[1], "a"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err == nil {
			_, _ = f.WriteString("x")
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func work(dir string) error {
	sub := filepath.Join(dir, "sub")
	err := os.Mkdir(sub, 0o700)
	f, err1 := os.Create(filepath.Join(sub, "a.tmp"))
	_, err2 := f.WriteString("hello ")
	_, err3 := f.WriteString("world")
	_, err4 := f.WriteAt([]byte("W"), 6)
	err5 := f.Sync()
	err6 := os.Rename(f.Name(), filepath.Join(sub, "a"))
	fmt.Println("named")
	err7 := f.Truncate(5)
	d, err8 := os.Open(sub)
	err9 := errors.Join(d.Sync(), d.Close(), f.Close())
	err10 := os.WriteFile(filepath.Join(dir, "b"), []byte("new"), 0o600)
	err11 := os.Remove(filepath.Join(sub, "a"))
	return errors.Join(err, err1, err2, err3, err4, err5, err6, err7, err8, err9, err10, err11)
}

func writeAtOnce(dir string) {
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for i := range 50 {
				name := filepath.Join(dir, fmt.Sprint(n))
				if err := errors.Join(os.WriteFile(name+".tmp", fmt.Append(nil, n, i), 0o600), os.Rename(name+".tmp", name)); err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
			}
		})
	}
	all.Wait()
}

func run(t *testing.T, dir, what string) (*Recorder, error) {
	t.Helper()
	r, err := NewRecorder(dir)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], dir)
	cmd.Env = append(os.Environ(), childEnv+"="+what)
	err = r.Run(cmd)
	if errors.Is(err, ErrCannotTrace) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	return r, err
}

func TestTheCallsOfAProcess(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "b"), []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := run(t, dir, "work")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, s := range r.Trace().Steps {
		got = append(got, s.String())
		if s.Ended != i+1 {
			t.Errorf("%v: ended after %d steps, began after %d", s, s.Ended, i)
		}
	}
	want := []string{
		"mkdir sub", "create sub/a.tmp", "write sub/a.tmp, 6 bytes at 0", "write sub/a.tmp, 5 bytes at 6", "write sub/a.tmp, 1 bytes at 6",
		"sync sub/a.tmp", "rename sub/a.tmp to sub/a", `say "named\n"`, "truncate sub/a to 5", "sync sub", "truncate b to 0",
		"write b, 3 bytes at 0", "unlink sub/a",
	}
	if !slices.Equal(got, want) {
		t.Errorf("recorded:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	d := NewDisk(r.Trace())
	d.Advance(len(want))
	if s := d.Durable(); len(s.Dirs) != 0 || string(s.Files["b"]) != "before" {
		t.Errorf("durable is %v, %q", s.Dirs, s.Files)
	}
}

// TestWhatWasRecordedIsWhatIsThere: the recorded calls lead to the state on disk, also when many threads write at once,
// and when the process is killed.
func TestWhatWasRecordedIsWhatIsThere(t *testing.T) {
	for _, calls := range []int{0, 10, 57, 200, 411, 733} {
		dir := t.TempDir()
		r, err := NewRecorder(dir)
		if err != nil {
			t.Fatal(err)
		}
		if calls > 0 {
			r.KillAfter(calls)
		}
		cmd := exec.Command(os.Args[0], dir)
		cmd.Env = append(os.Environ(), childEnv+"=write at once")
		if err := r.Run(cmd); errors.Is(err, ErrCannotTrace) && os.Getenv("CI") == "" {
			t.Skip(err)
		} else if err != nil {
			t.Fatal(err)
		}
		d := NewDisk(r.Trace())
		d.Advance(len(r.Trace().Steps))
		is, err := Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		if played := d.All(); played.Sum() != is.Sum() {
			t.Errorf("after %d calls: the directory holds %q, the trace makes %q", calls, is.Files, played.Files)
		}
	}
}

func TestACallThatIsNotUnderstoodEndsTheRecording(t *testing.T) {
	_, err := run(t, t.TempDir(), "append")
	if err == nil || !strings.Contains(err.Error(), "not understood") {
		t.Errorf("a write to the end of a file: %v, want that it is not understood", err)
	}
}
