package boltlog_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest"
)

// childEnv names the log directory of a child process. If it is set, this test binary is that child.
const childEnv = "BOLTLOG_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		if groups, err := strconv.Atoi(os.Getenv(groupsEnv)); err == nil {
			appendGroups(dir, groups)
		}
		appendForever(dir)
	}
	os.Exit(m.Run())
}

// appendForever appends batches as fast as they become durable, with many in flight. After each it prints how far the
// log is durable.
func appendForever(dir string) {
	die := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	log, err := boltlog.Open(dir, small)
	die(err)
	w := storetest.NewWriter(dying{}, log)
	if w.Next() == 1 {
		w.Create()
	}
	go packForever(log, die)
	for n := 0; ; n++ {
		var items []storetest.Item
		for i := range 1 + n%20 {
			items = append(items, storetest.Pod("job-a", n+i), storetest.Pod("job-b", n))
		}
		die(log.Room(64 << 10))
		die(log.SetOffset("nats", log.Head().Sequence))
		commit := w.Append(n%3 == 0, items...)
		last := w.Next() - 1
		if n%7 == 0 {
			<-commit.Done()
			die(commit.Err())
		}
		select {
		case <-commit.Done():
			die(commit.Err())
			fmt.Println(last)
		default:
			fmt.Println(log.Head().Sequence)
		}
	}
}

// packForever packs each file as soon as it is sealed.
func packForever(log *boltlog.Log, die func(error)) {
	for {
		first, err := log.Pack(context.Background())
		die(err)
		if first == 0 {
			_, err = log.Wait(context.Background(), log.Head().Sequence)
			die(err)
		}
	}
}

// groupsEnv tells the child to commit that many groups, one after the other, and then to end.
const groupsEnv = "BOLTLOG_TEST_GROUPS"

func appendGroups(dir string, groups int) {
	log, err := boltlog.Open(dir, store.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	w := storetest.NewWriter(dying{}, log)
	w.Create()
	for n := range groups {
		w.Durable(storetest.Pod("job-a", n), storetest.Pod("job-b", n))
	}
	if err := log.Close(); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// dying is the testing.TB of the child: a failure ends the process.
type dying struct{ testing.TB }

func (dying) Helper() {}
func (dying) Fatalf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}

func TestKilledProcessLosesNothingAcknowledged(t *testing.T) {
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(7, uint64(time.Now().UnixNano())))
	rounds := 6
	switch {
	case effort.IsLong():
		rounds = 48
	case testing.Short():
		rounds = 4
	}
	var before events.Sequence
	for round := range rounds {
		acknowledged := runAndKill(t, dir, 1+random.IntN(250))
		report, err := boltlog.Verify(context.Background(), dir, nil)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if report.Head.Sequence < acknowledged {
			t.Fatalf("round %d: record %d was acknowledged, the log ends with %d", round, acknowledged, report.Head.Sequence)
		}
		log := openLog(t, dir, small)
		at, err := log.Offset("nats")
		if err != nil || at > log.Head().Sequence {
			t.Fatalf("round %d: offset %d beyond the head %d, error %v", round, at, log.Head().Sequence, err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		if acknowledged < before {
			t.Fatalf("round %d: acknowledged %d after %d", round, acknowledged, before)
		}
		before = acknowledged
	}
	if before < events.Sequence(80*rounds) {
		t.Errorf("only %d records in %d rounds: the child does too little", before, rounds)
	}
}

// runAndKill starts the child, kills it after it printed that many lines, and returns the last line's number.
func runAndKill(t *testing.T, dir string, words int) events.Sequence {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childEnv+"="+dir)
	var stderr bytes.Buffer
	child.Stderr = &stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var last events.Sequence
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		n, err := strconv.ParseUint(lines.Text(), 10, 64)
		if err != nil {
			break // the last line was cut short
		}
		last = events.Sequence(n)
		if words--; words == 0 {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := child.Wait(); words > 0 {
		t.Fatalf("the child ended by itself: %v: %s", err, stderr.String())
	}
	return last
}

// TestTornCommit writes only some pages of a commit to the disk, as a crash would leave them.
func TestTornCommit(t *testing.T) {
	dir := t.TempDir()
	log := openLog(t, dir, small)
	w := storetest.NewWriter(t, log)
	w.Create()
	for n := range 60 {
		w.Durable(storetest.Pod("job-a", n), storetest.Pod("job-b", n))
	}
	before, beforeAll := copyDir(t, dir), records(t, log)
	w.Durable(storetest.Pod("job-a", 61), storetest.Text("job-c", 9000), storetest.Pod("job-b", 61))
	after, afterAll := copyDir(t, dir), records(t, log)
	name := filepath.Base(files(t, dir, ".db")[0])
	read := func(dir string) []byte {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	old, new := read(before), read(after)
	new = append(new, make([]byte, max(0, len(old)-len(new)))...)
	old = append(old, make([]byte, max(0, len(new)-len(old)))...)
	var changed []int64 // pages that the commit wrote; the meta page among them
	meta := int64(-1)
	for p := range int64(len(old)) / pageSize {
		if !bytes.Equal(old[p*pageSize:][:pageSize], new[p*pageSize:][:pageSize]) {
			if changed = append(changed, p); p < 2 {
				meta = p
			}
		}
	}
	if len(changed) < 4 || meta < 0 {
		t.Fatalf("the commit changed the pages %v, want at least data, path and meta", changed)
	}
	random := rand.New(rand.NewPCG(8, 9))
	build := func(pages func(p int64) bool, garble func(content []byte)) string {
		content := bytes.Clone(old)
		for _, p := range changed {
			if pages(p) {
				copy(content[p*pageSize:], new[p*pageSize:][:pageSize])
			}
		}
		if garble != nil {
			garble(content)
		}
		c := copyDir(t, before)
		if err := os.WriteFile(filepath.Join(c, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
		return c
	}
	for range 40 { // some pages of data reached the disk, the meta page did not
		c := build(func(p int64) bool { return p >= 2 && random.IntN(2) == 0 }, nil)
		if judge(t, "data in part, meta not written", c, beforeAll) != harmless {
			t.Error("a commit that did not end is reported as corrupt")
		}
	}
	for cut := int64(0); cut < 80; cut += 3 { // all data reached the disk, the meta page is torn
		c := build(func(p int64) bool { return p >= 2 }, func(content []byte) {
			copy(content[meta*pageSize:], new[meta*pageSize:][:cut])
		})
		want := beforeAll
		if bytes.Equal(old[meta*pageSize+cut:][:80-cut], new[meta*pageSize+cut:][:80-cut]) {
			want = afterAll // the missing bytes are the same in both meta pages
		}
		if judge(t, "meta torn", c, want) != harmless {
			t.Error("a torn meta page is reported as corrupt")
		}
	}
	// The disk lied: the meta page is there, but a page that it refers to is not. That breaks our assumptions (doc.go).
	// Either it is found, or the log is as it was at an earlier commit, and never anything else.
	found := 0
	for _, p := range changed {
		if p < 2 {
			continue
		}
		c := build(func(q int64) bool { return q != p }, nil)
		report, err := boltlog.Verify(context.Background(), c, nil)
		if corrupt(t, "meta without page "+itoa(p), err) == detected {
			found++
			continue
		}
		reader, err := boltlog.OpenReadOnly(c)
		if err != nil {
			t.Fatal(err)
		}
		readAll(t, "meta without page "+itoa(p), reader, afterAll[:report.Records])
		if err := reader.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if found == 0 {
		t.Error("a commit whose data is missing is not found")
	}
	if judge(t, "the whole commit", build(func(int64) bool { return true }, nil), afterAll) != harmless {
		t.Error("the whole commit is reported as corrupt")
	}
}

// TestLossAfterCloseIsFound damages the newest meta page of a closed log. bbolt goes back by a commit; we report
// damage.
func TestLossAfterCloseIsFound(t *testing.T) {
	dir, all := written(t, 50)
	path := files(t, dir, ".db")
	found := 0
	for page := range int64(2) {
		c := copyDir(t, dir)
		flip(t, filepath.Join(c, filepath.Base(path[len(path)-1])), page*pageSize+40, 1)
		if judge(t, "flip meta "+itoa(page), c, all) == detected {
			found++
		}
	}
	if found != 1 {
		t.Errorf("damage in %d of the two meta pages was found, want that in the newer one", found)
	}
}
