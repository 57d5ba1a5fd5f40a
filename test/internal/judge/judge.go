package judge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/cron"
	"github.com/jobledger/jobledger/internal/read/explain/explaintest"
	"github.com/jobledger/jobledger/internal/read/explain/failures"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/explain/whynot"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

// enough is the percentage of situations (staged by tests) in which Jobledger's answers must name the cause.
const enough = 95

// many is a number of situations. If there are more, too many late answers (the cause is not in the first lines) fail
// the test. With fewer, one kind of situation would have too much weight.
const many = 100

// judged is a situation that a test staged, with what is wrong in Jobledger's answers about it.
type judged struct {
	*Told
	missed []string // parts of the cause that the answers lack
	wrong  []string // false sentences in the answers
	head   string   // the first lines of the answer
	late   []string // parts of the cause that the first lines do not name, on a narrow terminal
}

// All asks a log about all its situations, and compares the answers with the truth.
func All(t *testing.T, dir string) {
	t.Helper()
	src := openSituations(t, filepath.Join(dir, "log"))
	failed, err := failures.Find(t.Context(), src, failures.Query{Survived: true})
	if err != nil {
		t.Fatal(err)
	}
	var all []*judged
	for _, x := range Read(t, dir) {
		j := &judged{Told: &x}
		if err := j.judge(t.Context(), src, &failed); err != nil {
			t.Errorf("%s: %v", x.Name, err)
		}
		all = append(all, j)
	}
	sum(t, all)
	checked, err := explaintest.Check(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]bool{}
	for _, f := range checked.Findings {
		// The same finding may come up for several points in time: report it once.
		if text := f.Rule + f.Of[:strings.Index(f.Of, " as of")] + f.Says; !said[text] {
			said[text] = true
			t.Error(f)
		}
	}
	t.Logf("%d sentences of %d answers were checked", checked.Sentences, checked.Answers)
	cited(t, src)
}

// cited checks that each statement about CronJobs follows from the records that the statement names.
func cited(t *testing.T, src history.Source) {
	t.Helper()
	r, err := explaintest.CitedOfCrons(t.Context(), src, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		t.Error(f)
	}
	t.Logf("%d values that %d answers about CronJobs cite were altered", r.Sentences, r.Answers)
}

// Read reads truth.json in dir: what really happened in each staged situation.
func Read(t *testing.T, dir string) (all []Told) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func openSituations(t *testing.T, dir string) history.Source {
	t.Helper()
	log, err := open.Archive(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() }) // an error of Close loses nothing, because the log was only read
	return history.Local{Log: log, Lists: joblist.New(joblist.Config{Log: log, Files: store.FilesOf(log)})}
}

// judge asks Jobledger's log about a situation, as of the situation's end, and notes what is wrong in the answers.
func (j *judged) judge(ctx context.Context, src history.Source, failed *failures.Failures) error {
	if j.CronUID != "" {
		if err := j.judgeCron(ctx, src); err != nil {
			return err
		}
	}
	if j.UID == "" {
		return nil
	}
	c, err := job.Read(ctx, src, events.JobStream(types.UID(j.UID)), history.Point{Time: events.Time(j.Over.UnixNano())})
	if err != nil {
		return err
	}
	answer := c.Answer()
	j.head += head(&answer)
	j.hold("explain", statements(&answer), j.Says, j.True)
	text, err := screen(&answer)
	if err != nil {
		return err
	}
	for _, w := range unsaid(j.Says, text) {
		j.missed = append(j.missed, "explain on a terminal: "+w)
	}
	if j.late, err = late(&answer, j.Says, j.Namespace); err != nil {
		return err
	}
	if want := stateWord[j.State]; want != "" && answer.State != want {
		j.wrong = append(j.wrong, fmt.Sprintf("explain: its state is %s, not %s", want, answer.State))
	}
	rows, _ := c.Attempts(false, 0, 0)
	for i := range rows {
		said := []string{fmt.Sprintf("ENDED BY %s: %s", rows[i].EndedBy, rows[i].How)}
		if n := rows[i].Restarts; n > 0 {
			said = append(said, fmt.Sprintf("restarted %d times", n))
		}
		for _, e := range rows[i].Exits {
			said = append(said, fmt.Sprintf("exit %d %s", e.Code, e.Reason))
		}
		var says [][]string
		if rows[i].UID == j.PodUID {
			says = j.PodSays
		}
		j.hold("attempts", said, says, j.True)
	}
	if j.PodUID != "" {
		pod, err := c.PodAnswer(j.PodUID)
		if err != nil {
			return errors.Join(errors.New("explain pod/"+j.Pod), err)
		}
		j.hold("explain pod", statements(&pod), j.PodSays, j.True)
	}
	return j.judgeFailures(failed)
}

// judgeCron asks the log about the CronJob of a situation, and about its due times, and notes what is wrong in the
// answers.
func (j *judged) judgeCron(ctx context.Context, src history.Source) error {
	stream := events.CronJobStream(types.UID(j.CronUID))
	c, err := cron.Read(ctx, src, stream, history.Point{Time: events.Time(j.Over.UnixNano())})
	if err != nil {
		return fmt.Errorf("explain cronjob: %w", err)
	}
	answer := c.Answer()
	j.head = head(&answer) + "\n      "
	j.hold("explain cronjob", statements(&answer), j.CronSays, j.True)
	for _, tick := range j.Ticks {
		why, err := whynot.Read(ctx, src, []events.Stream{stream}, tick.At, words.Zone{})
		if err != nil {
			return fmt.Errorf("why-not: %w", err)
		}
		var said []string
		for _, x := range why.Sentences {
			said = append(said, x.Text)
		}
		what, fate := "why-not "+tick.At.Format("15:04"), ""
		if why.Tick != nil {
			fate = why.Tick.Fate
		}
		// The answer may also mention a client and a gap, because the test's cleanup has deleted the Job since.
		j.hold(what, said, tick.Says, slices.Concat(j.True, []string{"client", "gap"}))
		if len(tick.Fate) > 0 && !slices.Contains(tick.Fate, fate) || slices.Contains(tick.NotFate, fate) {
			j.wrong = append(j.wrong, fmt.Sprintf("%s: its fate is %q: %s", what, fate, strings.Join(said, " ")))
		}
	}
	return nil
}

// stateWord maps the state in which a Job ended to the word that an answer must use for it.
var stateWord = map[string]string{"Complete": "Complete", "Failed": "Failed"}

func (j *judged) judgeFailures(failed *failures.Failures) error {
	i := slices.IndexFunc(failed.Items, func(x failures.Trouble) bool { return x.UID == j.UID })
	switch {
	case i >= 0:
		// The answer may also mention a client, because the test's cleanup had deleted the Job by then.
		j.hold("failures", []string{failed.Items[i].Why}, nil, slices.Concat(j.True, []string{"client"}))
	case j.State == "Failed":
		j.missed = append(j.missed, "failures: the Job")
	}
	return nil
}

// hold notes which groups of regular expressions in says have no match in said (the sentences of an answer), and which
// sentences are false. may lists what the sentences may claim in addition. what names the answer.
func (j *judged) hold(what string, said []string, says [][]string, may []string) {
	for i := range said { // replace the namespace, which differs from run to run and is a part of node names
		said[i] = strings.ReplaceAll(said[i], j.Namespace, "team")
	}
	for _, w := range unsaid(says, said) {
		j.missed = append(j.missed, what+": "+w)
	}
	for _, w := range falsehoods(j.Told, may, said) {
		j.wrong = append(j.wrong, what+": "+w)
	}
}

// screen returns the lines of an answer as a terminal of 100 columns shows them.
func screen(a *explain.Answer) ([]string, error) {
	var b strings.Builder
	page := show.Page{Out: &b, Width: 100}
	err := page.Answer(a, false)
	return []string{strings.Join(strings.Fields(b.String()), " ")}, err
}

// firstLines is how many lines of an answer, of 80 columns each, a user will surely read.
const firstLines = 3

// late returns the parts of the cause that the first lines of an answer do not name, followed by these lines. It
// returns nothing if no part is missing.
func late(a *explain.Answer, says [][]string, namespace string) ([]string, error) {
	var b strings.Builder
	page := show.Page{Out: &b, Width: 80}
	if err := page.Answer(a, false); err != nil {
		return nil, err
	}
	lines := strings.Split(b.String(), "\n")
	first := strings.Join(strings.Fields(strings.ReplaceAll(strings.Join(lines[:min(len(lines), firstLines)], " "), namespace, "team")), " ")
	// Text within double quotes has single quotes for its own: compare it in both forms.
	quotes := strings.ReplaceAll(first, "'", `"`)
	if not := unsaid(says, []string{first, quotes}); len(not) > 0 {
		return append(not, first), nil
	}
	return nil, nil
}

func head(a *explain.Answer) string {
	said := statements(a)
	return strings.Join(said[:min(len(said), 4)], "\n      ")
}

// sum prints for each cause how many situations were missed: the answers do not name the cause. It fails the test if
// these are too many, or if any answer was false.
func sum(t *testing.T, all []*judged) {
	t.Helper()
	byCause := map[string][2]int{}
	missed, late := 0, 0
	for _, j := range all {
		n := byCause[j.Cause]
		n[1]++
		if len(j.late) > 0 {
			late++
			t.Logf("LATE %s: %s", j.Name, strings.Join(j.late, "\n    "))
		}
		if len(j.missed) > 0 {
			missed++
			n[0]++
			t.Logf("MISS %s (%s)\n    not said: %s\n      %s", j.Name, j.Did, strings.Join(j.missed, "; "), j.head)
		}
		if len(j.wrong) > 0 {
			t.Errorf("FALSE %s (%s)\n    %s\n      %s", j.Name, j.Did, strings.Join(j.wrong, "\n    "), j.head)
		}
		byCause[j.Cause] = n
	}
	for _, cause := range slices.Sorted(maps.Keys(byCause)) {
		t.Logf("%-16s named in %d of %d", cause, byCause[cause][1]-byCause[cause][0], byCause[cause][1])
	}
	if rate := 100 * (len(all) - missed) / max(len(all), 1); rate < enough {
		t.Errorf("the staged cause is named in %d of %d situations (%d %%), less than %d %%", len(all)-missed, len(all), rate, enough)
	}
	// With fewer situations the rate of late answers means little, so it does not count.
	if rate := 100 * (len(all) - late) / max(len(all), 1); rate < enough && len(all) > many {
		t.Errorf("the staged cause stands in the first lines in %d of %d situations (%d %%), less than %d %%", len(all)-late, len(all), rate, enough)
	}
	t.Logf("the staged cause is named in %d of %d situations, and in the first %d lines of 80 columns in %d", len(all)-missed, len(all), firstLines, len(all)-late)
}
