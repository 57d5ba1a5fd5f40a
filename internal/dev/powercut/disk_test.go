package powercut

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// steps makes a trace of calls. Each ended before the next began.
func steps(all ...Step) *Trace {
	for i := range all {
		if all[i].Ended == 0 {
			all[i].Ended = i + 1
		}
	}
	return &Trace{Steps: all}
}

// possible returns the possible contents of a file after a power cut at the end of the trace; "-" means no file.
func possible(t *Trace, name string, draws int) []string {
	d := NewDisk(t)
	d.Advance(len(t.Steps))
	r := rand.New(rand.NewPCG(1, 1))
	var all []string
	for range draws {
		s, _ := d.State(r)
		content, ok := s.Files[name]
		text := string(bytes.ReplaceAll(content, []byte{0}, []byte("0")))
		if !ok {
			text = "-"
		}
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	slices.Sort(all)
	return all
}

func TestWhatAPowerCutMayLeave(t *testing.T) {
	create := Step{Kind: Create, Name: "a", File: 1}
	write := func(at int64, text string) Step {
		return Step{Kind: Write, Name: "a", File: 1, At: at, Data: []byte(text)}
	}
	fsync := Step{Kind: Sync, Name: "a", File: 1}
	dirSync := Step{Kind: Sync, Name: ".", File: rootFile}
	long := bytes.Repeat([]byte{'x'}, 2*sector)
	for _, row := range []struct {
		what  string
		trace *Trace
		file  string
		want  []string
	}{
		{"a new file without any sync: it is not there, empty, of its size with zeros, or whole", steps(create, write(0, "abc")), "a", []string{"", "-", "000", "abc"}},
		{"a file that is synced and its directory is not may be lost", steps(create, write(0, "abc"), fsync), "a", []string{"-", "abc"}},
		{"a directory that is synced and the file is not", steps(create, write(0, "abc"), dirSync), "a", []string{"", "000", "abc"}},
		{"all is synced", steps(create, write(0, "abc"), fsync, dirSync), "a", []string{"abc"}},
		{"what is written behind a sync", steps(create, write(0, "abc"), fsync, dirSync, write(0, "xy")), "a", []string{"abc", "xyc"}},
		{"two writes to one place, in any part", steps(create, write(0, "abc"), fsync, dirSync, write(0, "x"), write(1, "y")), "a",
			[]string{"abc", "ayc", "xbc", "xyc"}},
		{"a file that grows without data", steps(create, write(0, "a"), fsync, dirSync, Step{Kind: Allocate, File: 1, Size: 3}), "a", []string{"a", "a00"}},
		{"a file that is cut", steps(create, write(0, "abc"), fsync, dirSync, Step{Kind: Truncate, File: 1, Size: 1}), "a", []string{"a", "abc"}},
		{"a sync covers what was done before it began, not what ran beside it",
			steps(create, dirSync, Step{Kind: Write, File: 1, Data: []byte("a"), Ended: 4}, Step{Kind: Sync, File: 1, Ended: 5}), "a", []string{"", "0", "a"}},
		{"a sync that has not ended covers nothing", steps(create, dirSync, write(0, "a"), Step{Kind: Sync, File: 1, Ended: Never}), "a", []string{"", "0", "a"}},
		{"a file in a directory that is not synced", steps(Step{Kind: Mkdir, Name: "d", File: 2}, Step{Kind: Create, Name: "d/a", File: 1}, write(0, "abc"), fsync,
			Step{Kind: Sync, Name: "d", File: 2}), "d/a", []string{"-", "abc"}},
		{"a file that is renamed before it is synced", steps(create, write(0, "abc"), Step{Kind: Rename, Name: "a", To: "b", File: 1}, dirSync), "b", []string{"", "000", "abc"}},
		{"a name that goes without a sync", steps(create, write(0, "abc"), fsync, dirSync, Step{Kind: Unlink, Name: "a", File: 1}), "a", []string{"-", "abc"}},
		{"sectors of one write", steps(create, dirSync, Step{Kind: Truncate, File: 1, Size: 2 * sector}, fsync, write(0, string(long))), "a", []string{
			string(bytes.Repeat([]byte{'0'}, 2*sector)), string(bytes.Repeat([]byte{'0'}, sector)) + string(long[:sector]),
			string(long[:sector]) + string(bytes.Repeat([]byte{'0'}, sector)), string(long),
		}},
	} {
		if got := possible(row.trace, row.file, 2000); !slices.Equal(got, row.want) {
			t.Errorf("%s: %q, want %q", row.what, got, row.want)
		}
	}
}

func TestAStateOfARenameIsOldOrNew(t *testing.T) {
	d := NewDisk(steps(
		Step{Kind: Create, Name: "a", File: 1}, Step{Kind: Sync, Name: ".", File: rootFile}, Step{Kind: Rename, Name: "a", To: "b", File: 1},
	))
	d.Advance(3)
	r := rand.New(rand.NewPCG(2, 2))
	for range 100 {
		s, what := d.State(r)
		_, old := s.Files["a"]
		if _, new := s.Files["b"]; old == new {
			t.Fatalf("%s: the file has the names %v", what, s.Files)
		}
	}
}

func TestTracesWithoutCallsAndWithLateOnes(t *testing.T) {
	tr := steps(
		Step{Kind: Create, Name: "a", File: 1}, Step{Kind: Sync, Name: ".", File: rootFile},
		Step{Kind: Write, File: 1, Data: []byte("abc")}, Step{Kind: Sync, Name: "a", File: 1}, Step{Kind: Say, Data: []byte("done")},
	)
	sync := func(s Step) bool { return s.Kind == Sync && s.Name == "a" }
	if got := possible(tr, "a", 100); !slices.Equal(got, []string{"abc"}) {
		t.Errorf("with the sync: %q", got)
	}
	if got := possible(tr.Without(sync), "a", 100); !slices.Equal(got, []string{"", "000", "abc"}) {
		t.Errorf("without the sync: %q", got)
	}
	late := tr.Late(sync, func(s Step) bool { return s.Kind == Say })
	if late.Steps[3].Kind != Say || late.Steps[4].Kind != Sync || len(late.Steps) != 5 {
		t.Errorf("late: %v", late.Steps)
	}
	if got := string(late.Said(0, 4)); got != "done" {
		t.Errorf("said %q", got)
	}
}
