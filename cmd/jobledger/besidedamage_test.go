package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store/boltlog"
)

// TestAnswersBesideDamage: answers have all records before and behind a damaged file, and nothing false about the rest.
func TestAnswersBesideDamage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	makeWork(t, dir)
	files := dbFiles(t, dir)
	middle := files[len(files)/2]
	within := jobWithin(t, dir, middle)
	hurt := map[string]func(p *patient, file string){
		"missing": func(p *patient, file string) { p.remove(file) },
		"zeroed":  func(p *patient, file string) { p.clear(file) },
		"two": func(p *patient, file string) { // one on each side
			i := slices.Index(p.files(), file)
			p.remove(p.files()[i+1])
			p.remove(p.files()[i-2])
		},
		"first": func(p *patient, _ string) { p.remove(p.first()) },
		"tail":  func(p *patient, _ string) { content := p.read(p.tail()); p.write(p.tail(), content[:len(content)/8]) },
	}
	for _, row := range []struct {
		hurt, ask  string
		says, lies []string
	}{
		{"missing", "replay", nil, []string{"is not what the records give"}},
		{"zeroed", "replay", nil, []string{"is not what the records give"}},
		{"first", "plan", []string{"default/CronJob nightly    12    jobledger"}, []string{"built-in"}},
		{"missing", "ticks cronjob/nightly", []string{"nightly-29558010", "nightly-29558130"}, nil},
		{"missing", "ticks cronjob/nightly --tail 3", []string{"nightly-29558110", "nightly-29558130"}, []string{"nightly-29558100"}},
		{"zeroed", "ticks cronjob/nightly -o json", []string{"nightly-29558010", "nightly-29558130", `"damage"`}, nil},
		{"tail", "ticks cronjob/nightly", []string{"nightly-29558010", "nightly-29558120"}, nil},
		{"missing", "explain cronjob/nightly", []string{"nightly-29558130", "due times started"}, []string{"no due time is known"}},
		{"missing", "why-not cronjob/nightly 2026-03-15T10:00", []string{"nothing was decided about it yet"}, nil},
		{"zeroed", "why-not cronjob/nightly 2026-03-15T10:00", []string{"nothing was decided about it yet"}, nil},
		{"tail", "why-not cronjob/nightly 2026-03-15T10:00", nil, []string{"nothing was decided about it yet"}},
		{"tail", "next cronjob/nightly --after 2026-03-20T00:00", []string{"2026-03-20 00:10"}, nil},
		{"zeroed", "attempts job/" + within, []string{"in the records that can be read"}, []string{"0 tries"}},
		{"two", "attempts job/" + within, []string{"1 try · 1 succeeded"}, []string{"that can be read"}},
		{"zeroed", "attempts job/" + within + " -o json", []string{`"items": []`}, []string{"null"}},
		{"zeroed", "get job/" + within, []string{"Pods: not known"}, []string{"0 succeeded"}},
		{"zeroed", "explain job/" + within, []string{"as the records that say so are damaged"}, []string{"pruned"}},
		{"first", "explain job/job-00", []string{"DAMAGED from record 1 to 68"}, []string{"what follows is not told", "pruned"}},
		{"zeroed", "timeline job/long", []string{"what its pods did then is not drawn"}, nil},
		{"zeroed", "events job/long", []string{"--from 514"}, nil},
		{"missing", "get job/long", nil, []string{"from 0"}},
		{"tail", "get job/job-23", []string{"find job/job-23: it is not in what can be read"}, []string{"default/job:"}},
	} {
		t.Run(row.hurt+"/"+row.ask, func(t *testing.T) {
			p := &patient{t: t, dir: filepath.Join(t.TempDir(), "patient"), r: rand.New(rand.NewPCG(1, 1))}
			copyLog(t, dir, p.dir)
			hurt[row.hurt](p, filepath.Join(p.dir, filepath.Base(middle)))
			r := command(append(strings.Fields(row.ask), "--log", p.dir)...)
			text := strings.Join(strings.Fields(r.out+r.err), " ")
			if r.panicked != nil || r.code != 1 {
				t.Errorf("exit %d, panic %v", r.code, r.panicked)
			}
			lacks := slices.DeleteFunc(slices.Clone(row.says), func(s string) bool { return strings.Contains(text, strings.Join(strings.Fields(s), " ")) })
			lies := slices.DeleteFunc(slices.Clone(row.lies), func(s string) bool { return !strings.Contains(text, s) })
			if len(lacks)+len(lies) > 0 {
				t.Errorf("it lacks %q, and says %q:\n%s\n%s", lacks, lies, r.out, r.err)
			}
		})
	}
}

// TestPrunedAndDamaged: an answer says that a log is pruned if a later file of it is missing, and not if the first file
// is.
func TestPrunedAndDamaged(t *testing.T) {
	for _, row := range []struct {
		gone int
		says bool
	}{{1, true}, {0, false}} {
		dir := filepath.Join(t.TempDir(), "log")
		makeSeason(t, dir, "", 24)
		pruneTo(t, dir, 1, 3)
		files := dbFiles(t, dir)
		if err := os.Remove(files[row.gone]); err != nil {
			t.Fatal(err)
		}
		note := fmt.Sprintf("note: pruned before %d:", firstOf(files[0]))
		if r := command("plan", "--log", dir); r.code != 1 || strings.Contains(r.err, note) != row.says || strings.Contains(r.err, "note: pruned") != row.says {
			t.Errorf("file %d of %d is gone: exit %d, %s", row.gone, len(files), r.code, r.err)
		}
	}
}

// jobWithin returns the name of a Job that was added in that file of a log.
func jobWithin(t *testing.T, dir, file string) (name string) {
	t.Helper()
	log, err := boltlog.OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	for r, err := range log.Read(t.Context(), firstOf(file)) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind == events.KindJobAdded {
			return r.Evidence.Name
		}
	}
	t.Fatalf("no Job was added in %s", file)
	return ""
}

// clear overwrites all pages of a file except the meta pages.
func (p *patient) clear(file string) {
	content := p.read(file)
	for _, at := range p.pages(file) {
		clear(content[at:][:boltPage])
	}
	p.write(file, content)
}
