package ask_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

// clocked is a log of which only its end and the clock of its controller matter. It counts what is asked of it.
type clocked struct {
	history.Source
	end, now            events.Time
	headFails, nowFails error
	heads, nows         int
}

func (c *clocked) Head(context.Context) (events.Identity, store.Head, error) {
	c.heads++
	return events.Identity{}, store.Head{Sequence: 90, Time: c.end}, c.headFails
}

func (c *clocked) Now(context.Context) (events.Time, error) {
	c.nows++
	return c.now, c.nowFails
}

func (c *clocked) from(notes *[]string) ask.Source {
	return ask.Source{
		Source: c, Clock: func() time.Time { return on("15 12:00").Go() }, Note: func(text string) { *notes = append(*notes, text) },
	}
}

// on is an instant of March 2026, such as "14 09:30".
func on(clock string) events.Time {
	t, err := time.Parse("2006-01-02 15:04", "2026-03-"+clock)
	if err != nil {
		panic(err)
	}
	return events.At(t)
}

// TestNotesOfDaysAreAsKept: which instant a point and a span are, what is noted of the day that was chosen, and how
// often the end of the log and its clock are asked for. A controller runs or not, its clock is before, at or behind the
// end of the log, and times are near these, or of another day, in UTC and elsewhere.
func TestNotesOfDaysAreAsKept(t *testing.T) {
	var out strings.Builder
	berlin := time.FixedZone("berlin", 3600)
	for _, log := range []clocked{
		{end: on("14 22:45")}, {end: on("14 22:45"), now: on("14 23:07")}, {end: on("14 23:50"), now: on("15 00:05")}, {end: on("14 23:07"), now: on("14 23:07")},
		{end: on("14 23:07"), now: on("14 22:45")}, {end: on("15 11:30")}, {end: on("15 11:30"), now: on("15 12:00")},
	} {
		fmt.Fprintf(&out, "== a log to %s, its clock %s\n", log.end.Go().Format("02 15:04"), log.now.Go().Format("02 15:04"))
		for _, zone := range []words.Zone{{}, {Location: berlin}} {
			for _, text := range []string{"22:40", "22:45", "22:46", "23:06", "23:10", "00:10", "12:00", "5m", "2026-03-14T23:06"} {
				l := log
				var p ask.Point
				set(t, func(fs *pflag.FlagSet) { p.Bind(fs, "it") }, "at", text)
				var notes []string
				err := p.Read(zone)
				at, failed := p.In(t.Context(), l.from(&notes))
				if err = errors.Join(err, failed); err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&out, "at %s %v: %s, %d %d %q\n", text, zone.Location, at.Time.Go().Format("02 15:04"), l.heads, l.nows, notes)
			}
			for _, span := range [][2]string{
				{"", ""}, {"22:40", ""}, {"", "22:40"}, {"22:40", "22:50"}, {"23:40", "00:10"}, {"2026-03-14", "22:40"}, {"5m", ""}, {"2026-03-16", "2026-03-17"},
				{"2026-03-14T22:45", ""}, {"2026-03-14T22:46", ""}, {"2026-03-14", "2026-03-14"}, {"2026-03-14", "2026-03-13"},
			} {
				l := log
				var s ask.Span
				set(t, func(fs *pflag.FlagSet) { s.BindSince(fs, "it"); s.BindUntil(fs, "it") }, "since", span[0], "until", span[1])
				var notes []string
				err := s.Read(zone)
				since, until, failed := s.In(t.Context(), l.from(&notes))
				fmt.Fprintf(&out, "%q %v: %s to %s, %d %d %q %v\n", span, zone.Location, since.Go().Format("02 15:04"), until.Go().Format("02 15:04"), l.heads, l.nows,
					notes, errors.Join(err, failed))
			}
		}
	}
	for _, bad := range []clocked{{headFails: historytest.ErrRead}, {end: on("14 22:45"), nowFails: historytest.ErrRead}} {
		for _, text := range []string{"22:40", "2026-03-14", "5m"} {
			l := bad
			var p ask.Point
			var s ask.Span
			set(t, func(fs *pflag.FlagSet) { p.Bind(fs, "it"); s.BindSince(fs, "it"); s.BindUntil(fs, "it") }, "at", text, "since", text)
			var notes []string
			if err := errors.Join(p.Read(words.Zone{}), s.Read(words.Zone{})); err != nil {
				t.Fatal(err)
			}
			at, one := p.In(t.Context(), l.from(&notes))
			since, until, two := s.In(t.Context(), l.from(&notes))
			fmt.Fprintf(&out, "fails %s: %v %v, %v %v %v, %q\n", text, at, one, since, until, two, notes)
		}
	}
	historytest.Keep(t, *update, "testdata/days.txt", out.String())
}

// set sets flags; an empty value leaves one as it is.
func set(t *testing.T, bind func(fs *pflag.FlagSet), pairs ...string) {
	t.Helper()
	fs := pflag.NewFlagSet("x", pflag.ContinueOnError)
	bind(fs)
	for pair := range slices.Chunk(pairs, 2) {
		if pair[1] == "" {
			continue
		}
		if err := fs.Set(pair[0], pair[1]); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAddressesAreThose: of each sort of arguments, none to three of them, with parameters and without.
func TestAddressesAreThose(t *testing.T) {
	for _, row := range []struct {
		takes  ask.Takes
		args   string
		path   []string
		values string
	}{
		{ask.Nothing, "", nil, ""}, {ask.AText, "", nil, ""}, {ask.AnInstant, "", nil, ""}, {ask.MaybeOne, "", nil, ""},
		{ask.AText, "etl", nil, "q=etl"}, {ask.AText, "a b", []string{"a"}, "q=b"}, {ask.AnInstant, "prod/etl", []string{"prod", "etl"}, ""},
		{ask.AnInstant, "prod/etl 10:00", []string{"prod", "etl"}, "time=10%3A00"}, {ask.AnInstant, "cronjob prod/etl 5m", []string{"cronjob", "prod", "etl"}, "time=5m"},
		{ask.AnObject, "etl", []string{"etl"}, ""}, {ask.AnObject, "job etl", []string{"job", "etl"}, ""}, {ask.AJob, "prod/etl", []string{"prod", "etl"}, ""},
		{ask.ACronJob, "etl", []string{"etl"}, ""}, {ask.MaybeOne, "job/prod/etl", []string{"job", "prod", "etl"}, ""},
	} {
		for _, set := range []bool{false, true} {
			fs := pflag.NewFlagSet("x", pflag.ContinueOnError)
			fs.StringSlice("state", nil, "")
			fs.Int("limit", 5, "")
			want := row.values
			if set {
				if err := errors.Join(fs.Set("state", "a,b"), fs.Set("limit", "5")); err != nil {
					t.Fatal(err)
				}
				first, rest := "limit=5", "state=a&state=b"
				if strings.HasPrefix(want, "q") || want == "" {
					want = strings.Trim(first+"&"+want, "&") + "&" + rest
				} else {
					want = first + "&" + rest + "&" + want
				}
			}
			path, values := ask.Address(row.takes, strings.Fields(row.args), fs)
			if !slices.Equal(path, row.path) || (path == nil) != (row.path == nil) || values.Encode() != want {
				t.Errorf("%d %q, set %t: %q %s, want %q %s", row.takes, row.args, set, path, values.Encode(), row.path, want)
			}
		}
	}
}

// own is a controller's stream of some kinds of records, the newest last.
type own struct {
	history.Source
	kinds []events.Kind
	fails error
}

func (o own) ReadStream(context.Context, events.Stream, events.Sequence, store.Direction) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for i, kind := range slices.Backward(o.kinds) {
			if !yield(events.Record{Header: events.Header{Sequence: events.Sequence(i + 1), Time: on("14 09:30"), Kind: kind}}, nil) {
				return
			}
		}
		if o.fails != nil {
			yield(events.Record{}, o.fails)
		}
	}
}

// TestWhatIsNotedOfNoListing: that a controller has listed nothing since its start, unless it says itself why, or its
// start is too far back, or cannot be read.
func TestWhatIsNotedOfNoListing(t *testing.T) {
	other := func(n int) []events.Kind { return slices.Repeat([]events.Kind{events.KindPassedOver}, n) }
	start := []events.Kind{events.KindControllerStarted}
	const since = "nothing was listed since the controller started at 2026-03-14 09:30:00Z"
	for _, row := range []struct {
		name  string
		kinds []events.Kind
		fails error
		asked func(context.Context) string
		want  string
	}{
		{"no record", nil, nil, nil, ""}, {"a start", start, nil, nil, since}, {"a start and others", append(start, other(199)...), nil, nil, since},
		{"a start far back", append(start, other(200)...), nil, nil, ""}, {"a listing since", append(start, events.KindSynced), nil, nil, ""},
		{"a state since", append(start, events.KindStateStored, events.KindPassedOver), nil, nil, ""}, {"a listing before", append([]events.Kind{events.KindSynced}, start...), nil, nil, since},
		{"a failed read", other(3), historytest.ErrRead, nil, ""}, {"the controller knows no reason", start, nil, func(context.Context) string { return "" }, since},
		{"the controller knows why", start, nil, func(context.Context) string { return "no right" }, "nothing was listed: no right"},
	} {
		var notes []string
		src := ask.Source{Source: own{kinds: row.kinds, fails: row.fails}, NotListed: row.asked, Note: func(text string) { notes = append(notes, text) }}
		src.NoteUnlisted(t.Context())
		if got := strings.Join(notes, "|"); !strings.HasPrefix(got, row.want) || (got == "") != (row.want == "") || len(notes) > 1 {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}

// besideDamage are questions about objects, some of which had several lives.
var besideDamage = map[string][]string{
	"observed": {
		"get job/three-lives/nightly-sync", "get job/three-lives/nightly-sync --at=400", "explain job/three-lives/nightly-sync", "attempts three-lives/nightly-sync",
		"timeline three-lives/nightly-sync", "get job/backoff-limit/etl-orders", "events three-lives/nightly-sync",
		"events three-lives/nightly-sync --tail=3", "events three-lives/nightly-sync --limit=5000 --words=whole",
	},
	"cronjobs-observed": {"get %s", "explain %s", "ticks %s --tail=2", "next %s", "why-not %s 5m", "get %s --at=120",
		"events %s", "events %s --tail=5 --words=brief"},
}

// TestQuestionsBesideDamageAreAnsweredAsKept: one record of the object, or of the controller, is damaged. A sum is kept
// of all that is said then, and how many answers and errors there are.
func TestQuestionsBesideDamageAreAnsweredAsKept(t *testing.T) {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(besideDamage)) {
		src, now := recorded(t, name)
		log := src.(history.Local).Log
		crons, err := src.CronJobs(t.Context(), history.CronJobsQuery{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range besideDamage[name] {
			namespace, object := "backoff-limit", "etl-orders"
			if strings.Contains(line, "three-lives") {
				namespace, object = "three-lives", "nightly-sync"
			}
			if len(crons.Items) > 0 {
				namespace, object = crons.Items[0].Namespace, crons.Items[0].Name
				line = fmt.Sprintf(line, "cronjob/"+namespace+"/"+object)
			}
			streams, err := src.Find(t.Context(), namespace, object)
			if err != nil || len(streams) == 0 {
				t.Fatal(namespace, object, err)
			}
			places := map[events.Sequence]bool{}
			for _, s := range append(slices.Clone(streams[:min(3, len(streams))]), events.Controller) {
				var all []events.Sequence
				for r, err := range log.ReadStream(t.Context(), s, 0, store.Forward) {
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, r.Sequence)
				}
				places[all[0]], places[all[len(all)/2]], places[all[len(all)-1]] = true, true, true
			}
			sum, answers, failed := fnv.New32a(), 0, 0
			for _, at := range slices.Sorted(maps.Keys(places)) {
				f := &historytest.Failing{Reader: log, Bad: func(n events.Sequence) error {
					if n == at {
						return &store.CorruptError{Path: "a.db", At: at, Next: at + 1}
					}
					return nil
				}}
				damage := &store.Damage{}
				answer, err := askedOnce(t.Context(), t, ask.Source{Source: f.Source(joblist.New(joblist.Config{Log: f}), damage), Damage: damage}, now, line)
				if answer != "" {
					answers++
				}
				if err != nil {
					failed++
				}
				wrong := (*which.WrongError)(nil)
				fmt.Fprintln(sum, at, answer, err, errors.As(err, &wrong))
			}
			fmt.Fprintf(&out, "%s> %s: %d places, %d answers, %d errors, %08x\n", name, line, len(places), answers, failed, sum.Sum32())
		}
	}
	historytest.Keep(t, *update, "testdata/damaged.txt", out.String())
}
