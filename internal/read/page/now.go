package page

import (
	"context"
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/failures"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/picture"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/words"
)

// nowScreen is the first page: the Jobs and CronJobs in trouble, and the newest ones.
type nowScreen struct {
	Tallies      []tally
	Rest         []string
	Since, Until string // the values of ?since= and ?until=, unchanged
	From, To     string // begin and end of the picture of Jobs, for display
	Namespace    string
	Windows      []form
	Strip        template.HTML
	Sorts        []trouble
	Jobs         []jobRow
	JobsCut      bool
	CronJobs     []cronRow
	CronJobsCut  bool
}

// tally is one of the large numbers at the top of the first page, such as "3 stuck".
type tally struct{ Label, Number, Rest, Tone string }

type trouble struct {
	Sort, Tone string
	Rows       []troubleRow
}

type troubleRow struct {
	Name, Href, Kind string
	Jobs             string
	First, Last      string
	Why              string
	Cites            []cite
	Others           []form // links to other Jobs with the same cause
	OthersCut        int
}

type jobRow struct {
	Name, Href, State, Tone, Since, Took string
	Why                                  sentence
}

type cronRow struct {
	Name, Href, State, Tone, Schedule, Next, Last, Says string
}

// Limits of the first page: it covers the last 24 hours, and each of its lists shows at most 40 rows.
const (
	usualWindow = 24 * time.Hour
	mostRows    = 40
	mostOthers  = 8
	mostCounted = 5000 // most Jobs that the picture draws, and that the page counts as running
)

// windows are the time windows that the first page offers as links, such as the last 24 hours.
var windows = []struct {
	name   string
	length time.Duration
}{{"1h", time.Hour}, {"6h", 6 * time.Hour}, {"24h", usualWindow}, {"7d", 7 * usualWindow}}

// now answers with the first page: the Jobs and CronJobs in trouble, and the newest ones.
func now(ctx context.Context, v *view) (*reply, error) {
	o, err := v.form("json")
	if err != nil {
		return nil, err
	}
	s := &nowScreen{Since: v.values.Get("since"), Until: v.values.Get("until"), Namespace: v.values.Get("n")}
	end, err := history.NowOf(ctx, v.src)
	if err != nil {
		return nil, err
	}
	from, until, err := v.window(ctx, s, end)
	if err != nil {
		return nil, err
	}
	since := s.Since
	if since == "" {
		since = stamp(from)
	}
	values := map[string]string{ask.FlagNamespace: s.Namespace, "since": since, "until": s.Until}
	failures, err := put(ctx, v, ask.Failures.New(), values)
	switch {
	case failures == nil:
		return nil, err
	case o == "json":
		return v.json(failures)
	}
	v.Title, v.Now = "now", s
	s.head(failures, v.zone)
	v.troubles(s, failures)
	if err := v.strip(ctx, s, since, from, until, failures.Gaps); err != nil {
		return nil, err
	}
	if s.Until == "" { // lists show the present, so a page of a past time window has none
		if err := v.lists(ctx, s, since); err != nil {
			return nil, err
		}
	}
	for _, w := range windows {
		s.Windows = append(s.Windows, form{w.name, v.to(map[string]string{"since": stamp(end.Add(-w.length)), "n": s.Namespace}, "")})
	}
	return v.page()
}

func stamp(t events.Time) string { return t.Go().UTC().Format(time.RFC3339) }

// window returns the time window of the page, from ?since= and ?until=. Without them it is the last 24 hours of the
// log.
func (v *view) window(ctx context.Context, s *nowScreen, end events.Time) (from, until events.Time, err error) {
	var span ask.Span
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	span.BindSince(flags, "")
	span.BindUntil(flags, "")
	for name, value := range map[string]string{"since": s.Since, "until": s.Until} {
		if err := flags.Set(name, value); err != nil {
			return 0, 0, which.Wrong("%s=%q: %v", name, value, err)
		}
	}
	if err := span.Read(v.zone); err != nil {
		return 0, 0, err
	}
	if from, until, err = span.In(ctx, v.src); err != nil {
		return 0, 0, err
	}
	if s.Until == "" {
		until = end
	}
	if s.Since == "" {
		from = until.Add(-usualWindow)
	}
	return from, max(from, until), nil // if the log ends before the window begins, until is before from
}

// head adds to the page how many Jobs are stuck, failed and deleted, and remarks on how complete these numbers are.
func (s *nowScreen) head(f *failures.Failures, zone words.Zone) {
	numbers, rest := show.FailuresHead(f, zone)
	for _, n := range numbers {
		tone := toneOfSort[n.Sort]
		if n.Number == 0 {
			tone = "still"
		}
		s.Tallies = append(s.Tallies, tally{strings.ToLower(n.Label), fmt.Sprint(n.Number), n.Rest, tone})
	}
	for _, part := range rest {
		s.Rest = append(s.Rest, words.Clean(part))
	}
}

// toneOfSort has the colour class for each kind of trouble.
var toneOfSort = map[string]string{failures.SortStuck: "hold", failures.SortFailed: "bad", failures.SortDeleted: "hold"}

// troubles adds to the page a row for each cause of trouble, grouped: stuck, failed, deleted.
func (v *view) troubles(s *nowScreen, f *failures.Failures) {
	for _, row := range show.CauseRows(f) {
		sort := show.SortSays(row.Of.Sort)
		if n := len(s.Sorts); n == 0 || s.Sorts[n-1].Sort != sort {
			s.Sorts = append(s.Sorts, trouble{Sort: sort, Tone: toneOfSort[row.Of.Sort]})
		}
		of := &s.Sorts[len(s.Sorts)-1]
		out := troubleRow{
			Name: words.Clean(row.Name), Href: v.troubleAt(row.Of), Kind: row.Of.Kind, First: v.clock(row.First), Why: words.Clean(row.Why),
			Cites: v.cites(row.Of.Records),
		}
		if row.Jobs > 1 {
			out.Jobs, out.Last = words.Count(row.Jobs, "Job"), v.clock(row.Last)
			at := indexOf(f, row.Of)
			for i := at + 1; i < at+row.Jobs && i < len(f.Items); i++ {
				if len(out.Others) == mostOthers {
					out.OthersCut = at + row.Jobs - i
					break
				}
				x := &f.Items[i]
				out.Others = append(out.Others, form{words.Clean(x.Namespace + "/" + x.Name), v.troubleAt(x)})
			}
		}
		of.Rows = append(of.Rows, out)
	}
}

func indexOf(f *failures.Failures, of *failures.Trouble) int {
	for i := range f.Items {
		if &f.Items[i] == of {
			return i
		}
	}
	return 0
}

func (v *view) troubleAt(t *failures.Trouble) string {
	if t.Kind == "CronJob" {
		return v.to(nil, "cronjob", t.Namespace, t.Name)
	}
	return v.to(map[string]string{"uid": t.UID}, "job", t.Namespace, t.Name)
}

// strip adds to the page a picture of the Jobs that ended in the time window. If the address has no ?since=, the
// picture begins when the oldest of these Jobs was created. gaps are times in which nobody watched the cluster.
func (v *view) strip(
	ctx context.Context, s *nowScreen, since string, from, until events.Time, gaps []history.Gap,
) error {
	of := map[string]string{ask.FlagNamespace: s.Namespace, "since": since, "limit": fmt.Sprint(mostCounted)}
	all, err := put(ctx, v, ask.Jobs.New(), of)
	if all == nil {
		return err
	}
	if s.Since == "" {
		first := until
		for i := range all.Items {
			if t := events.Time(all.Items[i].Created); t != 0 {
				first = min(first, t)
			}
		}
		from = max(from, first)
	}
	if all.Continue != "" {
		s.Rest = append(s.Rest, fmt.Sprintf("drawn: the newest %d Jobs", mostCounted))
	}
	s.From, s.To = v.zone.Second(from), v.zone.Second(until)
	s.Strip = drawn(picture.Ended(all.Items, gaps, from, until, v.zone))
	return nil
}

// lists adds to the page what does not depend on the time window: the number of running Jobs, the newest Jobs and the
// newest CronJobs.
func (v *view) lists(ctx context.Context, s *nowScreen, since string) error {
	of := map[string]string{ask.FlagNamespace: s.Namespace, "state": string(history.StateRunning), "limit": fmt.Sprint(mostCounted)}
	running, err := put(ctx, v, ask.Jobs.New(), of)
	if running == nil {
		return err
	}
	n := tally{Label: "running", Number: fmt.Sprint(len(running.Items)), Tone: "run"}
	switch {
	case len(running.Items) == 0:
		n.Tone = "still"
	case running.Continue != "":
		n.Rest = "or more"
	}
	s.Tallies = append(s.Tallies, n)
	if err := v.jobs(ctx, s, since); err != nil {
		return err
	}
	return v.cronJobs(ctx, s)
}

// jobs adds to the page the list of the newest Jobs, each with the reason of its state. since is the value of ?since=.
func (v *view) jobs(ctx context.Context, s *nowScreen, since string) error {
	values := map[string]string{ask.FlagNamespace: s.Namespace, "since": since}
	values["limit"], values["why"] = fmt.Sprint(mostRows), "true"
	newest, err := put(ctx, v, ask.Jobs.New(), values)
	if newest == nil {
		return err
	}
	s.JobsCut = newest.Continue != ""
	for i := range newest.Items {
		x := &newest.Items[i]
		row := jobRow{
			Name: words.Clean(x.Namespace + "/" + x.Name), Href: v.to(map[string]string{"uid": x.UID}, "job", x.Namespace, x.Name), State: string(x.State),
			Tone: toneOf(&explain.Answer{Kind: "job", State: string(x.State)}), Since: v.clock(events.Time(x.Created)),
		}
		if x.Started != 0 && x.Finished != 0 {
			row.Took = words.Span(max(events.Time(x.Finished).Sub(events.Time(x.Started).Second()), 0))
		}
		if x.Why != nil {
			row.Why = sentence{Text: words.Clean(x.Why.Text), Cites: v.cites(x.Why.Records)}
		}
		s.Jobs = append(s.Jobs, row)
	}
	return nil
}

// cronJobs adds the list of the newest CronJobs.
func (v *view) cronJobs(ctx context.Context, s *nowScreen) error {
	page, err := put(ctx, v, ask.CronJobs.New(), map[string]string{ask.FlagNamespace: s.Namespace, "limit": fmt.Sprint(mostRows)})
	if page == nil {
		return err
	}
	s.CronJobsCut = page.Continue != ""
	for i := range page.Items {
		x := &page.Items[i]
		row := cronRow{
			Name: words.Clean(x.Namespace + "/" + x.Name), Href: v.to(nil, "cronjob", x.Namespace, x.Name), State: string(x.State),
			Tone: toneOf(&explain.Answer{Kind: "cronjob", State: string(x.State)}), Schedule: words.Clean(x.Schedule), Next: v.clock(events.Time(x.Next)),
		}
		if x.LastDue != nil {
			row.Last, row.Says = v.clock(events.Time(x.LastDue.Last)), words.Clean((&show.Page{Zone: v.zone}).TickFate(x.LastDue))
		}
		if x.Due != nil && x.Due.Hold != "" {
			row.Last, row.Says = v.clock(events.Time(x.Due.At)), words.Clean(x.Due.Says)
		}
		s.CronJobs = append(s.CronJobs, row)
	}
	return nil
}

// found returns the page of a search, with a row for each object or record that was found.
func (v *view) found(f *ask.Found) *findScreen {
	s := &findScreen{Head: show.FoundHead(&f.Pieces)}
	for i := range f.Items {
		m := &f.Items[i]
		row := foundRow{Kind: m.Kind, Name: words.Clean(m.Namespace + "/" + m.Name), State: words.Clean(m.State), What: words.Clean(show.MatchText(m))}
		switch m.Kind {
		case "Job":
			row.Href, row.Since = v.to(map[string]string{"uid": m.UID}, "job", m.Namespace, m.Name), v.clock(events.Time(m.Created))
		case "CronJob":
			row.Href, row.Since = v.to(nil, "cronjob", m.Namespace, m.Name), v.clock(events.Time(m.Created))
		case "pod":
			row.Href, row.Since = v.to(nil, "pod", m.Namespace, m.Name), v.clock(events.Time(m.At))
		default:
			row.Name, row.Href, row.Since = fmt.Sprintf("#%d", m.Record), v.recordAt(m.Record), v.clock(events.Time(m.At))
		}
		s.Rows = append(s.Rows, row)
	}
	return s
}
