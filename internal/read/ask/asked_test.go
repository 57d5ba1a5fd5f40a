package ask_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/examples/incidents"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

// askedOf has the questions that are asked of each recorded log, in the words of a command line.
var askedOf = map[string][]string{
	"observed": {
		"jobs", "jobs x", "jobs --limit=2", "jobs --limit=2 --continue=21", "jobs --limit=0", "jobs --limit=5000", "jobs --limit=5001",
		"jobs --continue=x", "jobs --continue=3",
		"jobs --state=failed", "jobs --state=Failed,Running", "jobs --state=lost", "jobs --why --limit=3", "jobs --namespace=oom",
		"jobs --namespace=none", "jobs --name=etl", "jobs --uid=6ce21dcc", "jobs --since=5m", "jobs --since=x", "jobs --selector=team=data",
		"jobs --selector==", "jobs --zone=Nowhere", "jobs --since=2031-01-01 --continue=3", "jobs --since=2031-01-01",
		"cronjobs", "cronjobs --state=held", "cronjobs --state=failed",
		"failures", "failures --near-misses", "failures --limit=1", "failures --limit=-1", "failures --namespace=oom", "failures --since=2031-01-01",
		"failures --until=2020-01-01", "failures --selector=team", "failures --since=2026-01-02 --until=2026-01-01",
		"plan", "plan --namespace=oom", "plan --since=2031-01-01", "plan --until=2020-01-01",
		"find", "find etl", "find ETL-ORD --limit=1", "find #40", "find 40 --namespace=oom", "find etl --limit=0", "find etl --limit=1001",
		"find etl --limit=1000", "find " + strings.Repeat("x", 254), "find " + strings.Repeat("x", 253), "find zzzz",
		"explain", "explain x y", "explain etl-orders", "explain job/etl-orders", "explain etl-order", "explain job/etl-order", "explain pod/etl-orders-m2ctg",
		"explain etl-orders-m2ctg", "explain pod/none", "explain cronjob/none", "explain cronjob", "explain none", "explain oom/none",
		"explain oom/etl-orders", "explain none/etl-orders", "explain etl-orders --namespace=oom", "explain oom/x --namespace=none",
		"explain etl-orders --near=oom", "explain 6ce21dcc", "explain job/6ce2", "explain 6ce21dcc-0000-0000-0000-000000000000",
		"explain etl-orders --at=1", "explain etl-orders --at=5m", "explain etl-orders --at=2020-01-01", "explain etl-orders --at=x",
		"explain etl-orders --at=60", "explain etl-orders --at=9999",
		"explain etl-orders --at=00:00 --zone=Asia/Tokyo", "explain etl-orders --texts-zone=Asia/Tokyo", "explain etl-orders --link=L=https://l.example/{{.Pod}}",
		"explain etl-orders --link=x", "explain cronjob/x --link=L=https://l.example/{{.Pod}}",
		"attempts", "attempts etl-orders", "attempts etl-orders --failed", "attempts etl-orders --limit=1", "attempts etl-orders --limit=1 --continue=1",
		"attempts etl-orders --limit=1 --continue=2", "attempts etl-orders --continue=3", "attempts etl-orders --continue=-1",
		"attempts cronjob/x", "attempts jobs", "attempts etl-orders --at=60",
		"timeline etl-orders", "timeline etl-orders --limit=1", "timeline etl-orders --limit=-1", "timeline none",
		"get", "get etl-orders", "get jobs", "get job/etl-orders --at=60", "get job/etl-orders --at=1", "get none", "get cronjob/none", "get pod/etl-orders-m2ctg",
		"ticks etl-orders", "ticks job/etl-orders", "ticks none", "next etl-orders", "why-not etl-orders 10:00",
		"events", "events --limit=1", "events --limit=5000 --from=60", "events --limit=0", "events --limit=5001",
		"events --from=99999", "events --tail=2", "events --tail=2 --through=60", "events --tail=2 --limit=3",
		"events --tail=-1", "events --tail=100000", "events --tail=100001", "events --kind=podchanged,job-added",
		"events --kind=lost", "events --decisions", "events --decisions --kind=Decided", "events --namespace=oom",
		"events --namespace=none", "events --since=2031-01-01", "events --until=2020-01-01",
		"events --since=5m --until=1m", "events --since=x", "events --since=2026-01-02 --until=2026-01-01",
		"events --from=60 --through=60", "events --from=2 --bare --limit=3", "events --zone=Nowhere",
		"events --limit=1 --words=brief", "events --limit=1 --words=whole --texts-zone=Asia/Tokyo",
		"events --limit=1 --words=beside", "events --words=x", "events jobs", "events jobs --namespace=oom",
		"events cronjobs", "events x y", "events none", "events oom/none", "events etl-orders",
		"events backoff-limit/etl-orders", "events backoff-limit/etl-orders --tail=1", "events etl-order",
		"events etl-orders --near=oom", "events oom/x --namespace=none", "events pod/etl-orders-m2ctg", "events 6ce21dcc",
		"events job/6ce21dcc-0000-0000-0000-000000000000", "events three-lives/nightly-sync --limit=2",
	},
	"cronjobs-observed": {
		"cronjobs", "cronjobs --limit=2", "cronjobs --limit=2 --continue=x", "cronjobs --state=Suspended", "cronjobs --namespace=default",
		"cronjobs --since=2031-01-01", "cronjobs --name=n", "jobs --limit=5", "failures", "failures --near-misses", "plan", "find nightly", "find hourly",
	},
}

// askedOfEach are the questions that are asked of each CronJob of a log, and of the newest Job of each.
var askedOfEach = []string{
	"ticks %s", "ticks %s --tail=1", "ticks %s --tail=2 --missed", "ticks %s --tail=0", "ticks %s --tail=-1", "ticks %s --missed", "ticks %s --since=2031-01-01",
	"ticks %s --at=60", "ticks %s --at=60 --tail=1", "ticks %s --at=1", "ticks %s --at=5m", "ticks %s --texts-zone=Asia/Tokyo",
	"ticks %s --since=10m", "next %s", "next %s --count=2", "next %s --count=0", "next %s --count=1000", "next %s --count=1001", "next %s --after=2031-01-01",
	"next %s --after=9999-12-31", "next %s --after=x", "why-not %s", "why-not %s 2031-01-01", "why-not %s 9999-12-31", "why-not %s x",
	"why-not %s 5m", "why-not %s 00:00", "get %s", "get %s --at=60", "get %s --at=1", "explain %s", "explain %s --at=60", "explain %s --at=1",
	"explain %s --link=L=https://l.example/{{.Pod}}", "attempts %s",
	"events %s --limit=3", "events %s --tail=2 --words=brief",
}

// TestQuestionsAreAnsweredAsKept asks each question with good and bad parameters, of recorded logs. It compares what is
// said beside the answer (notes, errors, which object and point it is of) and a sum of the answer.
func TestQuestionsAreAnsweredAsKept(t *testing.T) {
	var got strings.Builder
	for _, name := range incidents.Names {
		src, at := recorded(t, name)
		lines := askedOf[name]
		crons, err := src.CronJobs(t.Context(), history.CronJobsQuery{})
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range crons.Items {
			for k, line := range askedOfEach {
				if k%len(crons.Items) == i || i == 0 && name == "cronjobs-observed" {
					lines = append(lines, fmt.Sprintf(line, "cronjob/"+c.Namespace+"/"+c.Name))
				}
			}
			lines = append(lines, "ticks "+c.Name, "explain "+c.Name, "get "+c.UID, "next "+c.UID[:8])
			jobs, err := src.Jobs(t.Context(), history.JobsQuery{Namespace: c.Namespace, Name: c.Name + "-", Limit: 1})
			if err != nil {
				t.Fatal(err)
			}
			for _, j := range jobs.Items {
				lines = append(lines, "ticks "+j.Name, "next "+c.Namespace+"/"+j.Name, "explain cronjob/"+j.Name, "attempts "+j.Name)
			}
		}
		for _, line := range lines {
			fmt.Fprintf(&got, "%s> %s\n", name, line)
			asked(t, &got, src, at, strings.Fields(line))
		}
	}
	const file = "testdata/asked.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	was, is := strings.Split(string(kept), "\n"), strings.Split(got.String(), "\n")
	question, differ := "", 0
	for i := range max(len(was), len(is)) {
		a, b := "", ""
		if i < len(was) {
			a = was[i]
		}
		if i < len(is) {
			b = is[i]
		}
		if strings.Contains(b, "> ") {
			question = b
		}
		if a != b {
			t.Errorf("%s\nit says   %s\nkept is   %s", question, b, a)
			if differ++; differ == 5 {
				t.Fatal("and more; 'go test ./internal/read/ask -update' keeps them")
			}
		}
	}
}

// recorded is the log of an incident. Its clock stands five minutes after its end.
func recorded(t *testing.T, name string) (src history.Source, now time.Time) {
	t.Helper()
	dir := t.TempDir()
	if err := incidents.Write(name, dir); err != nil {
		t.Fatal(err)
	}
	log, err := open.Archive(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	lists := joblist.New(joblist.Config{Log: log, Files: store.FilesOf(log), Dir: dir})
	return history.Local{Log: log, Lists: lists, Damage: &store.Damage{}}, log.Head().Time.Go().Add(5 * time.Minute)
}

// asked asks one question, and writes what is said.
func asked(t *testing.T, out *strings.Builder, from history.Source, now time.Time, line []string) {
	t.Helper()
	q, is := ask.Named(line[0])
	if !is {
		t.Fatalf("there is no question %s", line[0])
	}
	asked := q.Begin()
	var args []string
	for _, word := range line[1:] {
		flag, is := strings.CutPrefix(word, "--")
		if !is {
			args = append(args, word)
			continue
		}
		name, value, given := strings.Cut(flag, "=")
		if !given {
			value = "true"
		}
		if err := asked.Flags.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	src := ask.Source{
		Source: from, Clock: func() time.Time { return now },
		Note: func(text string) { fmt.Fprintln(out, "  note:", text) }, Behind: func(text string) { fmt.Fprintln(out, "  behind:", text) },
		AsOf: func(at history.Place) {
			fmt.Fprintln(out, "  as of:", at.Sequence, events.Time(at.Time).Go().Format(time.RFC3339))
		},
	}
	err := asked.Read(args)
	var answer any
	if err == nil {
		fmt.Fprintf(out, "  about: %q\n", asked.Namespace())
		readFromItsAddress(t, &q, args, asked.Flags)
		answer, err = asked.Ask(context.Background(), src)
	}
	if err != nil {
		fmt.Fprintf(out, "  error: %T %v\n", err, err)
	}
	if wrong := (*which.WrongError)(nil); errors.As(err, &wrong) {
		for _, text := range wrong.Lines() {
			fmt.Fprintln(out, "  line:", text)
		}
	}
	if answer == nil {
		return
	}
	text, err := ask.Write(answer, nil)
	if err != nil {
		t.Fatal(err)
	}
	sum := fnv.New32a()
	sum.Write(text)
	var short bytes.Buffer
	if err := json.Compact(&short, text); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(out, "  answer: %d characters, %08x, %.120s\n", len(text), sum.Sum32(), short.String())
}

// readFromItsAddress reads a question from its address. It must be the same question.
func readFromItsAddress(t *testing.T, q *ask.Entry, args []string, flags *pflag.FlagSet) {
	t.Helper()
	path, values := ask.Address(q.Takes, args, flags)
	again := q.Begin()
	read, err := ask.Arguments(q.Takes, strings.Join(path, "/"), again.Flags, values)
	if err == nil {
		err = again.Read(read)
	}
	samePath, sameValues := ask.Address(q.Takes, read, again.Flags)
	if err != nil || !slices.Equal(path, samePath) || !reflect.DeepEqual(values, sameValues) || (len(args) > 0) != (len(read) > 0) {
		t.Errorf("%s %q has the address %v %v, and that is read as %q, with the address %v %v: %v", q.Name, args, path, values, read, samePath,
			sameValues, err)
	}
}

// TestAddressesThatAreRefused say which parameter is wrong.
func TestAddressesThatAreRefused(t *testing.T) {
	for _, row := range []struct {
		question, object string
		values           url.Values
		want             string
	}{
		{"jobs", "x", nil, `jobs has no object, and "x" stands behind it`}, {"find", "x", url.Values{"q": {"y"}}, `find has no object, and "x" stands behind it`},
		{"jobs", "", url.Values{"none": {"1"}}, `none="1": there is no such parameter`}, {"jobs", "", url.Values{"q": {"1"}}, `q="1": there is no such parameter`},
		{"jobs", "", url.Values{"limit": {"1", "2"}}, "limit is given 2 times"}, {"why-not", "ns/c", url.Values{"time": {"1", "2"}}, "time is given 2 times"},
		{"jobs", "", url.Values{"limit": {"x"}}, `limit="x": invalid argument "x"`}, {"jobs", "", url.Values{"state": {"Failed", "Running"}}, ""},
		{"get", "", nil, ""}, {"find", "", url.Values{"q": {"x"}}, ""},
	} {
		q, _ := ask.Named(row.question)
		_, err := ask.Arguments(q.Takes, row.object, q.Begin().Flags, row.values)
		if got := fmt.Sprint(err); err == nil && row.want != "" || err != nil && (row.want == "" || !strings.HasPrefix(got, row.want)) {
			t.Errorf("%s %q %v: %v, want %q", row.question, row.object, row.values, err, row.want)
		}
	}
}
