package history

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/internal/subject/cronjob"
	"github.com/jobledger/jobledger/internal/subject/zones"
)

// TestWhatAQueryWants: each bound at its edge.
func TestWhatAQueryWants(t *testing.T) {
	s := events.JobStream("u")
	r := events.Record{Header: events.Header{Sequence: 5, Time: 100, Stream: s, Kind: events.KindPodAdded}, Evidence: events.Evidence{Namespace: "ns"}}
	bare := r
	bare.Evidence = events.Evidence{}
	var names words.Names
	named := events.Record{Header: events.Header{Sequence: 4, Stream: s, Kind: events.KindJobAdded}, Facts: &events.JobSeen{}, Evidence: events.Evidence{Namespace: "ns", Name: "demo"}}
	names.Learn(&named)
	for _, row := range []struct {
		q    Query
		r    *events.Record
		want bool
	}{
		{Query{}, &r, true}, {Query{From: 5}, &r, true}, {Query{From: 6}, &r, false}, {Query{Since: 100}, &r, true}, {Query{Since: 101}, &r, false},
		{Query{Until: 100}, &r, true}, {Query{Until: 99}, &r, false}, {Query{Kinds: []events.Kind{events.KindPodAdded}}, &r, true},
		{Query{Kinds: []events.Kind{events.KindPodDeleted}}, &r, false}, {Query{Namespace: "ns"}, &r, true}, {Query{Namespace: "other"}, &r, false},
		{Query{Namespace: "ns"}, &bare, true}, {Query{Namespace: "other"}, &bare, false}, {Query{}, &bare, true},
	} {
		if got := row.q.Wants(row.r, &names); got != row.want {
			t.Errorf("%+v: wanted %t", row.q, got)
		}
	}
}

// TestNamesThatAPodsNameBeginsWith: all that stands before a dash; and where it is as long as it can be, how a name
// that was cut begins.
func TestNamesThatAPodsNameBeginsWith(t *testing.T) {
	long := strings.Repeat("x", 52) + "-12345-abcde"
	for _, row := range []struct{ pod, names, stems string }{
		{"a-b-c", "a-b a", ""}, {"-a", "", ""}, {"abc", "", ""}, {"a-", "a", ""},
		{long[1:], long[1:58] + " " + long[1:52], long[1:52] + " " + long[1:59]}, {long[:63], long[:58] + " " + long[:52], long[:58]},
		{strings.Repeat("x", 50) + "-123456-abcde", strings.Repeat("x", 50) + "-123456 " + strings.Repeat("x", 50), strings.Repeat("x", 50) + " " + strings.Repeat("x", 50) + "-123456-"},
	} {
		if names, stems := strings.Join(jobNames(row.pod), " "), strings.Join(cutNames(row.pod), " "); names != row.names || stems != row.stems {
			t.Errorf("%s: %q and %q, want %q and %q", row.pod, names, stems, row.names, row.stems)
		}
	}
}

// lives is a source of many Jobs of one name, the last of which had a pod.
type lives struct {
	Source
	n, looked int
}

func (l *lives) Find(context.Context, string, string) (all []events.Stream, err error) {
	for i := range l.n {
		all = append(all, events.JobStream(types.UID(fmt.Sprint(i))))
	}
	return all, nil
}

func (*lives) Beside(error) bool { return false }

func (l *lives) Records(_ context.Context, q Query) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		l.looked++
		if q.Stream.ID == fmt.Sprint(l.n-1) {
			r := events.Record{Facts: &events.CommandEnded{Ending: events.Refused}, Evidence: events.Evidence{Name: "a-x"}}
			if yield(r, nil) {
				r.Facts = &events.PodSeen{}
				yield(r, nil)
			}
		}
	}
}

// TestAPodIsLookedForAmongSoMany: among 64 Jobs, each once.
func TestAPodIsLookedForAmongSoMany(t *testing.T) {
	for n, want := range map[int]error{1: nil, 64: nil, 65: ErrManyJobs} {
		l := &lives{n: n}
		s, ok, err := JobOfPod(t.Context(), l, "ns", "a-x")
		if !errors.Is(err, want) || ok != (want == nil) || ok && s.ID != fmt.Sprint(n-1) || l.looked != min(n, 64) {
			t.Errorf("among %d: %s, %t, %v, %d were looked at", n, s, ok, err, l.looked)
		}
	}
}

// longNamed is a source of Jobs whose names are too long for the names of their pods.
type longNamed struct {
	lives
	of  string
	err error
}

func (*longNamed) Find(context.Context, string, string) ([]events.Stream, error) { return nil, nil }

func (l *longNamed) Jobs(_ context.Context, q JobsQuery) (page JobsPage, err error) {
	for i := range l.n {
		if strings.HasPrefix(l.of, q.Name) && q.Name != "" {
			page.Items = append(page.Items, Summary{UID: fmt.Sprint(i)})
		}
	}
	return page, l.err
}

func (l *longNamed) Records(ctx context.Context, q Query) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r, err := range l.lives.Records(ctx, q) {
			r.Evidence.Name = l.of
			if !yield(r, err) {
				return
			}
		}
	}
}

// TestAPodOfAJobWithALongName: its name begins with a part of the Job's only, and leads to the Job all the same. A list
// that fails is an error, and no answer.
func TestAPodOfAJobWithALongName(t *testing.T) {
	pod := strings.Repeat("a", 40) + strings.Repeat("b", 17) + "-x7f2q"
	if len(pod) != longestName {
		t.Fatal(len(pod))
	}
	l := &longNamed{lives: lives{n: 3}, of: pod}
	if s, ok, err := JobOfPod(t.Context(), l, "ns", pod); s.ID != "2" || !ok || err != nil {
		t.Errorf("%s is of %s, %t, %v", pod, s, ok, err)
	}
	l = &longNamed{lives: lives{n: 3}, of: pod, err: errors.New("no list")}
	if s, ok, err := JobOfPod(t.Context(), l, "ns", pod); ok || !errors.Is(err, l.err) {
		t.Errorf("without a list it is of %s, %t, %v", s, ok, err)
	}
	l = &longNamed{lives: lives{n: 65}, of: pod}
	if _, ok, err := JobOfPod(t.Context(), l, "ns", pod); ok || !errors.Is(err, ErrManyJobs) {
		t.Errorf("among 65: %t, %v", ok, err)
	}
}

// TestEachZoneHasItsRules: of a CronJob that names two zones each is counted by the rules that it was seen with, and
// another zone by none. @every counts from the newest start, and before the first one from the creation.
func TestEachZoneHasItsRules(t *testing.T) {
	named := []events.ZoneName{{Name: "Europe/Berlin", Hash: "b"}, {Name: "Asia/Tokyo", Hash: "t"}}
	seen := &events.CronJobSeen{Created: 3, Zones: named}
	timing := TimingOf(seen)
	for name, want := range map[string]string{"Europe/Berlin": "b", "Asia/Tokyo": "t", "UTC": ""} {
		if got := timing.Hash(name); got != want {
			t.Errorf("%s is counted by %q, want %q", name, got, want)
		}
	}
	if timing.Anchor != 3 {
		t.Errorf("@every counts from %d", timing.Anchor)
	}
	seen.LastSchedule = 9
	if timing = TimingOf(seen); timing.Anchor != 9 {
		t.Errorf("after a start @every counts from %d", timing.Anchor)
	}
}

// TestWhatSaysLess: how a Job ended, and then less.
func TestWhatSaysLess(t *testing.T) {
	ends := []State{StateComplete, StateFailed, StateDeleted}
	for _, before := range States {
		for _, behind := range States {
			want := slices.Contains(ends, before) && (behind == StateUnseen || behind == StateFinished)
			if got := saysLess(&Job{State: behind}, &Job{State: before}); got != want {
				t.Errorf("%s behind %s says less: %t", behind, before, got)
			}
		}
	}
	if got := fmt.Sprint(States, CronStates); got != "[Unseen Unmanaged Waiting Running Suspended Failing Finishing Complete Failed Finished Deleting Deleted] "+
		"[Unseen Invalid Suspended Held Overdue Running Waiting Deleting Deleted]" {
		t.Error(got)
	}
}

// TestTimesThatTouch: a time that ended as another began touches it.
func TestTimesThatTouch(t *testing.T) {
	at := recordjson.Instant(10)
	p := PassedOver{All: []*Passed{
		{Namespace: "a", From: at, Until: 20, Versions: 1}, {From: at, Until: 20, Went: []Went{{"pod", 1}}}, {Namespace: "a", From: at, Until: 20},
		{Namespace: "b", From: at, Uncounted: 12},
	}}
	for _, row := range []struct {
		namespace   string
		all         bool
		from, until events.Time
		want        int
	}{
		{"a", false, 0, 0, 2}, {"a", false, 20, 0, 2}, {"a", false, 21, 0, 0}, {"a", false, 0, 10, 2}, {"a", false, 0, 9, 0}, {"c", false, 0, 0, 1},
		{"c", true, 0, 0, 3}, {"b", false, 99, 0, 1}, {"b", false, 21, 9, 0},
	} {
		if got := p.Touching(row.namespace, row.all, row.from, row.until); len(got) != row.want {
			t.Errorf("%+v: %+v", row, got)
		}
	}
}

// TestEdgesOfGaps: a time at which somebody watched lies in none, and an end without a beginning is none.
func TestEdgesOfGaps(t *testing.T) {
	for at, want := range map[events.Time]bool{9: false, 10: false, 11: true, 19: true, 20: false} {
		if got := (&Gap{From: 10, Until: 20}).has(at); got != want {
			t.Errorf("%d lies in it: %t", at, got)
		}
	}
	if g := (&Gap{From: 10}); !g.has(1000) {
		t.Error("it has not ended")
	}
	var g Gaps
	if began := g.Learn(&events.Record{Facts: &events.Synced{Resources: []events.Resource{events.Jobs}}}); began != nil || g.open != nil {
		t.Errorf("%+v", began)
	}
}

// TestWhereAPageEnded: what a page says is read back, and nothing else is taken for it.
func TestWhereAPageEnded(t *testing.T) {
	want := PastJob{Created: 7, UID: "u/v"}
	if got := parsePastJob(want.String()); got == nil || *got != want {
		t.Errorf("%+v", got)
	}
	for _, text := range []string{"", "past/7", "past/7/", "past/x/u", "7/u", "u"} {
		if got := parsePastJob(text); got != nil {
			t.Errorf("%q is %+v", text, got)
		}
	}
}

// TestHowLongACronJobMayBeLate: five seconds, or its deadline where that is less.
func TestHowLongACronJobMayBeLate(t *testing.T) {
	for seconds, want := range map[int64]time.Duration{-1: 0, 0: 0, 4: 4 * time.Second, 5: 5 * time.Second, 6: 5 * time.Second, 1 << 62: 5 * time.Second} {
		if got := Grace(&seconds); got != want || GraceUndecided(&seconds) != want+time.Minute {
			t.Errorf("%d: %s", seconds, got)
		}
	}
	if Grace(nil) != 5*time.Second || deadline(1<<62) != deadline(1<<33) || deadline(1<<33) <= 0 {
		t.Error("no deadline, or one that no duration can be")
	}
	for _, h := range []events.TickHold{events.HeldForbid, events.HeldSuspended, events.NotHeld} {
		if got := holdNamed(h.String()); got != h {
			t.Errorf("%s is %s", h, got)
		}
	}
}

// TestAccountsThatAreRecalled: they stand by their first records, and those of which these are not known by their UIDs.
func TestAccountsThatAreRecalled(t *testing.T) {
	f := NewFold()
	uids := strings.Split("qwertyuiopasdfghjkl", "")
	for _, uid := range uids {
		f.Recall(Summary{UID: uid, Last: 9, Gone: uid == "q"})
		f.RecallCron(CronSummary{UID: uid, Last: 9, Gone: uid == "q"})
	}
	f.Recall(Summary{UID: "a-first", First: 3})
	f.RecallCron(CronSummary{UID: "a-first", First: 3})
	want := append(slices.Sorted(slices.Values(uids)), "a-first")
	for i, a := range f.Accounts() {
		if c := f.CronAccounts()[i]; a.Stream.ID != want[i] || c.Stream.ID != want[i] || (a.Deleted == 9) != (want[i] == "q") || (c.Deleted == 9) != (want[i] == "q") {
			t.Errorf("%d: %s and %s, want %s", i, a.Stream, c.Stream, want[i])
		}
	}
}

// TestWhatListsWant: each part of a query by itself.
func TestWhatListsWant(t *testing.T) {
	job := Summary{Namespace: "ns", Name: "etl-1", UID: "abc", State: StateFailed, Labels: map[string]string{"team": "data"}}
	cron := CronSummary{Namespace: "ns", Name: "etl", UID: "abc", State: CronHeld}
	jobs := map[*JobsQuery]bool{
		{}: true, {Namespace: "ns"}: true, {Namespace: "other"}: false, {States: []State{StateFailed}}: true, {States: []State{StateComplete}}: false,
		{Name: "etl"}: true, {Name: "x"}: false, {UID: "a"}: true, {UID: "b"}: false, {Labels: labels.SelectorFromSet(labels.Set{"team": "data"})}: true,
		{Labels: labels.SelectorFromSet(labels.Set{"team": "other"})}: false,
	}
	for q, want := range jobs {
		if got := q.Wants(&job); got != want {
			t.Errorf("%+v wants it: %t", q, got)
		}
	}
	for q, want := range map[*CronJobsQuery]bool{
		{}: true, {Namespace: "ns"}: true, {Namespace: "other"}: false, {States: []CronState{CronHeld}}: true, {States: []CronState{CronWaiting}}: false,
		{Name: "etl"}: true, {Name: "x"}: false, {UID: "a"}: true, {UID: "b"}: false,
	} {
		if got := q.Wants(&cron); got != want {
			t.Errorf("%+v wants it: %t", q, got)
		}
	}
}

// TestTheZoneOfASchedule: that which the schedule names comes before spec.timeZone (C-041), and else it is UTC.
func TestTheZoneOfASchedule(t *testing.T) {
	var rules ZoneRules
	hashes := map[string]string{}
	for _, name := range []string{"Europe/Berlin", "Asia/Tokyo"} {
		found, ok := zones.Find(name)
		if !ok {
			t.Fatal(name)
		}
		hashes[name] = found.Hash
		if err := rules.Find(t.Context(), nil, events.ZoneName{Name: name, Hash: found.Hash}, events.ZoneName{Name: "Nowhere"}); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct {
		schedule string
		zone     *string
		want     string
	}{
		{"0 0 * * *", nil, "UTC"}, {"0 0 * * *", new("Asia/Tokyo"), "Asia/Tokyo"}, {"TZ=Europe/Berlin 0 0 * * *", nil, "Europe/Berlin"},
		{"TZ=Europe/Berlin 0 0 * * *", new("Asia/Tokyo"), "Europe/Berlin"}, {"0 0 * * *", new("Moon/Tycho"), ""},
	} {
		_, zone, err := rules.Schedule(row.schedule, row.zone, func(name string) string { return hashes[name] })
		if err != nil && row.want != "" || err == nil && zone.String() != row.want {
			t.Errorf("%s is in %s: %v", row.schedule, zone, err)
		}
	}
	if openOf(&events.TickLedger{Open: 5, Closed: true}, cronjob.Place{}) != nil || openOf(&events.TickLedger{}, cronjob.Place{}) != nil ||
		openOf(&events.TickLedger{Open: 5}, cronjob.Place{}) == nil {
		t.Error("what is open, or is not")
	}
}
