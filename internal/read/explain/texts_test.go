package explain

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

// texts holds parts of sentences against what they should be.
func texts(t *testing.T, rows [][2]string) {
	t.Helper()
	for i, row := range rows {
		if row[0] != row[1] {
			t.Errorf("row %d: %q, want %q", i+1, row[0], row[1])
		}
	}
}

// TestPartsOfSentences: with one of something, with several, and with none.
func TestPartsOfSentences(t *testing.T) {
	texts(t, [][2]string{
		{was(1), "was"}, {was(2), "were"}, {versions(1), "1 version"}, {versions(2), "2 versions"},
		{colon("").cut, ""}, {colon("x").cut, ": x"}, {colon("x").whole, ": x"},
		{says(""), "the log has no words of the server"}, {says(`pods "x" is forbidden: no right`), "no right"}, {says("no right"), "no right"},
		{begin("abc", 3), "abc"}, {begin("abcd", 3), "abc…"}, {begin("aä", 2), "a…"}, {end("abc", 3), "abc"}, {end("abcd", 3), "…bcd"}, {end("äa", 2), "…a"},
		{because(&Sentence{Text: "FAILED after 3s: why: so"}).cut, "why: so"}, {because(&Sentence{Text: "UNSEEN"}).cut, "UNSEEN"},
		{because(&Sentence{Text: "FAILED: a …", Whole: "FAILED: a b c"}).whole, "a b c"},
		{unnamed("demo-x7k2p and demo and demon, demo-12, demo-3-abcde", "demo"), "* and * and demon, *, *"}, {unnamed("demo", ""), "demo"},
		{liken("demo-x7k2p took 12 s of 100", "demo"), "* took # s of #"},
		{words.Span(seconds(5)), "5s"}, {fmt.Sprint(seconds(1 << 40)), fmt.Sprint(time.Duration(1<<31) * time.Second)},
		{words.Admitted(nil), ""}, {words.Admitted([]string{""}), ""},
		{words.Admitted([]string{"+a", "-b", "image x → y", "c", "…"}), "a added, b removed, image x → y, c changed, and more"},
		{managerOf(nil), ""}, {managerOf(&events.Edit{}), ""}, {byManager(&events.Edit{Manager: "helm"}), " (field manager helm)"}, {byManager(nil), ""},
		{gapWhy(&history.Gap{Reason: "gap", Orderly: true}), "because the log had no room"}, {gapWhy(&history.Gap{Reason: "relist", Orderly: true}), "because the watch was lost"},
		{gapWhy(&history.Gap{Reason: "start", Orderly: true}), "because the controller had been stopped"},
		{gapWhy(&history.Gap{Reason: "start"}), "because the controller was not running: it had not stopped in good order"},
	})
}

// TestWordsForTries: for one pod, for several, and for what each of them waits for.
func TestWordsForTries(t *testing.T) {
	pods := []*Try{{Pod: "a", Node: "n1"}, {Pod: "b"}, {Pod: "c"}}
	ms := int64(5)
	texts(t, [][2]string{
		{list([]string{"x"}, "runs", "run"), "x runs"}, {list([]string{"x", "y"}, "runs", "run"), "x, y run"},
		{podsText(pods[:1]), "a"}, {podsText(pods[:2]), "a and 1 other pod"}, {podsText(pods), "a and 2 other pods"},
		{on("n"), " on n"}, {on(""), ""}, {tries(1), "1 try"}, {tries(2), "2 tries"},
		{nameOf(&events.ContainerEnd{Name: "a"}), "a"}, {nameOf(&events.ContainerEnd{Name: "a", Kind: events.InitContainer}), "init container a"},
		{(&Waiting{Reason: "R"}).word(), "R"}, {(&Waiting{Reason: "R", By: []string{"a", "b"}}).word(), "R by a, b"},
		{fmt.Sprint((&Waiting{Said: seen(3, 3)}).said()), fmt.Sprint(Mark{})}, {fmt.Sprint((&Waiting{Said: seen(3, 3), Message: "m"}).said()), fmt.Sprint(seen(3, 3))},
		{(&Try{Waits: []Waiting{{Reason: "R"}}}).waitText(), "R"}, {(&Try{Waits: []Waiting{{Reason: "R", Until: seen(3, 3)}}}).waitText(), ""}, {(&Try{}).waitText(), ""},
		{(&Try{Waits: []Waiting{{Reason: "R", Message: "m"}}}).waitsText().cut, "R: m"}, {(&Try{}).waitsText().cut, ""},
		{fmt.Sprint((&Try{Asked: sec(3), Grace: &ms}).stopsAt()), fmt.Sprint(sec(8))}, {fmt.Sprint((&Try{Asked: sec(3)}).stopsAt()), fmt.Sprint(sec(3))},
	})
}

// TestWordsForWaits: of one pod and of several; and the server's words with single quotes.
func TestWordsForWaits(t *testing.T) {
	pods := []*Try{{Pod: "a", Node: "n1"}, {Pod: "b"}, {Pod: "c"}}
	texts(t, [][2]string{
		{podsOf(pods[:1]), "its pod"}, {podsOf(pods[:2]), "2 pods"},
		{hangWord(pods[:1]), "a on n1 does not stop"}, {hangWord(pods), "a on n1 and 2 other pods do not stop"}, {hangWord(pods[1:2]), "b does not stop"},
		{within(nil), ""}, {within([]string{"a", "b"}), " (a, b)"},
		{theirWords("").cut, ""}, {theirWords(` say "x" `).cut, `: "say 'x'"`},
	})
}

// TestValuesOfTemplates: as they are shown, and their paths.
func TestValuesOfTemplates(t *testing.T) {
	texts(t, [][2]string{
		{valueText(nil), ""}, {valueText("x"), "x"}, {valueText(3.0), "3"}, {valueText([]any{"a"}), `["a"]`},
		{join("", "a"), "a"}, {join("a", "b"), "a.b"},
	})
}

// TestShares: the most frequent first, three at most.
func TestShares(t *testing.T) {
	texts(t, [][2]string{
		{shares(map[string]int{"a": 1, "b": 2}, 3), "b 2, a 1"}, {shares(map[string]int{"b": 1, "a": 1}, 3), "a 1, b 1, unknown 1"},
		{shares(map[string]int{"a": 4, "b": 3, "c": 2, "d": 1}, 10), "a 4, b 3, c 2, 1 others"}, {shares(map[string]int{"a": 3, "b": 2, "c": 1}, 6), "a 3, b 2, c 1"},
	})
}

// TestWhyWeDeleteAPod: in words for each reason.
func TestWhyWeDeleteAPod(t *testing.T) {
	texts(t, [][2]string{
		{reasonWords("JobFailing"), "the Job fails, so its pods are deleted"}, {reasonWords("JobSuspended"), "the Job was suspended"},
		{reasonWords("FewerPodsWanted"), "fewer pods were wanted"}, {reasonWords("DuplicateIndex"), "another pod had its index"},
		{reasonWords("JobSucceeded"), "the Job had succeeded without it"}, {reasonWords("FinalizerGone"), "it was one too many"}, {reasonWords("Odd"), "Odd"},
	})
}

// TestWordsForDueTimes: of a refusal, and of a CronJob that starts nothing.
func TestWordsForDueTimes(t *testing.T) {
	texts(t, [][2]string{
		{refusalText(&duetimes.Refusal{Says: "x"}).cut, "the API server refused its Job (no answer): x"},
		{refusalText(&duetimes.Refusal{Class: events.RefusedQuota}).cut, "the API server refused its Job (Quota): the log has no words of the server"},
		{Idle(&duetimes.CronJob{}), ""}, {Idle(&duetimes.CronJob{Gone: 1, Seen: &events.CronJobSeen{Suspend: true}}), "the CronJob is deleted"},
		{Idle(&duetimes.CronJob{Seen: &events.CronJobSeen{Deleted: 1, Suspend: true}}), "the CronJob is being deleted, so nothing starts any more"},
		{Idle(&duetimes.CronJob{Seen: &events.CronJobSeen{Suspend: true}}), "the CronJob is suspended, so nothing starts"}, {Idle(&duetimes.CronJob{Seen: &events.CronJobSeen{}}), ""},
	})
}

// TestDefaultsOfASpec: the API's own, where a field is not set.
func TestDefaultsOfASpec(t *testing.T) {
	texts(t, [][2]string{
		{backoff(nil), "6"}, {backoff(new(int32(2))), "2"}, {fmt.Sprint(number(nil), number(new(int32))), "1 0"},
	})
}

// TestOfHowManyRuns: one, or several.
func TestOfHowManyRuns(t *testing.T) {
	texts(t, [][2]string{{lastRuns(1), "its last run"}, {lastRuns(2), "its last 2 runs"}})
}

func backoff(limit *int32) string {
	return fmt.Sprint(backoffLimit(&events.JobSpec{BackoffLimit: limit}))
}

// TestHowTriesEnded: the containers of a pod that failed, or what else is said of its end.
func TestHowTriesEnded(t *testing.T) {
	again := exit("again", 1, func(k *events.ContainerEnd) { k.Again = true })
	lost := exit("lost", 255, func(k *events.ContainerEnd) { k.Reason = "Unknown" })
	for _, row := range []struct {
		try      Try
		want     string
		restarts int // containers that are to run again
	}{
		{Try{}, "no exit code is known", 0},
		{Try{Containers: []events.ContainerEnd{exit("a", 0, nil), exit("b", 2, nil), exit("c", 3, nil), again}}, "b exit 2, c exit 3", 1},
		{Try{Containers: []events.ContainerEnd{again}, Reason: "Evicted"}, "Evicted", 1},
		{Try{Containers: []events.ContainerEnd{lost}, Reason: "Evicted", Message: "m"}, "Evicted: m", 0},
		{Try{Containers: []events.ContainerEnd{exit("a", 0, nil), lost}}, "how lost ended is unknown (Unknown): its node found no trace of it", 0},
	} {
		if got := exitText(&row.try); got != row.want || len(restarted(row.try.Containers)) != row.restarts {
			t.Errorf("%+v: %q, want %q; %d run again", row.try, got, row.want, len(restarted(row.try.Containers)))
		}
	}
	end := func(name string, n float64, change func(*events.ContainerEnd)) events.ContainerEnd {
		return exit(name, 0, func(k *events.ContainerEnd) {
			if k.Finished = sec(n); change != nil {
				change(k)
			}
		})
	}
	x := &Try{Pod: "p", Containers: []events.ContainerEnd{
		exit("failed", 1, nil), end("init", 1, func(k *events.ContainerEnd) { k.Kind = events.InitContainer }), end("b", 5, nil), end("c", 7, nil),
		end("a", 3, nil), end("again", 1, func(k *events.ContainerEnd) { k.Again = true }), end("d", 3, nil),
	}}
	first := x.ended0()
	if first == nil || first.Name != "a" || x.othersThan(first) != "b, c" {
		t.Fatalf("first ended %+v, behind it %s", first, x.othersThan(first))
	}
	if last := x.othersThan(&x.Containers[3]); last != "other containers of p" {
		t.Errorf("behind the last: %s", last)
	}
	if (&Try{Containers: x.Containers[:2]}).ended0() != nil {
		t.Error("an init container is a regular one")
	}
}

// TestInWhatTemplatesDiffer: fields by their paths, containers by their names, and hidden variables by theirs.
func TestInWhatTemplatesDiffer(t *testing.T) {
	const image = `{"spec":{"containers":[{"name":"main","image":"a:1"}]}}`
	for _, row := range []struct{ old, now, want string }{
		{image, image, ""},
		{"", image, ""},
		{image, "[]", ""},
		{image, `{"spec":{"containers":[{"name":"main","image":"a:2"}]}}`, "main.image a:1 → a:2"},
		{image, `{"spec":{"containers":[{"name":"main","image":"a:1"},{"name":"side","image":"b"}]}}`, `side + {"image":"b"}`},
		{image, `{"spec":{}}`, `main - {"image":"a:1"}`},
		{`{"spec":{}}`, image, `main + {"image":"a:1"}`},
		{image, `{"spec":{"containers":[]}}`, `containers [{"image":"a:1","name":"main"}] → []`},
		{image, `{"spec":{"containers":["main"]}}`, `containers [{"image":"a:1","name":"main"}] → ["main"]`},
		{`{"spec":{"containers":["main"]}}`, image, `containers ["main"] → [{"image":"a:1","name":"main"}]`},
		{`{"spec":{"x":[{"name":3}]}}`, `{"spec":{"x":[{"name":4}]}}`, `x [{"name":3}] → [{"name":4}]`},
		{`{"spec":{"priority":1}}`, `{"spec":{"priority":2,"zone":"b"}}`, "priority 1 → 2 · zone + b"},
		{`{"spec":{"priority":{"a":1}}}`, `{"spec":{"priority":2}}`, `priority {"a":1} → 2`},
		{`{"a":"x"}`, `{"b":"x"}`, "a - x · b + x"},
		{`{"spec":{"containers":[{"name":"main","env":[{"name":"DB","value":"(redacted)"}]}]}}`, `{"spec":{"containers":[{"name":"main","env":[{"name":"HOST","value":"(redacted)"}]}]}}`,
			"main.env + HOST · main.env - DB"},
	} {
		got := joined(templateChanges([]byte(row.old), []byte(row.now)), " · ")
		if text := got.whole; text != row.want {
			t.Errorf("%s and %s: %q, want %q", row.old, row.now, text, row.want)
		}
	}
	if spec := (&events.JobSpec{Key: "k", Template: "t"}); specChanges(nil, spec) != nil || specChanges(spec, nil) != nil {
		t.Error("a spec that is not known differs")
	}
}

// TestWhatIsKnownOfEqualTemplates: that they are the same, or that values are not kept.
func TestWhatIsKnownOfEqualTemplates(t *testing.T) {
	c := &compared{}
	spec := func(key, template string) *events.JobSpec { return &events.JobSpec{Key: key, Template: template} }
	for want, row := range map[string][2]*events.JobSpec{
		"unknown: the spec of then is no longer kept":                                        {nil, spec("k", "t")},
		"nothing that is recorded; values of env, commands and arguments cannot be compared": {spec("", ""), spec("", "")},
		"a value that is not kept in the log: of env, command, arguments or annotations":     {spec("k", "t"), spec("k", "u")},
		"nothing: spec and pod template are the same":                                        {spec("k", "t"), spec("k", "t")},
	} {
		if got := c.sameTemplate(row[0], row[1]); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := c.sameTemplate(spec("k", "t"), spec("l", "t")); !strings.HasPrefix(got, "nothing that is recorded") {
		t.Errorf("of another key: %s", got)
	}
	if got := c.sameTemplate(spec("k", "t"), nil); !strings.HasPrefix(got, "unknown") {
		t.Errorf("without a spec: %s", got)
	}
}

// TestContainersOfATemplate: their names and images; none of a template that cannot be read.
func TestContainersOfATemplate(t *testing.T) {
	if got := images([]byte(`{"spec":{"containers":[{"name":"a","image":"x"}],"initContainers":[{"name":"b","image":"y"}]}}`)); fmt.Sprint(got) != "map[a:x b:y]" {
		t.Errorf("images %v", got)
	}
	if got := regulars([]byte(`{"spec":{"containers":[{"name":"a"}],"initContainers":[{"name":"b"}]}}`)); fmt.Sprint(got) != "[a]" {
		t.Errorf("regular ones %v", got)
	}
	if regulars([]byte("x")) != nil || initials([]byte(`{"spec":{}}`)) != nil || len(images([]byte("x"))) != 0 {
		t.Error("a template that cannot be read has containers")
	}
}

// TestWhatHadHappenedBefore: what the first version of a Job shows to have happened before it was seen.
func TestWhatHadHappenedBefore(t *testing.T) {
	status := func(change func(*events.JobStatus)) *events.JobSeen {
		s := &events.JobStatus{HasUncounted: true}
		change(s)
		return &events.JobSeen{Generation: 1, Status: s}
	}
	condition := func(kind, is string) *events.JobSeen {
		return status(func(s *events.JobStatus) { s.Conditions = []events.JobCondition{{Type: kind, Status: is}} })
	}
	for i, row := range []struct {
		f    *events.JobSeen
		want string
	}{
		{&events.JobSeen{Generation: 1}, ""},
		{&events.JobSeen{Generation: 2}, "its spec had been changed"},
		{&events.JobSeen{Generation: 2, Deleted: 1}, "it was being deleted"},
		{status(func(*events.JobStatus) {}), ""},
		{status(func(s *events.JobStatus) { s.StartTime = 1 }), "it had begun"}, {status(func(s *events.JobStatus) { s.Active = 1 }), "it had begun"},
		{status(func(s *events.JobStatus) { s.Terminating = 1 }), "it had begun"}, {status(func(s *events.JobStatus) { s.Succeeded = 1 }), "it had begun"},
		{status(func(s *events.JobStatus) { s.Failed = 1 }), "it had begun"}, {status(func(s *events.JobStatus) { s.UncountedFailed = append(s.UncountedFailed, "a") }), "it had begun"},
		{status(func(s *events.JobStatus) { s.UncountedSucceeded = append(s.UncountedSucceeded, "a") }), "it had begun"},
		{condition("Failed", "True"), "it had ended"}, {condition("Complete", "True"), "it had ended"}, {condition("FailureTarget", "True"), "it had ended"},
		{condition("Failed", "False"), ""}, {condition("Suspended", "True"), ""},
	} {
		if got := begun(row.f); got != row.want {
			t.Errorf("row %d: %q, want %q", i+1, got, row.want)
		}
	}
}

// TestColumnsAreRound: a column of a timeline is the shortest round time with which all has place.
func TestColumnsAreRound(t *testing.T) {
	day := 24 * time.Hour
	for _, row := range []struct{ whole, want time.Duration }{
		{0, 10 * time.Millisecond}, {100 * time.Millisecond, 10 * time.Millisecond}, {101 * time.Millisecond, 20 * time.Millisecond}, {5 * time.Second, 500 * time.Millisecond},
		{100 * time.Second, 10 * time.Second}, {101 * time.Second, 15 * time.Second}, {time.Hour, 10 * time.Minute}, {9 * time.Hour, time.Hour}, {30 * time.Hour, 4 * time.Hour},
		{5 * day, 12 * time.Hour}, {10 * day, day}, {10*day + 1, 2 * day}, {19 * day, 2 * day}, {35 * day, 4 * day},
	} {
		line := Timeline{From: recorded(0), To: recordjson.Instant(sec(0).Add(row.whole))}
		if got := line.Column(10); got != row.want {
			t.Errorf("%s in 10 columns: %s, want %s", row.whole, got, row.want)
		}
	}
}

// TestLanesOfATimeline: all where no bound is given, and else those that failed first.
func TestLanesOfATimeline(t *testing.T) {
	c := &Case{misses: &misses{}, Tries: []*Try{
		{Pod: "a", Index: events.NoIndex, Seen: seen(1, 1), Ended: seen(5, 5), Phase: events.PodSucceeded}, {Pod: "b", Index: events.NoIndex, Seen: seen(1, 1)},
		{Pod: "c", Index: events.NoIndex, Seen: seen(1, 1), Ended: seen(6, 6), Phase: events.PodFailed, ended: &Ending{By: ByItself}},
	}}
	c.Tries[0].ended = &Ending{By: ByItself}
	c.Job.Created, c.Job.AsOf.Time = recorded(1), recorded(9)
	for most, want := range map[int]string{0: "a b c more 0", 1: "c more 2", 2: "c a more 1", 3: "a b c more 0"} {
		line := c.Timeline(most)
		var names []string
		for _, lane := range line.Rows {
			names = append(names, lane.Name)
		}
		if got := fmt.Sprintf("%s more %d", strings.Join(names, " "), line.More); got != want {
			t.Errorf("of %d: %s, want %s", most, got, want)
		}
	}
}

// TestWhatIsMissedIsTold: a read that failed, but for damage, which is noted, and for what the log does not have.
func TestWhatIsMissedIsTold(t *testing.T) {
	damage := &store.Damage{}
	src := history.Local{Damage: damage}
	broken, other := errors.New("broken"), errors.New("other")
	m := &misses{}
	for _, err := range []error{nil, store.ErrPruned, history.ErrNoRecord, history.ErrNoJob, history.ErrNoCronJob, fmt.Errorf("read: %w", store.ErrPruned), &store.CorruptError{At: 3}} {
		if m.miss(src, err); m.Unread() != nil {
			t.Errorf("%v: %v", err, m.Unread())
		}
	}
	m.miss(src, broken)
	if m.miss(src, other); !errors.Is(m.Unread(), broken) || len(damage.Met()) != 1 {
		t.Errorf("%v, noted %v", m.Unread(), damage.Met())
	}
}

// TestAListStandsInOrder: what is stuck first, what is alike together, the newest first; and how many are alike.
func TestAListStandsInOrder(t *testing.T) {
	x := func(sort, name, cause, same, work string, since float64) Trouble {
		return Trouble{Sort: sort, Kind: kindJob, Namespace: "ns", Name: name, Cause: cause, same: same, Work: work, Since: recorded(since), Lineage: "CronJob " + work}
	}
	f := &finding{Failures: Failures{Items: []Trouble{
		x(SortSurvived, "s", "c1", "", "w", 90), x(SortFailed, "old", "c1", "l1", "w1", 10), x(SortFailed, "b", "c2", "l", "w2", 30), x(SortFailed, "new", "c1", "l2", "w1", 40),
		x(SortFailed, "mid", "c1", "l1", "w1", 20), x(SortFailed, "far", "c1", "l1", "w3", 5), x(SortStuck, "stuck", "c3", "", "w4", 1),
		{Sort: SortStuck, Kind: kindCronJob, Namespace: "ns", Name: "cron", Cause: "c3", Since: recorded(2)}, x(SortFailed, "c", "c2", "l", "w0", 30),
	}}}
	all := f.sorted()
	var names, causes []string
	for i := range all.Items {
		names = append(names, fmt.Sprintf("%s+%d", all.Items[i].Name, all.Items[i].Also))
	}
	if got, want := strings.Join(names, " "), "cron+0 stuck+0 new+3 mid+3 old+3 far+3 c+1 b+1 s+0"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
	for _, c := range all.Causes {
		text := fmt.Sprintf("%s %d@%d %s-%s:", c.Sort, c.Jobs, c.Item, events.Time(c.First).Sub(sec(0)), events.Time(c.Last).Sub(sec(0)))
		for _, w := range c.Works {
			text += fmt.Sprintf(" %s/%s %d", w.Kind, w.Name, w.Jobs)
		}
		causes = append(causes, text)
	}
	want := []string{
		"stuck 1@0 2s-2s: CronJob/cron 1", "stuck 1@1 1s-1s: /stuck 1", "failed 1@2 40s-40s: /new 1", "failed 3@3 5s-20s: CronJob/w1 2 /far 1",
		"failed 2@6 30s-30s: /c 1 /b 1", "survived 1@8 1m30s-1m30s: /s 1",
	}
	if !slices.Equal(causes, want) {
		t.Errorf("causes\n%s\nwant\n%s", strings.Join(causes, "\n"), strings.Join(want, "\n"))
	}
}

// TestRatesOfOthers: a rate of those that have something in common is told where it is worse than that of the rest, of
// which there are enough.
func TestRatesOfOthers(t *testing.T) {
	// F and C have it, f and c do not; f and F failed; what befell F befell S, which succeeded
	others := func(text string) (all []*peer) {
		for i, r := range text {
			p := &peer{
				marks: []Mark{seen(events.Sequence(i+1), 1)},
				nodes: map[string]bool{"n": r == 'F' || r == 'C'}, ends: map[string]Mark{},
			}
			if r == 'F' || r == 'S' {
				p.ends["main exit 1"] = seen(events.Sequence(i+1), 1)
			}
			if p.sum.State = history.StateComplete; r == 'f' || r == 'F' {
				p.sum.State = history.StateFailed
			}
			all = append(all, p)
		}
		return all
	}
	for text, want := range map[string]string{
		"Fccc": "n: 1 of 1 failed, elsewhere 0 of 3", "Fcc": "", "ffff": "", "FCffcc": "", "FFCfcc": "n: 2 of 3 failed, elsewhere 1 of 3", "FFCffc": "", "CCCC": "", "CCfccc": "",
	} {
		a := account{peers: others(text), failed: strings.Count(strings.ToLower(text), "f")}
		a.compare("n", "elsewhere", func(p *peer) bool { return p.nodes["n"] })
		if got := strings.Join(a.parts, " · "); got != want || (len(a.from) > 0) != (want != "") {
			t.Errorf("%s: %q by %d records, want %q", text, got, len(a.from), want)
		}
	}
	for text, want := range map[string]string{
		"CC": "main exit 1 in none of them", "Cf": "main exit 1 in none of them", "CF": "main exit 1 in 1 of them", "FFFFFFFF": "main exit 1 in 8 of them",
		"SSf": "main exit 1 in 2 of them, and none of these failed", "SFF": "main exit 1 in 3 of them; 1 of these succeeded", "SSC": "main exit 1 in 2 of them",
	} {
		a := account{peers: others(text), failed: strings.Count(strings.ToLower(text), "f")}
		a.ends("main exit 1")
		if got := strings.Join(a.parts, ""); got != want || len(a.from) != min(strings.Count(text, "F")+strings.Count(text, "S"), mostCited) {
			t.Errorf("%s: %q by %d records, want %q", text, got, len(a.from), want)
		}
	}
}

// TestWhichLifeAnswers: of the Jobs of a name the newest that goes on, else the newest that failed, else the newest.
func TestWhichLifeAnswers(t *testing.T) {
	named := map[rune]history.State{
		'w': history.StateWaiting, 'r': history.StateRunning, 's': history.StateSuspended, 'f': history.StateFailing, 'i': history.StateFinishing, 'd': history.StateDeleting,
		'F': history.StateFailed, 'C': history.StateComplete, 'D': history.StateDeleted, 'E': history.StateFinished, 'U': history.StateUnseen, 'M': history.StateUnmanaged,
	}
	for text, want := range map[string]int{
		"C": 0, "CF": 1, "CFF": 1, "FC": 0, "CFw": 2, "Cr": 1, "Fs": 1, "Ff": 1, "Fi": 1, "Fd": 1, "DC": 0, "EF": 1, "UM": 0, "Fww": 1, "MF": 1, "DF": 1,
	} {
		var all []*JobCase
		for _, r := range text {
			c := &JobCase{Case: &Case{}}
			c.Job.State = named[r]
			all = append(all, c)
		}
		if got := OfLives(all, 0); got != all[want] {
			t.Errorf("%s: number %d answers", text, slices.Index(all, got))
		}
		if lives := all[want].Lives; len(lives) != 0 && len(text) == 1 || len(text) > 1 && (len(lives) != len(text) || !lives[len(text)-1-want].This) {
			t.Errorf("%s: %+v", text, lives)
		}
		if OfLives(all, 2); all[want].Lives[0].Older != 2 {
			t.Errorf("%s: %+v", text, all[want].Lives)
		}
	}
	finished := &JobCase{Case: &Case{settled: &settling{Over: seen(9, 9)}}}
	finished.Job.State, finished.Job.Created = history.StateFailed, recorded(1)
	pruned := &JobCase{Case: &Case{}}
	pruned.Job.State, pruned.Job.Finished, pruned.Job.Created = history.StateFinished, recorded(8), recorded(1)
	gone := &JobCase{Case: &Case{gone: seen(7, 7)}}
	gone.Job.State, gone.Job.Created = history.StateDeleted, recorded(1)
	goesOn := &JobCase{Case: &Case{}}
	goesOn.Job.State, goesOn.Job.Created = history.StateRunning, recorded(1)
	for c, want := range map[*JobCase]float64{finished: 9, pruned: 8, gone: 7, goesOn: 1} {
		if got := c.life(); got.At != recorded(want) || got.State != string(c.Job.State) {
			t.Errorf("%+v, want %v", got, recorded(want))
		}
	}
}

// TestTroubleThatOnlyTheListTells: of a Job that failed or succeeded, as far as is known; of others nothing is said.
func TestTroubleThatOnlyTheListTells(t *testing.T) {
	for state, want := range map[history.State]string{
		history.StateFailed: SortFailed, history.StateFailing: SortFailed, history.StateComplete: SortSurvived, history.StateRunning: "", history.StateFinished: "",
	} {
		s := &history.Summary{Namespace: "ns", Name: "j", State: state, Counts: history.Counts{Failed: 2, Succeeded: 1}}
		whole, damaged := untold(s, 0), untold(s, 7)
		if whole.Sort != want || want == "" && damaged.Kind != "" {
			t.Errorf("%s: %+v", state, whole)
		}
		if want != "" && (whole.Why != "cannot be told: the log has no records of it" || damaged.Why != "cannot be told: damaged at 7" || whole.Tries != 3 || whole.Work != "ns/j") {
			t.Errorf("%s: %+v, %+v", state, whole, damaged)
		}
	}
	for name, row := range map[string]struct {
		q    FailuresQuery
		t    Trouble
		want bool
	}{
		"none":                      {FailuresQuery{}, Trouble{}, false},
		"it survived":               {FailuresQuery{}, Trouble{Sort: SortSurvived}, false},
		"it survived, as is wanted": {FailuresQuery{Survived: true}, Trouble{Sort: SortSurvived}, true},
		"before":                    {FailuresQuery{Since: sec(10)}, Trouble{Sort: SortFailed, Since: recorded(9)}, false},
		"at the bound":              {FailuresQuery{Since: sec(10)}, Trouble{Sort: SortFailed, Since: recorded(10)}, true},
		"stuck before":              {FailuresQuery{Since: sec(10)}, Trouble{Sort: SortStuck, Since: recorded(9)}, true},
		"until then":                {FailuresQuery{Until: sec(10)}, Trouble{Sort: SortStuck, Since: recorded(10)}, true},
		"later":                     {FailuresQuery{Until: sec(10)}, Trouble{Sort: SortStuck, Since: recorded(11)}, false},
	} {
		f := &finding{q: &row.q}
		if f.take(row.t); (len(f.Items) == 1) != row.want {
			t.Errorf("%s: %v", name, f.Items)
		}
	}
}

// TestShortGaps: a relist that followed within 50 ms is none.
func TestShortGaps(t *testing.T) {
	for d, want := range map[time.Duration]bool{0: true, 49 * time.Millisecond: true, 50 * time.Millisecond: false, time.Hour: false} {
		if got := instant(&history.Gap{From: recorded(1), Until: recordjson.Instant(sec(1).Add(d))}); got != want {
			t.Errorf("%s is an instant: %t", d, got)
		}
	}
	if instant(&history.Gap{From: recorded(1)}) {
		t.Error("one that lasts is an instant")
	}
}

// TestTheGapBeforeARecord: the one at whose end the record was found.
func TestTheGapBeforeARecord(t *testing.T) {
	c := &Case{Gaps: []*history.Gap{{From: recorded(5), Until: recorded(8), Listing: 10}}}
	for _, row := range []struct {
		m    Mark
		want bool
	}{{seen(11, 8), true}, {seen(10, 8), false}, {seen(11, 5), true}, {seen(11, 4), false}, {seen(11, 9), false}} {
		if got := c.gapBefore(nil, row.m) != nil; got != row.want {
			t.Errorf("%v: in a gap: %t", row.m, got)
		}
	}
}

// TestTheGapOfADueTime: the one in which it lies, and a second longer.
func TestTheGapOfADueTime(t *testing.T) {
	f := &fates{gaps: []*history.Gap{{From: recorded(5), Until: recorded(8), Listing: 10}}}
	for n, want := range map[float64]bool{4.9: false, 5: true, 8: true, 9: true, 9.1: false} {
		if got := f.gapAt(sec(n)) != nil; got != want {
			t.Errorf("%v: in a gap: %t", n, got)
		}
	}
}
