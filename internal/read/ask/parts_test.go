package ask_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/store"
)

// begins matches since when something is said to be so.
var begins = regexp.MustCompile(` (at|from|from before) \d{4}-\d\d-\d\d \d\d:\d\d:\d\d`)

// TestAPartOfTheDueTimesIsOfAll: however many are wanted, from whatever time on and as of whatever record, they are the
// last ones of all that there are by then. What was so before a part may have no
// beginning there, and never another one.
func TestAPartOfTheDueTimesIsOfAll(t *testing.T) {
	log := historytest.HardCrons(t, 3)
	damage := &store.Damage{}
	src := ask.Source{Source: history.Local{Log: log, Lists: joblist.New(joblist.Config{Log: log}), Damage: damage}, Damage: damage}
	crons, err := src.CronJobs(t.Context(), history.CronJobsQuery{})
	if err != nil || len(crons.Items) < 2 {
		t.Fatal(crons, err)
	}
	type ticks struct {
		Items   []history.Tick
		Earlier bool `json:"earlier"`
	}
	read := func(line string) (out ticks) {
		t.Helper()
		text, err := askedOnce(t.Context(), t, src, log.Head().Time.Go(), line)
		if err != nil {
			t.Fatal(line, err)
		}
		if i := strings.Index(text, "{"); i >= 0 {
			if err := json.Unmarshal([]byte(text[i:]), &out); err != nil {
				t.Fatal(line, err)
			}
		}
		return out
	}
	longer, within := 0, 0
	for _, c := range crons.Items[:min(4, len(crons.Items))] {
		for _, at := range []events.Sequence{0, log.Head().Sequence - 40} {
			of := fmt.Sprintf("ticks cronjob/%s/%s", c.Namespace, c.UID)
			if at != 0 {
				of += fmt.Sprintf(" --at=%d", at)
			}
			if at != 0 && events.Sequence(c.First) > at {
				continue
			}
			all := read(of + " --tail=0")
			if len(all.Items) == 0 || all.Earlier {
				continue
			}
			longer = max(longer, len(all.Items))
			for _, k := range []int{0, len(all.Items) / 2, len(all.Items) - 1} {
				since := events.Time(all.Items[k].Last)
				for _, missed := range []bool{false, true} {
					want := slices.DeleteFunc(slices.Clone(all.Items), func(x history.Tick) bool {
						return k > 0 && events.Time(x.Last) < since || missed && x.Job != ""
					})
					for _, tail := range []int{0, 1, 3} {
						line := fmt.Sprintf("%s --tail=%d --missed=%t", of, tail, missed)
						if k > 0 {
							line += " --since=" + since.Go().Format("2006-01-02T15:04:05.999999999Z07:00")
						}
						got, want, earlier := read(line), want, false
						if tail > 0 && len(want) > tail {
							want, earlier = want[len(want)-tail:], true
						}
						want = slices.Clone(want)
						for i := range min(len(want), len(got.Items)) { // a part may begin within a suspension
							all, part := &want[i].Why, &got.Items[i].Why
							if lesser := begins.ReplaceAllString(*part, ""); *part != *all && begins.ReplaceAllString(*all, "") == lesser &&
								(*part == lesser || strings.Contains(*part, " from before ")) {
								within++
								*part = *all
							}
						}
						if d := cmp.Diff(want, got.Items, cmpopts.EquateEmpty()); d != "" || got.Earlier != earlier {
							t.Errorf("%s: %d, earlier: %t, want %d, %t (-of all +got)\n%.900s", line, len(got.Items), got.Earlier, len(want), earlier, d)
						}
					}
				}
			}
		}
	}
	if longer < 10 || within == 0 {
		t.Errorf("no CronJob has more than %d entries, and %d parts begin within a suspension", longer, within)
	}
}

// TestWhatEachQuestionTakes is its command, what is told of its object, whether it folds the log, and its flags.
func TestWhatEachQuestionTakes(t *testing.T) {
	var got strings.Builder
	for _, e := range ask.All() {
		var flags []string
		q := e.Begin()
		q.Flags.VisitAll(func(f *pflag.Flag) { flags = append(flags, f.Name) })
		fmt.Fprintf(&got, "%s: %s, takes %d, folds %t: %s\n", e.Name, strings.Join(e.Command, " "), e.Takes, e.Folds, strings.Join(flags, " "))
		for _, name := range ask.HiddenOfLists {
			if lists := e.Name == "jobs" || e.Name == "cronjobs"; lists != slices.Contains(flags, name) {
				t.Errorf("%s has the flag %s: %t", e.Name, name, !lists)
			}
		}
	}
	historytest.Keep(t, *update, "testdata/takes.txt", got.String())
	if !slices.Equal(ask.HiddenOfLists, []string{"name", "uid"}) {
		t.Errorf("lists hide %q", ask.HiddenOfLists)
	}
}
