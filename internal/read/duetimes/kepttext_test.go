package duetimes

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
)

var update = flag.Bool("update", false, "write the texts that are kept anew")

// clock is a time of day; "-" for none.
func clock(t events.Time) string {
	if t == 0 {
		return "-"
	}
	return t.Go().UTC().Format("02 15:04:05")
}

func clockOf(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("02 15:04:05")
}

// saysEntry is an entry with all that can be asked of it.
func (c *CronJob) saysEntry(e *Entry) string {
	n, counted := c.Count(e)
	text := fmt.Sprintf("%s to %s (%d %t) %s #%d at %s", clock(e.First), clock(e.Last), n, counted, e.Fate, e.Record, clock(e.At))
	if e.Into != 0 {
		text += " into " + clock(e.Into)
	}
	if e.Name != "" {
		text += fmt.Sprintf(" as %s, late %s, seen %s", e.Name, e.Late, e.Seen)
	}
	if e.UnwatchedUntil != 0 {
		text += fmt.Sprintf(" unwatched %s to %s", clock(e.UnwatchedFrom), clock(e.UnwatchedUntil))
	}
	by := ""
	if e.by != nil {
		by = e.by.Schedule
	}
	return text + fmt.Sprintf(" observed %t asked %t by %q since %s until %s lost %t", e.Observed, e.Asked(), by, clock(e.since), clock(c.Until(e, e.Last)), c.Lost(e, e.Last))
}

// saysAt is what there is to say of an instant.
func (c *CronJob) saysAt(t time.Time) string {
	v := c.At(t)
	text := fmt.Sprintf("open %t %s future %t passed %t unseen %t, %s and %s", v.Open, v.Hold, v.Future, v.Passed, v.Unseen, clockOf(v.Before), clockOf(v.After))
	if v.Entry != nil {
		text += fmt.Sprintf(", %s of %s", v.Entry.Fate, clock(v.Entry.First))
	}
	if v.Run != nil {
		text += ", named " + v.Run.Name
	}
	if ch := c.WasOne(t); ch != nil {
		text += fmt.Sprintf(", was one until #%d", ch.Record)
	}
	if ch := c.BecameOne(t); ch != nil {
		text += fmt.Sprintf(", became one with #%d", ch.Record)
	}
	if is, first := c.Before(events.At(t)); is {
		text += fmt.Sprintf(", of before #%d", first.Record)
	}
	return text
}

// says is what is told of a CronJob, by field.
func (c *CronJob) says() map[string]string {
	out := map[string]string{}
	put := func(field, format string, args ...any) { out[field] = fmt.Sprintf(format, args...) }
	for i := range c.Entries {
		put(fmt.Sprintf("entry %03d", i), "%s", c.saysEntry(&c.Entries[i]))
	}
	for i := range c.Untold() {
		put(fmt.Sprintf("untold %d", i), "%s", c.saysEntry(&c.Untold()[i]))
	}
	if n := len(c.All()) - len(c.Entries) - len(c.Untold()); n != 0 {
		put("lacking", "%d", n)
	}
	for i, h := range c.Holds {
		put(fmt.Sprintf("hold %d", i), "%s %s #%d %s, active %v", clock(h.Due), h.By, h.Record, clock(h.At), h.Active)
	}
	for i, r := range c.Refusals {
		put(fmt.Sprintf("refusal %d", i), "%s %s %s %q #%d %s to #%d %s", clock(r.Due), r.Job, r.Class, r.Says, r.First, clock(r.From), r.Last, clock(r.Until))
	}
	for i := range c.Changes {
		ch := &c.Changes[i]
		put(fmt.Sprintf("change %d", i), "#%d %s by %v, schedule %t, template %t", ch.Record, clock(ch.At), ch.By, ch.Reschedules(), ch.Retemplates())
	}
	for i, k := range c.kept.spans {
		put(fmt.Sprintf("kept %d", i), "%s %s %s to %s #%d #%d", k.By, k.Job, clock(k.From), clock(k.Until), k.First.Record, k.Last.Record)
	}
	if o := c.Open(); o != nil {
		put("open", "%s %q %q since %s #%d first %s", clock(events.Time(o.At)), o.Hold, o.Says, clock(events.Time(o.Since)), o.Record, clock(events.Time(o.First)))
	}
	if e := c.Unstarted(); e != nil {
		put("unstarted", "%s to %s", clock(e.First), clock(e.Last))
	}
	due, zone, err := c.Next(c.now.Go(), 2)
	if len(due) > 0 {
		put("next", "%s %s", clockOf(due[0]), zone)
	} else if err != nil {
		put("next", "%v", err)
	}
	put("is", "gone %s end unseen %t elsewhere %t blind %s #%d cut %t told %s", clock(c.Gone), c.EndUnseen, c.Elsewhere, clock(c.Blind), c.BlindBy, c.Cut, clock(c.Told))
	return out
}

// TestDueTimesAreAsKept reads the CronJobs of the recorded incidents as of each of their records, and writes what each
// record changes; as of the last one, also what there is to say of the instants around each due time. After a change
// 'go test ./internal/read/duetimes -run AsKept -update' writes the texts anew: read the difference.
func TestDueTimesAreAsKept(t *testing.T) {
	for _, name := range []string{"cronjobs-observed", "cronjobs-run"} {
		log := historytest.Recorded(t, name)
		src := history.Local{Log: log}
		was, last := map[events.Stream]map[string]string{}, map[events.Stream]*CronJob{}
		texts, order := map[events.Stream]*bytes.Buffer{}, []events.Stream{}
		for r, err := range log.Read(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if r.Stream.Kind != events.StreamCronJob {
				continue
			}
			out := texts[r.Stream]
			if out == nil {
				out = &bytes.Buffer{}
				texts[r.Stream], order = out, append(order, r.Stream)
			}
			c, err := ReadSpan(t.Context(), src, r.Stream, Span{Through: r.Sequence})
			if err != nil {
				t.Fatal(err)
			}
			now := c.says()
			fmt.Fprintf(out, "%d %s %s\n", r.Sequence, r.Kind, clock(r.Time))
			for _, field := range slices.Sorted(maps.Keys(now)) {
				if was[r.Stream][field] != now[field] {
					fmt.Fprintf(out, "  %s: %s\n", field, now[field])
				}
			}
			for _, field := range slices.Sorted(maps.Keys(was[r.Stream])) {
				if _, is := now[field]; !is {
					fmt.Fprintf(out, "  -%s\n", field)
				}
			}
			was[r.Stream], last[r.Stream] = now, c
		}
		var out bytes.Buffer
		for _, s := range order {
			out.Write(texts[s].Bytes())
			c, said := last[s], map[string]string{}
			instants := []time.Time{c.now.Go().Add(time.Hour).Truncate(time.Minute), c.now.Go()}
			for _, e := range c.All() {
				instants = append(instants, e.First.Go(), e.Last.Go(), e.First.Go().Add(30*time.Second), e.First.Go().Add(-time.Minute), e.First.Go().Add(time.Minute))
			}
			for _, t := range instants {
				said[clockOf(t)] = c.saysAt(t)
			}
			for _, at := range slices.Sorted(maps.Keys(said)) {
				fmt.Fprintf(&out, "  at %s: %s\n", at, said[at])
			}
		}
		historytest.Keep(t, *update, filepath.Join("testdata", name+".txt"), out.String())
	}
}
