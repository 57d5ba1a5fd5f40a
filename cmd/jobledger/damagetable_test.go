package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
)

// damageRows are the kinds of damage in the table of docs/format.md. Each is tried several times, each time in another
// place.
var damageRows = []struct {
	what  string
	tries int
	do    func(*patient)
}{
	{"a bit of a meta page: packed file", 6, flips((*patient).packed, "meta")},
	{"a bit of a meta page: sealed file", 6, flips((*patient).plain, "meta")},
	{"a bit of a meta page: tail", 8, flips((*patient).tail, "meta")},
	{"a bit of a page's header: packed file", 6, flips((*patient).packed, "header")},
	{"a bit of a page's header: sealed file", 6, flips((*patient).plain, "header")},
	{"a bit of a page's header: tail", 6, flips((*patient).tail, "header")},
	{"a bit of a page's content: packed file", 12, flips((*patient).packed, "content")},
	{"a bit of a page's content: sealed file", 12, flips((*patient).plain, "content")},
	{"a bit of a page's content: tail", 12, flips((*patient).tail, "content")},
	{"a bit of space not in use yet: tail", 3, flips((*patient).tail, "unused")},
	{"a page of zeros: packed file", 4, zeroed((*patient).packed)},
	{"a page of zeros: sealed file", 4, zeroed((*patient).plain)},
	{"a page of zeros: tail", 4, zeroed((*patient).tail)},
	{"two pages of a file swapped", 4, swappedPages},
	{"half of a packed file missing", 1, cutTo((*patient).packed, func(n int) int { return n / 2 })},
	{"half of a sealed file missing", 1, cutTo((*patient).plain, func(n int) int { return n / 2 })},
	{"half of the tail missing", 1, cutTo((*patient).tail, func(n int) int { return n / 8 })},
	{"an empty file: sealed file", 1, cutTo((*patient).plain, func(int) int { return 0 })},
	{"an empty file: tail", 1, cutTo((*patient).tail, func(int) int { return 0 })},
	{"the first file missing", 1, gone((*patient).first)},
	{"a middle file missing", 1, gone((*patient).plain)},
	{"the last file missing", 1, gone((*patient).tail)},
	{"two files swapped", 1, swappedFiles},
	{"a stray file: empty", 1, stray(func(*patient) []byte { return nil })},
	{"a stray file: a file of the log under another name", 1, stray(func(p *patient) []byte { return p.read(p.first()) })},
	{"a stray file: of another log", 1, stray(foreign)},
	{"a file of another log in the place of one", 1, func(p *patient) { p.write(p.plain(), foreign(p)) }},
	{"a record changed, with the right checksum: packed file", 6, rewrittenBlock},
	{"a record changed, with the right checksum: sealed file", 1, rewritten((*patient).plain)},
	{"a record changed, with the right checksum: tail", 1, rewritten((*patient).tail)},
	{"the log written again with other nodes", 1, forged()},
	{"the same, and `HEAD` as it was", 1, forged("HEAD")},
	{"the whole directory as it was earlier", 1, back()},
	{"the same, and `CLOSED` as it was", 1, back("CLOSED")},
	{"the same, and `HEAD` as it was", 1, back("HEAD")},
	{"the same, and a later snapshot", 1, back("*.snap")},
	{"the same, and later lists of Jobs", 1, back("*.jobs")},
	{"newest meta page damaged, after a crash", 2, crashed},
	{"newest meta page damaged, after a stop in good order", 2, newestMeta},
	{"`.idx` damaged", 6, sideFile("*.idx", "flipped")},
	{"`.idx` missing", 1, sideFile("*.idx", "gone")},
	{"`.idx` missing, and a page of zeros: packed file", 2, func(p *patient) { sideFile("*.idx", "gone")(p); zeroed((*patient).packed)(p) }},
	{"`.idx` of another file", 1, swapped("*.idx")},
	{"`.jobs` damaged", 6, sideFile("*.jobs", "flipped")},
	{"`.jobs` missing", 1, sideFile("*.jobs", "gone")},
	{"`.jobs` of another file", 1, swapped("*.jobs")},
	{"`.jobs` missing, and a page of zeros: packed file", 2, func(p *patient) { sideFile("*.jobs", "gone")(p); zeroed((*patient).packed)(p) }},
	{"`.snap` damaged", 4, sideFile("*.snap", "flipped")},
	{"`.snap` missing", 1, sideFile("*.snap", "gone")},
	{"`HEAD` damaged", 3, sideFile("HEAD", "flipped")},
	{"`HEAD` missing", 1, sideFile("HEAD", "gone")},
	{"`CLOSED` damaged", 3, sideFile("CLOSED", "flipped")},
	{"`CLOSED` missing", 1, sideFile("CLOSED", "gone")},
	{"`KEY` damaged", 1, sideFile("KEY", "flipped")},
	{"`KEY` cut", 1, sideFile("KEY", "cut")},
	{"`KEY` missing", 1, sideFile("KEY", "gone")},
	{"`LOCK` missing", 1, sideFile("LOCK", "gone")},
	{"a consumer's offset damaged", 1, flippedOffset},
	{"a consumer's offset beyond the head", 1, offset},
	{"a stray file: a pipe", 1, oddBeside(pipe)},
	{"a stray file: a link to nowhere", 1, oddBeside(dangling)},
	{"a stray file: a directory", 1, oddBeside(subdirectory)},
	{"a stray file: 3 GB of holes", 1, oddBeside(sparse)},
	{"a pipe in the place of a file", 1, oddInstead((*patient).plain, pipe)},
	{"a pipe in the place of the tail", 1, oddInstead((*patient).tail, pipe)},
	{"a link to nowhere in the place of a file", 1, oddInstead((*patient).plain, dangling)},
	{"a link in the place of a file, to where that is now", 1, linkInstead},
	{"3 GB of holes in the place of a file", 1, oddInstead((*patient).plain, sparse)},
	{"`HEAD`, `CLOSED`: pipes", 1, func(p *patient) { oddSideFiles("HEAD", pipe)(p); oddSideFiles("CLOSED", pipe)(p) }},
	{"`HEAD`, `CLOSED`: 3 GB of holes", 1, func(p *patient) { oddSideFiles("HEAD", sparse)(p); oddSideFiles("CLOSED", sparse)(p) }},
	{"`LOCK`: a pipe", 1, oddSideFiles("LOCK", pipe)},
	{"`KEY`: a pipe", 1, oddSideFiles("KEY", pipe)},
	{"`.snap`: pipes", 1, oddSideFiles("*.snap", pipe)},
	{"`.snap`: 3 GB of holes", 1, oddSideFiles("*.snap", sparse)},
	{"`.idx`: pipes", 1, oddSideFiles("*.idx", pipe)},
	{"`.idx`: 3 GB of holes", 1, oddSideFiles("*.idx", sparse)},
	{"`.jobs`: pipes", 1, oddSideFiles("*.jobs", pipe)},
	{"`.jobs`: 3 GB of holes", 1, oddSideFiles("*.jobs", sparse)},
}

// The verdicts.
const (
	foundAndNamed = "found and named"
	foundByVerify = "found by `verify`"
	harmless      = "harmless"
	outsideHead   = "found only with an outside head"
	silent        = "SILENT"
)

// judged is the result for one damaged log.
type judged struct {
	verify, events, get, replay, run string
	readable                         int // percent of all records
	verdict                          string
	why                              string // it is silent
}

// healthy is the log before the damage, with the answers of commands.
type healthy struct {
	dir     string
	head    store.Head
	lines   map[events.Sequence]string // as events shows them
	files   map[string][2]events.Sequence
	gets    map[string]string // what get says, by what stands behind it
	since   string            // a time in the first half
	recent  int               // how many records there are since
	records []events.Record
}

func newHealthy(t *testing.T, dir string) *healthy {
	t.Helper()
	h := &healthy{dir: dir, gets: map[string]string{}, files: map[string][2]events.Sequence{}}
	log, err := boltlog.OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		h.records = append(h.records, r)
	}
	h.head = log.Head()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	h.lines, _ = shown(command("events", "--log", dir, "-o", "json"))
	if len(h.lines) != len(h.records) {
		t.Fatalf("events shows %d of %d records", len(h.lines), len(h.records))
	}
	last := h.head.Sequence
	for _, path := range slices.Backward(dbFiles(t, dir)) {
		h.files[filepath.Base(path)] = [2]events.Sequence{firstOf(path), last}
		last = firstOf(path) - 1
	}
	ask := []string{"jobs -A -o json"}
	for n := 1; n < seasonJobs; n += 5 {
		name := fmt.Sprintf("job/job-%02d", n)
		ask = append(ask, name)
		if n%10 == 1 { // in the middle of its life
			mine := slices.DeleteFunc(slices.Clone(h.records), func(r events.Record) bool { return r.Stream != jobStream(1+n) })
			ask = append(ask, fmt.Sprintf("%s --at %d", name, mine[len(mine)/2].Sequence))
		}
	}
	for _, what := range ask {
		r := get(dir, what)
		if r.code != 0 {
			t.Fatalf("get %s: %s", what, r.err)
		}
		h.gets[what] = r.out
	}
	h.since = h.records[len(h.records)/4].Time.Go().UTC().Format(time.RFC3339Nano)
	recent, _ := shown(command("events", "--log", dir, "-o", "json", "--since", h.since))
	if h.recent = len(recent); h.recent < len(h.records)/2 {
		t.Fatalf("%d of %d records are since %s", h.recent, len(h.records), h.since)
	}
	return h
}

// get asks for Jobs.
func get(dir, what string) typed {
	return command(append(append([]string{"get"}, strings.Fields(what)...), "--log", dir)...)
}

// jobStream is that of the Job of that number.
func jobStream(number int) events.Stream {
	return events.JobStream(types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", number)))
}

func dbFiles(t *testing.T, dir string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*.db"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func firstOf(path string) events.Sequence {
	n, _ := strconv.ParseUint(strings.TrimSuffix(filepath.Base(path), ".db"), 10, 64)
	return events.Sequence(n)
}

// shown returns the lines of events -o json by their sequences, without the names of Jobs, which come from earlier
// records. Whole is false if a line cannot be read.
func shown(r typed) (lines map[events.Sequence]string, whole bool) {
	lines, whole = map[events.Sequence]string{}, true
	for line := range strings.Lines(r.out) {
		var seen map[string]json.RawMessage
		var at events.Sequence
		if strings.HasPrefix(line, `{"damage":`) { // the last line of a listing that met some
			continue
		}
		if json.Unmarshal([]byte(line), &seen) != nil || json.Unmarshal(seen["sequence"], &at) != nil {
			whole = false
			continue
		}
		for _, name := range []string{"job", "namespace", "name"} {
			delete(seen, name)
		}
		plain, err := json.Marshal(seen)
		whole = whole && err == nil
		lines[at] = string(plain)
	}
	return lines, whole
}

// namedInJSON matches the damage that an answer in JSON names.
var namedInJSON = regexp.MustCompile(`,\n  "damage": \[\n(    .*\n)*  \]`)

// judge looks at a damaged log with every command.
func (h *healthy) judge(p *patient) (j judged) {
	dir, hurt := p.dir, p.hurt
	whole, told := true, true // what is shown is all there was; where it is not, it is said
	panicked := false
	note := func(what string, r typed, same bool) {
		switch {
		case r.panicked != nil:
			whole, told, panicked = false, false, true
			j.why += fmt.Sprintf("%s panics: %v; ", what, r.panicked)
		case same && r.code == 0:
		case r.code != 0 && r.err+r.out != "":
			whole = false
		default:
			whole, told = false, false
			j.why += fmt.Sprintf("%s shows something else and says nothing; ", what)
		}
	}
	verify := command("verify", "--log", dir)
	j.verify = "whole"
	switch {
	case verify.code != 0:
		j.verify = "names it"
	case strings.Contains(strings.ReplaceAll(verify.out, "note: the snapshot of record", ""), "note: "): // that one is always said
		j.verify = "whole; notes it"
	}
	note("verify", verify, true)

	read := map[events.Sequence]bool{}
	wrong := false
	look := func(args ...string) typed {
		r := command(append([]string{"events", "--log", dir, "-o", "json"}, args...)...)
		lines, clean := shown(r)
		for at, line := range lines {
			if h.lines[at] == line {
				read[at] = true
			} else {
				wrong = true
			}
		}
		wrong = wrong || !clean
		return r
	}
	all := look()
	note("events", all, len(read) == len(h.lines) && !wrong)
	before := len(read)
	for name := range h.files {
		r := look("--from", fmt.Sprint(h.files[name][0]))
		if r.panicked != nil {
			note("events --from", r, false)
		}
	}
	since := command("events", "--log", dir, "-o", "json", "--since", h.since)
	recent, clean := shown(since)
	for at, line := range recent {
		clean = clean && h.lines[at] == line
	}
	note("events --since", since, clean && len(recent) == h.recent)
	wrong = wrong || !clean
	switch {
	case wrong:
		j.events = "shows other records"
	case len(read) == len(h.lines) && all.code == 0:
		j.events = "all"
	case len(read) > before:
		j.events = "ends there, goes on behind it"
	case all.code != 0 && len(read) == len(h.lines):
		j.events = "all, says it"
	case all.code != 0:
		j.events = "ends there, says so"
	default:
		j.events = "less"
	}
	j.readable = 100 * len(read) / len(h.lines)
	others, readOthers := 0, 0
	for name, span := range h.files {
		for at := span[0]; at <= span[1] && hurt != allFiles && !strings.Contains(hurt, name); at++ {
			others++
			if read[at] {
				readOthers++
			}
		}
	}

	same, missing, saying := 0, 0, 0
	for _, name := range slices.Sorted(maps.Keys(h.gets)) {
		r := get(dir, name)
		r.out = namedInJSON.ReplaceAllString(r.out, "")
		note("get "+name, r, r.out == h.gets[name])
		switch {
		case r.code == 0 && r.out == h.gets[name]:
			same++
		case r.out == h.gets[name]:
			saying, missing = saying+1, missing+1
		case r.code != 0:
			missing++
		}
	}
	switch {
	case same == len(h.gets):
		j.get = "as before"
	case saying == len(h.gets):
		j.get = "as before, says it"
	case same+missing == len(h.gets):
		j.get = "says what is missing"
	default:
		j.get = "other states"
	}

	replayed := command("replay", "--log", dir)
	note("replay", replayed, true)
	j.replay = "no difference"
	if replayed.code != 0 {
		j.replay = "says it"
	}

	has := command("verify", "--log", dir, "--has", fmt.Sprintf("%d:%s", h.head.Sequence, h.head.Hash)) // before run changes anything
	started := start(dir)
	j.run = "starts"
	if started.code != 0 {
		j.run = "refuses"
	}
	note("run", started, true)

	switch {
	case whole:
		j.verdict = harmless
	case j.why == "" && told && verify.code != 0, wrong && verify.code != 0 && told:
		j.verdict = foundAndNamed
	case p.forged && verify.code != 0 && replayed.code != 0 && !panicked: // readers know the chain of what they read from its beginning on
		j.verdict = foundByVerify
	case has.code != 0 && verify.code == 0:
		j.verdict = outsideHead
	case j.verify == "whole; notes it" && told:
		j.verdict = foundAndNamed
	default:
		j.verdict = silent
		j.why += fmt.Sprintf("verify: %d %s; events: %d; get: %s; replay: %d; run: %d %s", verify.code, verify.out, all.code, j.get, replayed.code, started.code, started.err)
	}
	if j.verdict != outsideHead && 100*readOthers < 99*others {
		j.verdict = silent
		j.why += fmt.Sprintf("%d of %d records of the other files can be read", readOthers, others)
	}
	return j
}

// start opens a log as a controller does, up to the point where a cluster is needed.
func start(dir string) (r typed) {
	defer func() { r.panicked = recover() }()
	log, err := boltlog.Open(dir, store.Options{RotateBytes: smallFiles.RotateBytes})
	if err == nil {
		_, err = loop.Recover(context.Background(), log)
		_, _, bad := log.Key()
		err = errors.Join(err, bad, log.Close())
	}
	if err != nil {
		r.err, r.code = err.Error(), 1
	}
	return r
}

// TestDamageTable damages a log in every way of the table, runs every command on it, and compares the results with the
// table in docs/format.md; -update rewrites it. No damage may stay silent, no command may panic, and the records in
// files without damage can be read.
func TestDamageTable(t *testing.T) {
	effort.Whole(t)
	base := t.TempDir()
	dir, older, other := filepath.Join(base, "log"), filepath.Join(base, "older"), filepath.Join(base, "other")
	makeSeason(t, dir, older, seasonJobs)
	listJobs(t, dir)
	makeOther(t, other)
	h := newHealthy(t, dir)
	var table bytes.Buffer
	table.WriteString("| Damage | `verify` | `events` | `get` | `replay` | `run` | Readable | |\n|---|---|---|---|---|---|---|---|\n")
	all := make([][]judged, len(damageRows))
	t.Run("rows", func(t *testing.T) {
		for n, row := range damageRows {
			t.Run(row.what, func(t *testing.T) {
				t.Parallel()
				for try := range row.tries {
					p := &patient{
						t: t, dir: filepath.Join(t.TempDir(), "patient"), r: rand.New(rand.NewPCG(uint64(n), uint64(try))),
						records: slices.Clone(h.records), older: older, other: other,
					}
					copyLog(t, dir, p.dir)
					row.do(p)
					j := h.judge(p)
					if j.verdict == silent {
						t.Errorf("try %d: %s", try, j.why)
					}
					all[n] = append(all[n], j)
				}
			})
		}
	})
	for n, row := range damageRows {
		column := func(of func(judged) string) string {
			var said []string
			for _, j := range all[n] {
				if s := of(j); !slices.Contains(said, s) {
					said = append(said, s)
				}
			}
			slices.Sort(said)
			return strings.Join(said, " / ")
		}
		least := slices.MinFunc(all[n], func(a, b judged) int { return a.readable - b.readable }).readable
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %s | %s | %d %% | %s |\n", row.what,
			column(func(j judged) string { return j.verify }), column(func(j judged) string { return j.events }),
			column(func(j judged) string { return j.get }), column(func(j judged) string { return j.replay }),
			column(func(j judged) string { return j.run }), least, column(func(j judged) string { return j.verdict }))
	}
	compareTable(t, table.Bytes())
}

// listJobs makes the lists of Jobs, as a stop in good order does.
func listJobs(t testing.TB, dir string) {
	t.Helper()
	log, err := boltlog.OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	err = joblist.NewKeeper(joblist.Config{Log: log, Files: log.Files, Dir: dir}, nil).Finish(t.Context())
	if err := errors.Join(err, log.Close()); err != nil {
		t.Fatal(err)
	}
}

// makeOther writes another log.
func makeOther(t *testing.T, dir string) {
	t.Helper()
	log, err := boltlog.Open(dir, store.Options{LogID: strings.Repeat("f", 32)})
	if err != nil {
		t.Fatal(err)
	}
	season(t, log, 3, nil)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

const (
	tableBegins = "<!-- damage table: written by 'go test ./cmd/jobledger -run TestDamageTable -update' -->\n"
	tableEnds   = "<!-- end of the damage table -->\n"
)

func compareTable(t *testing.T, table []byte) {
	t.Helper()
	path := filepath.Join("..", "..", "docs", "format.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := bytes.Cut(page, []byte(tableBegins))
	was, after, ends := bytes.Cut(rest, []byte(tableEnds))
	if !begins || !ends {
		t.Fatalf("%s has no place for the damage table", path)
	}
	if bytes.Equal(was, table) {
		return
	}
	if !*update || t.Failed() {
		t.Errorf("the damage table in %s is another one ('make damage UPDATE=1' writes it):\n%s", path, table)
		return
	}
	if err := os.WriteFile(path, slices.Concat(before, []byte(tableBegins), table, []byte(tableEnds), after), 0o600); err != nil {
		t.Fatal(err)
	}
}
