package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/internal/dev/effort"
)

// TestEveryReadingCommandIsAsked: a new command that reads a log needs questions here.
func TestEveryReadingCommandIsAsked(t *testing.T) {
	names := readingCommands()
	if len(names) < 10 {
		t.Errorf("only %v read a log", names)
	}
	for _, name := range names {
		if len(questions[name]) == 0 {
			t.Errorf("%s reads a log, and is not asked of damaged ones: add it to questions", name)
		}
	}
}

// hurts are the kinds of damage under which answers are checked. The damaged file is in the middle of the log.
var hurts = []struct {
	what     string
	tries    int  // in the short form; ten times as many in the long one
	harmless bool // the answers are as before
	do       func(*patient, string)
}{
	{"missing", 1, false, func(p *patient, file string) { p.remove(file) }},
	{"empty", 1, false, func(p *patient, file string) { p.write(file, nil) }},
	{"cut", 1, false, func(p *patient, file string) { content := p.read(file); p.write(file, content[:len(content)/2]) }},
	{"swapped with the next", 1, false, func(p *patient, file string) {
		all := p.files()
		next := all[slices.Index(all, file)+1]
		a, b := p.read(file), p.read(next)
		p.write(file, b)
		p.write(next, a)
	}},
	{"of another log", 1, false, func(p *patient, file string) { p.write(file, foreign(p)) }},
	{"a page of zeros", 2, false, func(p *patient, file string) { zeroed(func(*patient) string { return file })(p) }},
	{"a bit of a page", 2, false, func(p *patient, file string) { flips(func(*patient) string { return file }, "content")(p) }},
	{"a page of zeros, and no index", 1, false, func(p *patient, file string) {
		p.remove(strings.TrimSuffix(file, ".db") + ".idx")
		zeroed(func(*patient) string { return file })(p)
	}},
	{"a page of zeros, and no list", 1, false, func(p *patient, file string) {
		p.remove(strings.TrimSuffix(file, ".db") + ".jobs")
		zeroed(func(*patient) string { return file })(p)
	}},
	{"missing with its list, and the one behind the next", 1, false, func(p *patient, file string) {
		all := p.files()
		p.remove(strings.TrimSuffix(file, ".db") + ".jobs")
		p.remove(all[slices.Index(all, file)+2])
		p.remove(file)
	}},
	{"the first file missing", 1, false, func(p *patient, _ string) { p.remove(p.first()) }},
	{"the last file missing", 1, false, func(p *patient, _ string) { p.remove(p.tail()) }},
	{"the list missing", 1, true, func(p *patient, file string) { p.remove(strings.TrimSuffix(file, ".db") + ".jobs") }},
	{"the lists missing", 1, true, func(p *patient, _ string) { sideFile("*.jobs", "gone")(p) }},
	{"the lists missing and made again", 1, true, func(p *patient, _ string) { sideFile("*.jobs", "gone")(p); listJobs(p.t, p.dir) }},
	{"the lists changed", 2, true, func(p *patient, _ string) { sideFile("*.jobs", "flipped")(p) }},
	{"the lists swapped", 1, true, func(p *patient, _ string) { swapped("*.jobs")(p) }},
}

// namesDamage matches the report of damage on stderr.
var namesDamage = regexp.MustCompile(`(?m)^damage: |log is corrupt`)

// TestNoAnswerHidesDamage runs every command that reads a log on logs with a damaged file, from the directory and
// through a port. It asks about Jobs before the damage, in it, behind it and across it. Either an answer is that of the
// whole log, or the command fails, names the damage, and does not claim to be complete. The short form asks each
// question of about every third log, the long one (JOBLEDGER_LONG) all questions of all logs.
func TestNoAnswerHidesDamage(t *testing.T) {
	base := t.TempDir()
	dir, other := filepath.Join(base, "log"), filepath.Join(base, "other")
	makeWork(t, dir)
	makeOther(t, other)
	files := dbFiles(t, dir)
	file := files[len(files)/2]
	asked := newAskedLog(t, dir, file)
	long := effort.IsLong()
	for n, row := range hurts {
		tries := row.tries
		if long {
			tries *= 10
		}
		for try := range tries {
			t.Run(fmt.Sprintf("%s/%d", row.what, try), func(t *testing.T) {
				t.Parallel()
				p := &patient{t: t, dir: filepath.Join(t.TempDir(), "patient"), r: rand.New(rand.NewPCG(uint64(n), uint64(try))), other: other}
				copyLog(t, dir, p.dir)
				row.do(p, filepath.Join(p.dir, filepath.Base(file)))
				asked.judge(t, p.dir, "--log="+p.dir, row.harmless, func(i int) bool { return long || i%6 == (n+try)%6 })
				if url := port(t, p.dir); url != "" {
					asked.judge(t, p.dir, "--server="+url, row.harmless, func(i int) bool { return long || i%6 == (n+try+3)%6 })
				}
			})
		}
	}
}

// judge asks the questions with wanted numbers.
func (a *askedLog) judge(t *testing.T, dir, from string, harmless bool, wanted func(int) bool) {
	t.Helper()
	for i, q := range a.questions {
		if !wanted(i) {
			continue
		}
		r := command(append(strings.Fields(q), from)...)
		if why := a.wrong(q, r, harmless); why != "" {
			t.Errorf("%s %s: %s\nexit %d\n%.1500s\n%.600s", q, strings.ReplaceAll(from, dir, "DIR"), why, r.code, r.out, r.err)
		}
	}
}

// wrong returns what is wrong with an answer; empty when nothing is.
func (a *askedLog) wrong(q string, r typed, harmless bool) string {
	same := r.out == a.whole[q].out || strings.HasPrefix(q, "replay") // which says what it did not check
	switch {
	case r.panicked != nil:
		return fmt.Sprintf("it panics: %v", r.panicked)
	case r.code == 0 && same:
		return ""
	case r.code == 0:
		return "it says something else, and no word of damage"
	case harmless:
		return "it fails, and nothing is wrong with the records"
	case !namesDamage.MatchString(r.err):
		return "it fails, and does not name the damage"
	case strings.Contains(r.out, "history complete"):
		return "it claims that the history is complete"
	case strings.Contains(q, "-o json") && strings.HasPrefix(r.out, "{"):
		if strings.HasPrefix(q, "events") { // a line each: the last one names it
			lines := strings.Split(strings.TrimSpace(r.out), "\n")
			r.out = lines[len(lines)-1]
		}
		var answer struct {
			Damage []string `json:"damage"`
		}
		if err := json.Unmarshal([]byte(r.out), &answer); err != nil {
			return fmt.Sprintf("the answer is no JSON: %v", err)
		}
		if len(answer.Damage) == 0 {
			return "the JSON does not name the damage"
		}
	case strings.Contains(q, "-o md") && r.out != "" && !strings.Contains(r.out, "damage"):
		return "the text does not name the damage"
	}
	return ""
}
