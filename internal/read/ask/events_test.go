package ask_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// mostAnswer is the largest answer of the service.
const mostAnswer = 4 << 20

// pageOf asks for a page of records.
func pageOf(t *testing.T, log store.Reader, line string) (*ask.RecordsPage, error) {
	t.Helper()
	q, args := begun(t, "events "+line)
	if err := q.Read(args); err != nil {
		t.Fatal(line, err)
	}
	damage := &store.Damage{}
	answer, err := q.Ask(t.Context(), ask.Source{
		Source: history.Local{Log: log, Lists: joblist.New(joblist.Config{Log: log}), Damage: damage}, Damage: damage,
		Note: func(string) {}, Behind: func(string) {}, Clock: time.Now,
	})
	if answer == nil {
		return nil, err
	}
	return answer.(*ask.RecordsPage), err
}

// numbers are the sequences of the records on a page.
func numbers(t *testing.T, page *ask.RecordsPage) (out []events.Sequence) {
	t.Helper()
	for _, line := range page.Records {
		var r struct{ Sequence events.Sequence }
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		out = append(out, r.Sequence)
	}
	return out
}

// TestPagesWalkALogOnce: who goes on from each page to the next has each record up to the end that the last page names,
// once and in order, while a writer writes.
func TestPagesWalkALogOnce(t *testing.T) {
	const all = 3000
	log, pace := memlog.New(events.Identity{LogID: "heavy", Epoch: 1}), make(chan struct{}, 8)
	var writer sync.WaitGroup
	writer.Go(func() {
		for at := events.Sequence(1); at <= all; at += 3 {
			var b events.Batch
			for n := range events.Sequence(3) {
				b.Records = append(b.Records, podRecord(at+n, 10, n == 2))
			}
			written(t, log.Append(b, false))
			<-pace
		}
	})
	from, want, walks, pages := uint64(1), events.Sequence(1), 0, 0
	for want <= all && !t.Failed() {
		end := uint64(0)
		for next := from; next != 0; pages++ {
			page, err := pageOf(t, log, fmt.Sprintf("--from=%d --limit=7", next))
			if err != nil {
				t.Fatal(err)
			}
			for range 3 { // the writer keeps ahead
				select {
				case pace <- struct{}{}:
				default:
				}
			}
			for _, n := range numbers(t, page) {
				if n != want {
					t.Fatalf("record %d follows record %d", n, want-1)
				}
				want++
			}
			next, end = page.Next, page.AsOf.Sequence
		}
		if want != events.Sequence(end)+1 {
			t.Fatalf("a walk ends with record %d, and the log with %d", want-1, end)
		}
		from = uint64(want)
		walks++
	}
	close(pace)
	writer.Wait()
	if walks < 2 || pages < all/7 {
		t.Errorf("%d walks over %d pages: the writer was too fast", walks, pages)
	}
}

// TestPagesAreThoseOfALook: pages of drawn questions, onward and back from the end, are compared with a look at each
// record. Their lines are the records as JSON.
func TestPagesAreThoseOfALook(t *testing.T) {
	log := historytest.HardCrons(t, 3)
	all := historytest.Records(t, log)
	lines := map[events.Sequence]string{}
	names := history.NamesOf(t.Context(), history.Local{Log: log})
	for i := range all {
		names.Learn(&all[i])
		lines[all[i].Sequence] = string(names.RecordJSON(&all[i]))
		names.Forget(&all[i])
	}
	draw := rand.New(rand.NewPCG(7, 1))
	some := func() *events.Record { return &all[draw.IntN(len(all))] }
	often := func(of int) bool { return draw.IntN(of) == 0 }
	stamp := func(t events.Time) string { return t.Go().Format("2006-01-02T15:04:05.999999999Z07:00") }
	for range 150 {
		var line string
		wanted := slices.Clone(all)
		only := func(flag string, is func(r *events.Record) bool) {
			line += flag + " "
			wanted = slices.DeleteFunc(wanted, func(r events.Record) bool { return !is(&r) })
		}
		if s := some().Stream; often(3) && (s.Kind == events.StreamJob || s.Kind == events.StreamCronJob) {
			only(s.String(), func(r *events.Record) bool { return r.Stream == s })
		}
		if at := some(); often(3) {
			only("--since="+stamp(at.Time), func(r *events.Record) bool { return r.Time >= at.Time })
		}
		if at := some(); often(3) {
			only("--until="+stamp(at.Time), func(r *events.Record) bool { return r.Time <= at.Time })
		}
		if kind := some().Kind; often(3) {
			only("--kind="+kind.String(), func(r *events.Record) bool { return r.Kind == kind })
		}
		if at := some().Sequence; often(3) {
			only(fmt.Sprintf("--from=%d", at), func(r *events.Record) bool { return r.Sequence >= at })
		}
		if strings.Contains(line, "since") && strings.Contains(line, "until") && len(wanted) == 0 {
			continue // it may be refused
		}
		var want []string
		for i := range wanted {
			want = append(want, lines[wanted[i].Sequence])
		}
		size := 1 + draw.IntN(len(all))
		got, next := []string{}, ""
		for {
			page, err := pageOf(t, log, fmt.Sprintf("%s --limit=%d %s", line, size, next))
			if err != nil {
				t.Fatal(line, err)
			}
			for _, l := range page.Records {
				got = append(got, string(l))
			}
			if page.Next == 0 {
				break
			}
			next = fmt.Sprintf("--from=%d --bare=true", page.Next)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s, %d on a page: %d records, want %d", line, size, len(got), len(want))
		}
		tail, before := min(size, 5000), ""
		want, got = want[max(0, len(want)-tail):], nil
		for left := tail; left > 0; left = tail - len(got) {
			page, err := pageOf(t, log, fmt.Sprintf("%s --tail=%d %s", line, left, before))
			if err != nil {
				t.Fatal(line, err)
			}
			var these []string
			for _, l := range page.Records {
				these = append(these, string(l))
			}
			got = append(these, got...)
			if page.Before == 0 {
				break
			}
			before = fmt.Sprintf("--through=%d", page.Before)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the last %d of %s: %d records, want %d", tail, line, len(got), len(want))
		}
	}
}

// TestLinesStandAsTheyAre: in the answer of the service each record is a line of its own, and what our processes send
// each other reads as the same page.
func TestLinesStandAsTheyAre(t *testing.T) {
	log := historytest.HardCrons(t, 3)
	for _, line := range []string{
		"--limit=40", "--limit=40 --words=beside", "--limit=40 --words=whole", "--from=99999999", "--tail=9",
		"--kind=CronJobAdded --since=2000-01-01",
	} {
		page, err := pageOf(t, log, line)
		if err != nil {
			t.Fatal(line, err)
		}
		text, err := ask.Write(page, nil)
		if err != nil || !json.Valid(text) {
			t.Fatalf("%s: %v\n%s", line, err, text)
		}
		_, list, _ := strings.Cut(string(text), `"records": [`)
		list, _, _ = strings.Cut(list, "\n  ]")
		var want strings.Builder
		for i, record := range page.Records {
			if i > 0 {
				want.WriteString(",")
			}
			fmt.Fprintf(&want, "\n    %s", record)
		}
		if want.Len() == 0 {
			want.WriteString("]\n}\n")
		}
		if list != want.String() {
			t.Errorf("%s: %s", line, cmp.Diff(want.String(), list))
		}
		hurt, err := ask.Write(page, []error{errors.New("it is torn")})
		end := []byte("\n  \"damage\": [\n    \"it is torn\"\n  ]\n}\n")
		if err != nil || !json.Valid(hurt) || !bytes.HasSuffix(hurt, end) {
			t.Errorf("%s: %v, it ends with %q", line, err, hurt[max(0, len(hurt)-60):])
		}
		packed, err := ask.Pack(page)
		if err != nil {
			t.Fatal(err)
		}
		for form, text := range map[string][]byte{"sent": packed, "written": text} {
			var read ask.RecordsPage
			if err := json.Unmarshal(text, &read); err != nil {
				t.Fatalf("%s, %s: %v", line, form, err)
			}
			again, err := ask.Write(&read, nil)
			want, _ := ask.Write(page, nil)
			if err != nil || !bytes.Equal(again, want) {
				t.Errorf("%s, %s, reads as another page: %s", line, form, cmp.Diff(string(want), string(again)))
			}
		}
	}
}

// podRecord is a record of a Job; the first one creates the log. Its message has about that many bytes, which JSON
// writes longer.
func podRecord(at events.Sequence, size int, last bool) events.Record {
	if at == 1 {
		return events.Record{
			Header: events.Header{
				Sequence: 1, Time: on("14 09:30"), Stream: events.Controller, Kind: events.KindLogCreated, Last: last,
			},
			Facts: &events.LogCreated{LogID: "heavy", Epoch: 1, Format: 1},
		}
	}
	r := events.Record{
		Header: events.Header{
			Sequence: at, Time: on("14 09:30"), Stream: events.JobStream("00000000-0000-4000-8000-000000000001"),
			Kind: events.KindPodChanged, Previous: at - 1, Last: last,
		},
		Facts: &events.PodSeen{UID: "pod", Version: uint64(at), Phase: events.PodFailed},
		Evidence: events.Evidence{
			Namespace: "prod", Name: "etl-1", Owner: "etl", Message: strings.Repeat("<\"\\\x01\u202e日 ", 1+size/12),
		},
	}
	if at == 2 {
		r.Previous = 0
	}
	return r
}

// heavy is a log of one Job, of n records of each size.
func heavy(t *testing.T, n int, sizes ...int) store.Reader {
	t.Helper()
	log, at := memlog.New(events.Identity{LogID: "heavy", Epoch: 1}), events.Sequence(0)
	for _, size := range sizes {
		for range n {
			at++
			written(t, log.Append(events.Batch{Records: []events.Record{podRecord(at, size, true)}}, false))
		}
	}
	return log
}

// written waits for a batch.
func written(t *testing.T, c store.Commit) {
	t.Helper()
	if <-c.Done(); c.Err() != nil {
		t.Error(c.Err())
	}
}

// TestAPageStaysBelowTheBoundOfAnAnswer: however large the records are, and whatever JSON makes of them. A record that
// is larger than a page is left out, alone, and told. So all others are on some page, onward and back from the end.
func TestAPageStaysBelowTheBoundOfAnAnswer(t *testing.T) {
	log, all := heavy(t, 2, 100, 300<<10, 2<<20, 700<<10, 50), []events.Sequence{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for _, row := range []struct {
		words string
		back  bool
		cut   int
	}{{"", false, 2}, {"", true, 2}, {"beside", true, 2}, {"brief", false, 0}} {
		var seen []events.Sequence
		cut, pages := 0, 1
		for next := map[bool]string{false: "--limit=5000", true: "--tail=30"}[row.back]; ; pages++ {
			page, err := pageOf(t, log, fmt.Sprintf("%s --words=%s", next, row.words))
			if err != nil {
				t.Fatal(err)
			}
			written, err := ask.Write(page, nil)
			packed, failed := ask.Pack(page)
			if err = errors.Join(err, failed); err != nil || len(written) > mostAnswer || len(packed) > mostAnswer {
				t.Fatalf("a page has %d bytes, and %d, %v", len(written), len(packed), err)
			}
			these := numbers(t, page)
			for _, s := range page.Said {
				if row.words == "brief" {
					these = append(these, events.Sequence(s.Sequence))
				}
			}
			if c := page.Cut; c != nil {
				cut++
				these = append(these, events.Sequence(c.Sequence))
				if len(these) != 1 || c.Bytes < 3<<20 || c.Kind != "PodChanged" {
					t.Errorf("beside %v, %+v is left out", these, *c)
				}
			}
			if next = fmt.Sprintf("--from=%d --limit=5000", page.Next); row.back {
				next = fmt.Sprintf("--through=%d --tail=30", page.Before)
				slices.Reverse(these)
			}
			if seen = append(seen, these...); page.Next == 0 && page.Before == 0 {
				break
			}
		}
		if row.back {
			slices.Reverse(seen)
		}
		if !slices.Equal(seen, all) || cut != row.cut || row.cut > 0 && pages < 4 {
			t.Errorf("%+v: %v on %d pages, of which %d are without a record", row, seen, pages, cut)
		}
	}
}

// long is a log of n records of the controller, of which every thousandth has another kind.
type long struct {
	store.Reader
	n     events.Sequence
	given int
}

func (l *long) Head() store.Head          { return store.Head{Sequence: l.n, Time: on("14 09:30")} }
func (l *long) Identity() events.Identity { return events.Identity{LogID: "long", Epoch: 1} }

func (l *long) ReadStream(
	ctx context.Context, _ events.Stream, from events.Sequence, _ store.Direction,
) iter.Seq2[events.Record, error] {
	return l.Read(ctx, max(from, l.n))
}

func (l *long) Read(_ context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for at := max(from, 1); at <= l.n; at++ {
			r := events.Record{Header: events.Header{
				Sequence: at, Time: on("14 09:30"), Stream: events.Controller, Kind: events.KindNodeChanged, Last: true,
			}}
			if at%1000 == 0 {
				r.Kind = events.KindControllerStarted
			}
			if l.given++; !yield(r, nil) {
				return
			}
		}
	}
}

// TestAPageLooksAtSoManyRecords: one of a rare kind ends before it is full, and says where the next one begins. All
// pages together read the log about once.
func TestAPageLooksAtSoManyRecords(t *testing.T) {
	for _, row := range []struct{ line, next string }{
		{"--kind=ControllerStarted --limit=5000", "--from="}, {"--kind=LossFound --limit=5000", "--from="},
		{"--kind=ControllerStarted --tail=5000", "--through="}, {"--kind=LossFound --tail=5000", "--through="},
	} {
		log := &long{n: 170_000}
		got, pages := 0, 1
		for next := ""; ; pages++ {
			before := log.given
			page, err := pageOf(t, log, row.line+" --bare=true "+next)
			if err != nil {
				t.Fatal(err)
			}
			if got += len(page.Records); log.given-before > 60_000 {
				t.Fatalf("%s: a page read %d records", row.line, log.given-before)
			}
			if page.Next+page.Before == 0 {
				break
			}
			next = fmt.Sprint(row.next, page.Next+page.Before)
		}
		want := 170
		if strings.Contains(row.line, "Loss") {
			want = 0
		}
		if got != want || pages < 4 || pages > 5 || log.given > 200_000 {
			t.Errorf("%s: %d records on %d pages, and %d were read", row.line, got, pages, log.given)
		}
	}
}

// TestAPageBesideDamageGoesOnBehindIt: a page has the records before damage, and says where to go on behind it.
func TestAPageBesideDamageGoesOnBehindIt(t *testing.T) {
	log := heavy(t, 30, 10)
	torn := &historytest.Failing{Reader: log, Bad: func(n events.Sequence) error {
		switch {
		case n >= 10 && n < 13:
			return &store.CorruptError{Path: "a.db", At: n, Next: 13}
		case n == 20:
			return &store.CorruptError{Path: "a.db", At: n, Next: 21}
		}
		return nil
	}}
	var seen []events.Sequence
	damaged := 0
	for next := uint64(1); next != 0; {
		page, err := pageOf(t, torn, fmt.Sprintf("--from=%d --bare=true", next))
		if page == nil {
			t.Fatal(err)
		}
		if errors.Is(err, store.ErrCorrupt) {
			damaged++
		}
		seen, next = append(seen, numbers(t, page)...), page.Next
	}
	if damaged != 2 || len(seen) != 30-4 || seen[9] != 13 || seen[len(seen)-1] != 30 {
		t.Errorf("%d pages are beside damage, and the records are %v", damaged, seen)
	}
}

// TestAnObjectWithoutARecord is unknown, and there is a page all the same, for who waits for its first record.
func TestAnObjectWithoutARecord(t *testing.T) {
	log := heavy(t, 3, 10)
	const of, other = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-00000000000f"
	page, err := pageOf(t, log, "job/"+other)
	unknown := (*which.UnknownError)(nil)
	if !errors.As(err, &unknown) || page == nil || page.Object.Stream() != events.JobStream(other) {
		t.Errorf("%+v, %v", page, err)
	}
	page, err = pageOf(t, log, "job/"+of+" --kind=JobAdded")
	want := ask.RecordsOf{Kind: "job", Namespace: "prod", Name: "etl", UID: of}
	if err != nil || len(page.Records) != 0 || *page.Object != want {
		t.Errorf("%+v, %v", page, err)
	}
}
