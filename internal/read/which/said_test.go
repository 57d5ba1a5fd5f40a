package which_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/which"
)

// TestWhatIsSaidOfAName is one row for each thing that an error or a note can say to write instead.
func TestWhatIsSaidOfAName(t *testing.T) {
	src := sourceOf(populated(t))
	jobs := func(f *asking, p which.Place, h which.Object) error {
		_, err := f.Jobs(t.Context(), p, h)
		return err
	}
	made := func(f *asking, p which.Place, h which.Object) error {
		_, _, err := f.CronJobsOf(t.Context(), p, h)
		return err
	}
	for _, row := range []struct {
		ask   func(f *asking, p which.Place, h which.Object) error
		h     which.Object
		space string // "-prod" where it was not given
		says  string
	}{
		{jobs, which.Object{Name: "etk", Kind: which.Job}, "prod", "there is job/etl -n prod)"},
		{jobs, which.Object{Name: "etk", Kind: which.Job}, "-dev", "there is job/etl -n prod)"},
		{jobs, which.Object{Name: "etk", Kind: which.Job}, "dev", "'jobledger get jobs -n dev' lists all)"},
		{jobs, which.Object{Name: "etk", Kind: which.Pod}, "prod",
			"no Job with a pod etk in namespace \"prod\" ('jobledger get jobs -n prod' lists all)"},
		{jobs, which.Object{Name: "etk", Kind: which.CronJob}, "prod", "'jobledger get cronjobs -n prod' lists all)"},
		{jobs, which.Object{Name: "nothing", Kind: which.Job}, "-prod", "or any other ('jobledger get jobs -A' lists all)"},
		{jobs, which.Object{Name: "nothing", Kind: which.CronJob}, "-prod",
			"or any other ('jobledger get cronjobs -A' lists all)"},
		{jobs, which.Object{Name: "nothing", Kind: which.Job}, "empty",
			"the log knows nothing of that namespace: write NAMESPACE/NAME, or job/NAME -n NAMESPACE; " +
				"'jobledger get jobs -A' lists all)"},
		{jobs, which.Object{Name: "nothing", Kind: which.CronJob}, "empty", "'jobledger get cronjobs -A' lists all)"},
		{jobs, which.Object{Name: "nothing", Kind: which.CronJob}, "test", "'jobledger get cronjobs -n test' lists all)"},
		{jobs, which.Object{Name: "nothing", Kind: which.Job}, "clock", "('jobledger get jobs -n clock' lists all)"},
		{jobs, which.Object{Name: "nightly", Kind: which.Job}, "prod", "there is cronjob/nightly -n prod)"},
		{jobs, which.Object{Name: "etl", Kind: which.CronJob}, "prod", "there is job/etl -n prod)"},
		{jobs, which.Object{Name: "both", Kind: which.Pod}, "prod", "there is job/both -n prod, cronjob/both -n prod)"},
		{jobs, which.Object{Name: "nightly-29999999", Kind: which.CronJob}, "prod", "there is cronjob/nightly -n prod)"},
		{jobs, which.Object{Name: "nightly-29999999", Kind: which.CronJob}, "test",
			"'jobledger get cronjobs -n test' lists all)"},
		{jobs, which.Object{Name: "nightly-29999999", Kind: which.CronJob}, "-test",
			"there is cronjob/nightly -n dev, cronjob/nightly -n prod)"},
		{jobs, which.Object{Name: "nightly-29512345", Kind: which.CronJob}, "prod",
			"there is cronjob/nightly -n prod, job/nightly-29512345 -n prod)"},
		{jobs, which.Object{Name: "nightlyy", Kind: which.CronJob}, "-test",
			"there is cronjob/nightly -n dev, cronjob/nightly -n prod)"},
		{jobs, which.Object{Name: "wide", Kind: which.Job}, "prod", "there is job/wide -n dev, job/wide -n test)"},
		{jobs, which.Object{Name: "wide", Kind: which.Job}, "tesd", "there is job/wide -n test, job/wide -n dev)"},
		{jobs, which.Object{Name: "wide", Kind: which.Job}, "-prod",
			"is in 2 namespaces: give -n NAMESPACE, or NAMESPACE/NAME, such as dev/wide"},
		{jobs, which.Object{Name: "a000000", Kind: which.Job}, "prod",
			"job/a000000 is not one Job: write more of the UID, or the name"},
		{jobs, which.Object{Name: "c000000", Kind: which.CronJob}, "prod",
			"cronjob/c000000 is not one CronJob: write more of the UID, or the name"},
		{jobs, which.Object{Name: "only-m9k1z", Kind: which.Job}, "-prod", "job/only-m9k1z is in namespace dev"},
		{jobs, which.Object{Name: "etl-x7f2q", Kind: which.Pod}, "prod", "pod etl-x7f2q is of job prod/etl"},
		{made, which.Object{Name: "nightly-29512345", Kind: which.Any}, "prod", "job/nightly-29512345 is of cronjob/nightly"},
		{made, which.Object{Name: "nightly-29512345-b6b6b", Kind: which.Any}, "prod",
			"pod/nightly-29512345-b6b6b is of cronjob/nightly"},
		{made, which.Object{Name: "etl", Kind: which.Any}, "prod",
			"job/etl was not made by a CronJob; 'jobledger explain job/etl' says how it is"},
		{made, which.Object{Name: "wide", Kind: which.Any}, "test", "job/wide was not made by a CronJob;"},
		{made, which.Object{Name: "nightlyy", Kind: which.Any}, "prod", "(there is cronjob/nightly -n prod"},
		{made, which.Object{Name: "nothing", Kind: which.Any}, "prod",
			"no Job, CronJob or pod \"nothing\" in namespace \"prod\""},
		{made, which.Object{Name: "nightly", Kind: which.Any}, "test",
			"no Job, CronJob or pod \"nightly\" in namespace \"test\" (there is "},
		{made, which.Object{Name: "report", Kind: which.Any}, "-prod", "cronjob/report is in namespace dev"},
	} {
		space, anywhere := strings.CutPrefix(row.space, "-")
		f := finderOf(src)
		err := row.ask(f, which.Place{Namespace: space, Named: !anywhere}, row.h)
		said := strings.Join(f.notes, "\n")
		if err != nil {
			said += err.Error()
		}
		if !strings.Contains(said, row.says) {
			t.Errorf("%s in %s: %s\nwant %s", row.h, row.space, said, row.says)
		}
	}
}

// TestWhatAUIDMeans: a whole UID is taken as it is, in either case; a beginning means the one object that has it.
func TestWhatAUIDMeans(t *testing.T) {
	src := sourceOf(populated(t))
	in := which.Place{Namespace: "empty", Named: true}
	for i := range world {
		x := &world[i]
		if x.kind == "pod" {
			continue
		}
		kind := map[string]which.Kind{"job": which.Job, "cronjob": which.CronJob}[x.kind]
		for _, text := range []string{x.uid, strings.ToUpper(x.uid), x.uid[:8], strings.ToUpper(x.uid[:8])} {
			f := finderOf(src)
			got, err := f.Jobs(t.Context(), in, which.Object{Name: text, Kind: kind})
			if err != nil || !slices.Equal(got, []events.Stream{x.stream()}) || len(f.notes) > 0 {
				t.Errorf("%s %s: %v, %q, %v", x.kind, text, got, f.notes, err)
			}
			if h, place, err := f.Resolve(t.Context(), in, which.Object{Name: text, Kind: which.Any}); err != nil ||
				h.Name != text || h.Kind != which.Job || place != in {
				t.Errorf("%s alone: %s in %v, %v", text, h, place, err)
			}
		}
	}
	f := finderOf(src)
	if got, err := f.Jobs(t.Context(), in, which.Object{Name: "abc", Kind: which.Job}); err == nil {
		t.Errorf("abc: %v", got)
	}
	_, err := f.Jobs(t.Context(), in, which.Object{Name: "ab00000", Kind: which.Job})
	wrong := (*which.WrongError)(nil)
	if !errors.As(err, &wrong) {
		t.Fatal(err)
	}
	var want []string
	for _, at := range []int{14, 13, 12} {
		want = append(want, fmt.Sprintf("  %s  %s/%s (%s)", world[at].uid, world[at].namespace, world[at].name,
			map[bool]string{true: "Failed", false: "Waiting"}[at == 14]))
	}
	if lines := wrong.Lines(); len(lines) != 4 || !strings.Contains(lines[0], "begin with ab00000") ||
		!slices.Equal(lines[1:], want) {
		t.Errorf("%q, want %q", lines, want)
	}
}

// TestOtherLivesAreNoted: of two CronJobs of a name each has the other, the one earlier and the other later.
func TestOtherLivesAreNoted(t *testing.T) {
	src := sourceOf(populated(t))
	for i, row := range []struct{ note, later string }{{"that of a later CronJob: cronjob/" + world[1].uid, "true"},
		{"that of an earlier CronJob: cronjob/" + world[0].uid, "false"}, {}} {
		x, f := &world[i], finderOf(src)
		f.NoteLives(t.Context(), x.stream(), x.namespace, x.name)
		lives := f.Lives(t.Context(), x.stream(), x.namespace, x.name)
		if row.note == "" {
			if len(f.notes) > 0 || len(lives) > 0 {
				t.Errorf("%s/%s: %q, %v", x.namespace, x.name, f.notes, lives)
			}
			continue
		}
		other := &world[1-i]
		if len(f.notes) != 1 || !strings.Contains(f.notes[0], row.note) || len(lives) != 1 || lives[0].UID != other.uid ||
			fmt.Sprint(lives[0].Later) != row.later || lives[0].Created == 0 {
			t.Errorf("%s: %q, %+v", x.uid, f.notes, lives)
		}
		if s, job, err := f.LifeAt(t.Context(), having("cronjob", "prod", "nightly"), "nightly",
			history.Point{Sequence: events.Sequence(i + 2)}); err != nil || s != x.stream() || job.UID != x.uid {
			t.Errorf("as of record %d: %s, %v", i+2, s, err)
		}
	}
	f := finderOf(src)
	f.NoteLives(t.Context(), world[0].stream(), "prod", "")
	f.NoteLives(t.Context(), world[3].stream(), "prod", "nightly")
	f.NoteOlder(nil)
	if len(f.notes) > 0 {
		t.Errorf("of none: %q", f.notes)
	}
	f.NoteOlder(having("job", "prod", "etl"))
	if len(f.notes) != 1 || !strings.Contains(f.notes[0], "earlier Job: job/"+world[8].uid) {
		t.Errorf("of Jobs: %q", f.notes)
	}
	for point, says := range map[history.Point]string{{Sequence: 1}: "no cronjob/nightly at that point",
		{}: "the log knows no cronjob/nightly:"} {
		lives := having("cronjob", "prod", "nightly")
		if point == (history.Point{}) {
			lives = nil
		}
		if _, _, err := f.LifeAt(t.Context(), lives, "nightly", point); !errors.Is(err, history.ErrNoCronJob) ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v", point, err)
		}
	}
}
