package duetimes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/store"
)

// verdictOf is what there is to say of an instant, without its neighbours.
func verdictOf(c *CronJob, t time.Time) string {
	v := c.At(t)
	text := fmt.Sprintf("open %t %s future %t passed %t unseen %t", v.Open, v.Hold, v.Future, v.Passed, v.Unseen)
	if v.Entry != nil {
		text += fmt.Sprintf(" %s #%d %s to %s", v.Entry.Fate, v.Entry.Record, clock(v.Entry.First), clock(v.Entry.Last))
	}
	if v.Run != nil {
		text += " " + v.Run.Name
	}
	return text
}

func entriesOf(c *CronJob) (all []string) {
	for i := range c.Entries {
		all = append(all, c.saysEntry(&c.Entries[i]))
	}
	return all
}

// endsWith reports whether entries are the last ones of all.
func endsWith(all, entries []string) bool {
	return len(entries) <= len(all) && slices.Equal(all[len(all)-len(entries):], entries)
}

// ofCronJobs are the CronJobs of a log, with what is told of each when all of it is read, and the times of their first
// and last records.
type ofCronJob struct {
	s        events.Stream
	whole    *CronJob
	own      []events.Record
	from, to events.Time
}

func ofCronJobs(t *testing.T, log store.Reader) (out []*ofCronJob) {
	t.Helper()
	known := map[events.Stream]*ofCronJob{}
	for r, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Stream.Kind != events.StreamCronJob {
			continue
		}
		x := known[r.Stream]
		if x == nil {
			x = &ofCronJob{s: r.Stream, from: r.Time}
			known[r.Stream], out = x, append(out, x)
		}
		x.own, x.to = append(x.own, r), r.Time
	}
	for _, x := range out {
		var err error
		if x.whole, err = Read(t.Context(), history.Local{Log: log}, x.s); err != nil {
			t.Fatal(err)
		}
	}
	if len(out) < 3 {
		t.Fatalf("only %d CronJobs", len(out))
	}
	return out
}

// TestAPartTellsWhatTheWholeTells: who reads the end of a stream, or what is around an instant, is told of that what
// all of the stream tells.
func TestAPartTellsWhatTheWholeTells(t *testing.T) {
	log := historytest.HardCrons(t, 3)
	src := history.Local{Log: log}
	fewer, instants := 0, 0
	for _, x := range ofCronJobs(t, log) {
		all := entriesOf(x.whole)
		for n := range len(all) + 2 {
			c, err := Newest(t.Context(), src, x.s, n)
			if err != nil || !endsWith(all, entriesOf(c)) || len(c.Entries) < min(n, len(all)) {
				t.Fatalf("%s: the newest %d of %d are %d, %v", x.s, n, len(all), len(c.Entries), err)
			}
			if len(c.Entries) < len(all) {
				fewer++
			}
			if from, err := Before(t.Context(), src, x.s, n, 0); err != nil || (from == 0) != (c.Told == 0) {
				t.Fatalf("%s: the newest %d begin with record %d, and are told from %s on, %v", x.s, n, from, clock(c.Told), err)
			}
		}
		for at := x.from.Add(-90 * time.Second); at < x.to.Add(3*time.Minute); at = at.Add(30 * time.Second) {
			due := at.Go().Truncate(30 * time.Second)
			around, err := Around(t.Context(), src, x.s, events.At(due))
			if err != nil {
				t.Fatal(err)
			}
			got, want := verdictOf(around, due), verdictOf(x.whole, due)
			if got != want || around.Gone != x.whole.Gone || around.Seen.Version != x.whole.Seen.Version {
				t.Fatalf("%s: around %s it is %s, gone %s, want %s, %s",
					x.s, due, got, clock(around.Gone), want, clock(x.whole.Gone))
			}
			since, err := Since(t.Context(), src, x.s, at)
			if err != nil || !endsWith(all, entriesOf(since)) {
				t.Fatalf("%s: since %s there are %d of %d, %v", x.s, clock(at), len(since.Entries), len(all), err)
			}
			for i := range x.whole.Entries {
				if e := &x.whole.Entries[i]; e.Last >= at && len(since.Entries) < len(all)-i {
					t.Fatalf("%s: since %s the entry of %s is not there", x.s, clock(at), clock(e.First))
				}
			}
			instants++
		}
		parts, err := Parts(t.Context(), src, x.s)
		if err != nil || len(parts) != 1 || !slices.Equal(entriesOf(parts[0]), all) {
			t.Errorf("%s: %d parts, %v", x.s, len(parts), err)
		}
		x.ofJobs(t, src)
	}
	if fewer == 0 || instants < 50 {
		t.Errorf("%d reads took less than all, %d instants", fewer, instants)
	}
	if _, _, _, err := OfJob(t.Context(), src, events.CronJobStream("nobody"), "x", 5); !errors.Is(err, history.ErrNoCronJob) {
		t.Errorf("of a CronJob that never was: %v", err)
	}
}

// ofJobs asks for what each Job was made.
func (x *ofCronJob) ofJobs(t *testing.T, src history.Source) {
	t.Helper()
	known := map[types.UID]bool{}
	for i := range x.own {
		f, ok := x.own[i].Facts.(*events.RunSeen)
		if !ok || known[f.Job] {
			continue
		}
		known[f.Job] = true
		want := ""
		for k := range x.whole.Entries {
			if x.whole.Entries[k].Job == f.Job {
				want = x.whole.saysEntry(&x.whole.Entries[k])
			}
		}
		c, e, run, err := OfJob(t.Context(), src, x.s, f.Job, x.own[i].Sequence)
		if err != nil || run == nil || run.Job != f.Job {
			t.Fatalf("%s: %s was made for %v, %v", x.s, f.Name, run, err)
		}
		got := ""
		if e != nil {
			got = c.saysEntry(e)
		}
		if cut := func(s string) string { before, _, _ := strings.Cut(s, " by "); return before }; cut(got) != cut(want) {
			t.Errorf("%s: %s was made for %q, want %q", x.s, f.Name, got, want)
		}
	}
}

// TestAPartBesideDamage: whichever record is damaged, or cannot be read this time, what is told of an instant is what
// the whole tells, or an error; and what is told beside damage is told by the whole, too.
func TestAPartBesideDamage(t *testing.T) {
	log := historytest.HardCrons(t, 3)
	told, refused := 0, 0
	for _, x := range ofCronJobs(t, log)[:2] {
		all := entriesOf(x.whole)
		for i := 0; i < len(x.own); i += 1 + len(x.own)/12 {
			at := x.own[i].Sequence
			due := x.own[i].Time.Go().Truncate(time.Minute)
			want := verdictOf(x.whole, due)
			for _, next := range []events.Sequence{at + 1, at + 40} {
				src := history.Local{Log: &historytest.Failing{Reader: log, Bad: func(n events.Sequence) error {
					if at <= n && n < next {
						return &store.CorruptError{Path: "x", At: at, Next: next}
					}
					return nil
				}}}
				c, err := Around(t.Context(), src, x.s, events.At(due))
				switch {
				case err == nil && verdictOf(c, due) != want:
					t.Errorf("%s: with record %d damaged it is told of %s that %s, want %s", x.s, at, due, verdictOf(c, due), want)
				case err == nil:
					told++
				case !errors.Is(err, store.ErrCorrupt):
					t.Error(err)
				default:
					refused++
				}
				newest, err := Newest(t.Context(), src, x.s, 3)
				if newest != nil && err == nil && !endsWith(all, entriesOf(newest)) || newest != nil && !newest.Cut && err != nil && !endsWith(all, entriesOf(newest)) {
					t.Errorf("%s: with record %d damaged the newest are %d entries, %v", x.s, at, len(newest.Entries), err)
				}
				parts, err := Parts(t.Context(), src, x.s)
				var cut []bool
				for _, part := range parts {
					cut = append(cut, part.Cut)
				}
				var isCut []bool
				if i > 0 {
					isCut = append(isCut, true)
				}
				if x.own[len(x.own)-1].Sequence >= next {
					isCut = append(isCut, false)
				}
				if !errors.Is(err, store.ErrCorrupt) || !slices.Equal(cut, isCut) {
					t.Errorf("%s: with record %d damaged, parts are cut: %v, want %v: %v", x.s, at, cut, isCut, err)
				}
				for _, part := range parts {
					for _, e := range part.Entries {
						if !slices.ContainsFunc(x.whole.Entries, func(o Entry) bool { return o.Record == e.Record && o.First == e.First && o.Fate == e.Fate }) {
							t.Errorf("%s: with record %d damaged there is the entry of %s", x.s, at, clock(e.First))
						}
					}
				}
			}
			src := history.Local{Log: &historytest.Failing{Reader: log, Bad: func(n events.Sequence) error {
				if n == at {
					return historytest.ErrRead
				}
				return nil
			}}}
			for name, ask := range map[string]func() (*CronJob, error){
				"Read":   func() (*CronJob, error) { return Read(t.Context(), src, x.s) },
				"Around": func() (*CronJob, error) { return Around(t.Context(), src, x.s, events.At(due)) },
				"Newest": func() (*CronJob, error) { return Newest(t.Context(), src, x.s, 3) },
				"Since":  func() (*CronJob, error) { return Since(t.Context(), src, x.s, x.own[i].Time) },
			} {
				c, err := ask()
				if err == nil && (name == "Read" || !endsWith(all, entriesOf(c)) && name != "Around" || name == "Around" && verdictOf(c, due) != want) {
					t.Errorf("%s: %s does not say that record %d cannot be read", x.s, name, at)
				}
				if err != nil && !errors.Is(err, historytest.ErrRead) {
					t.Errorf("%s: %s: %v", x.s, name, err)
				}
			}
		}
	}
	if told == 0 || refused == 0 {
		t.Errorf("of %d instants it is told, of %d not", told, refused)
	}
}

// TestPartsOfAStreamThatEndsDamaged: each part has records. Where none is left behind the damage the last part is cut,
// and where all are damaged there is no part.
func TestPartsOfAStreamThatEndsDamaged(t *testing.T) {
	log := historytest.HardCrons(t, 3)
	for _, x := range ofCronJobs(t, log)[:2] {
		last := len(x.own) - 1
		for _, row := range []struct {
			from  int // the first that is damaged, through the last
			parts int
		}{{last, 1}, {last - 1, 1}, {len(x.own) / 2, 1}, {0, 0}} {
			src := history.Local{Log: &historytest.Failing{Reader: log, Bad: func(n events.Sequence) error {
				if n < x.own[row.from].Sequence {
					return nil
				}
				return &store.CorruptError{Path: "x", At: n, Next: n + 1}
			}}}
			parts, err := Parts(t.Context(), src, x.s)
			if !errors.Is(err, store.ErrCorrupt) || len(parts) != row.parts {
				t.Errorf("%s: damaged from record %d on there are %d parts, want %d: %v", x.s, row.from, len(parts), row.parts, err)
			}
			for _, c := range parts {
				if c.first == 0 || !c.Cut || c.Seen == nil {
					t.Errorf("%s: damaged from record %d on a part begins with record %d, cut: %t", x.s, row.from, c.first, c.Cut)
				}
			}
		}
	}
	parts, err := Parts(t.Context(), history.Local{Log: log}, events.CronJobStream("nobody"))
	if err != nil || len(parts) != 1 || parts[0].Seen != nil {
		t.Errorf("of a CronJob without records there are %d parts: %v", len(parts), err)
	}
}

// TestAPartOfWhatIsKept: wherever the log begins, what is told is what the whole log tells of the records that are
// kept.
func TestAPartOfWhatIsKept(t *testing.T) {
	log := historytest.HardCrons(t, 3)
	compared := 0
	for r, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind != events.KindStateStored || r.Stream != events.Controller {
			continue
		}
		src := history.Local{Log: historytest.Pruned{Reader: log, First: r.Sequence}}
		for _, x := range ofCronJobs(t, log) {
			want := 0
			for i := range x.whole.Entries {
				if x.whole.Entries[i].Record >= r.Sequence {
					want++
				}
			}
			var c *CronJob
			for name, read := range map[string]func() (*CronJob, error){
				"all":    func() (*CronJob, error) { return Read(t.Context(), src, x.s) },
				"newest": func() (*CronJob, error) { return Newest(t.Context(), src, x.s, 1000) },
				"since":  func() (*CronJob, error) { return Since(t.Context(), src, x.s, x.from) },
			} {
				if c, err = read(); err != nil || !endsWith(entriesOf(x.whole), entriesOf(c)) || len(c.Entries) != want || c.Elsewhere || c.Blind != 0 || c.Cut {
					t.Fatalf("%s from %d on: %s: %d entries, want %d, %v", x.s, r.Sequence, name, len(c.Entries), want, err)
				}
			}
			if err := c.LookBack(t.Context(), src, x.s); err != nil {
				t.Error(err)
			}
			for at := max(c.Told, r.Time).Add(time.Minute); c.Seen != nil && at < x.to.Add(2*time.Minute); at = at.Add(30 * time.Second) {
				if due := at.Go().Truncate(time.Minute); events.At(due) > c.Told {
					if got, want := verdictOf(c, due), verdictOf(x.whole, due); got != want {
						t.Errorf("%s from %d on: of %s it tells %s, want %s", x.s, r.Sequence, due, got, want)
					}
					compared++
				}
			}
		}
	}
	if compared < 20 {
		t.Errorf("only %d instants were compared", compared)
	}
}

// TestAReadThatFailsIsTold: whichever read fails, whatever is asked of a CronJob.
func TestAReadThatFailsIsTold(t *testing.T) {
	log := historytest.HardCrons(t, 3)
	var all []historytest.Question
	for _, x := range ofCronJobs(t, log)[:3] {
		middle := x.own[len(x.own)/2]
		job := x.own[slices.IndexFunc(x.own, func(r events.Record) bool { return r.Kind == events.KindRunSeen })]
		told := func(c *CronJob, err error) (string, error) {
			if c == nil {
				return "", err
			}
			return fmt.Sprint(entriesOf(c), len(c.Untold()), len(c.Changes), c.Elsewhere, c.Blind, c.Now(), verdictOf(c, middle.Time.Go().Truncate(time.Minute))), err
		}
		for name, ask := range map[string]func(ctx context.Context, src history.Source) (string, error){
			"all":    func(ctx context.Context, src history.Source) (string, error) { return told(Read(ctx, src, x.s)) },
			"newest": func(ctx context.Context, src history.Source) (string, error) { return told(Newest(ctx, src, x.s, 2)) },
			"since": func(ctx context.Context, src history.Source) (string, error) {
				return told(Since(ctx, src, x.s, middle.Time))
			},
			"around": func(ctx context.Context, src history.Source) (string, error) {
				return told(Around(ctx, src, x.s, middle.Time))
			},
			"before": func(ctx context.Context, src history.Source) (string, error) {
				from, err := Before(ctx, src, x.s, 2, 0)
				return fmt.Sprint(from), err
			},
			"of a Job": func(ctx context.Context, src history.Source) (string, error) {
				c, e, run, err := OfJob(ctx, src, x.s, job.Facts.(*events.RunSeen).Job, job.Sequence)
				text, err := told(c, err)
				return fmt.Sprint(text, e != nil, run != nil), err
			},
			"parts": func(ctx context.Context, src history.Source) (text string, err error) {
				parts, err := Parts(ctx, src, x.s)
				for _, c := range parts {
					part, _ := told(c, nil)
					text += part
				}
				return text, err
			},
			"back": func(ctx context.Context, src history.Source) (string, error) {
				c, err := ReadSpan(ctx, src, x.s, Span{From: middle.Sequence})
				if err == nil {
					err = c.LookBack(ctx, src, x.s)
				}
				return told(c, err)
			},
		} {
			all = append(all, historytest.Question{
				Name: name, Noted: []string{"LookBack"}, Folds: name != "before" && name != "newest" && name != "back",
				Ask: func(ctx context.Context, f *historytest.Failing, d *store.Damage) (string, error) {
					return ask(ctx, f.Source(nil, d))
				},
			})
		}
	}
	for _, x := range historytest.Scenes {
		if strings.Contains(x.Name, "nobody watched") {
			log := historytest.Played(t, x.Steps)
			if historytest.EachReadFails(t, log, historytest.Question{Name: x.Name, Ask: func(ctx context.Context, f *historytest.Failing, d *store.Damage) (string, error) {
				c, err := Read(ctx, f.Source(nil, d), historytest.Nightly)
				return fmt.Sprint(entriesOf(c), c.Untold(), c.gaps), err
			}, Noted: []string{"findGaps"}}) < 5 {
				t.Errorf("%s: no read failed", x.Name)
			}
		}
	}
	if n := historytest.EachReadFails(t, log, all...); n < 100 {
		t.Errorf("only %d reads failed", n)
	}
}
