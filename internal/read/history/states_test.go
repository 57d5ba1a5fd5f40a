package history_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

var update = flag.Bool("update", false, "write the texts that are kept anew")

// incident opens a copy of a recorded log: opening one may write beside it.
func incident(t *testing.T, dir string) store.Archive {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	log, err := open.Archive(to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() }) // it was only read
	return log
}

// lines are the fields of a value, one a line: "pods.0.phase Running".
func lines(t *testing.T, v any) []string {
	t.Helper()
	var out []string
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				walk(path+"."+k, v[k])
			}
		case []any:
			for i := range v {
				walk(fmt.Sprintf("%s.%d", path, i), v[i])
			}
		default:
			out = append(out, strings.TrimPrefix(path, ".")+" "+fmt.Sprint(v))
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		t.Fatal(err)
	}
	walk("", tree)
	return out
}

// film writes what each record changes of something.
type film struct {
	out bytes.Buffer
	was map[string]map[string]string // by field: its line
}

// unsaid are fields that a film does not show: they change with each record, or never.
var unsaid = regexp.MustCompile(`^(asOf|last|records|uid|spec\.(hash|key|redacted|template)|status\.conditions\..*\.(message|probed)|pods\.\d+\.uid|` +
	`lastDecision\.(time|steps\.\d+\.(rule|stage|sentence)))\b`)

// shot writes the fields that are other ones than before, and with a minus those that are there no more.
func (f *film) shot(r *events.Record, of string, all []string) {
	was, now := f.was[of], map[string]string{}
	var said []string
	for _, line := range all {
		field, _, _ := strings.Cut(line, " ")
		if unsaid.MatchString(field) {
			continue
		}
		if now[field] = line; was[field] != line {
			said = append(said, line)
		}
	}
	for _, field := range slices.Sorted(maps.Keys(was)) {
		if now[field] == "" {
			said = append(said, "-"+field)
		}
	}
	if len(said) > 0 {
		fmt.Fprintf(&f.out, "%d %s %s: %s\n", r.Sequence, r.Kind, of, strings.Join(said, "\n  "))
	}
	f.was[of] = now
}

// filmed are the recorded incidents whose states are kept.
var filmed = []string{"cronjobs-observed", "cronjobs-run", "delegated"}

// TestStatesAreAsKept folds the recorded incidents, and writes what each record changes of the state of its Job or
// CronJob. After a change 'go test ./internal/read/history -run AsKept -update' writes the texts anew: read the
// difference.
func TestStatesAreAsKept(t *testing.T) {
	for _, name := range filmed {
		t.Run(name, func(t *testing.T) {
			log := incident(t, filepath.Join("../../../examples/incidents", name, "log"))
			fold := history.NewFold()
			films, order := map[events.Stream]*film{}, []events.Stream{}
			for r, err := range log.Read(t.Context(), 0) {
				if err != nil {
					t.Fatal(err)
				}
				fold.Apply(&r)
				f := films[r.Stream]
				if f == nil {
					f = &film{was: map[string]map[string]string{}}
					films[r.Stream] = f
					order = append(order, r.Stream)
				}
				if a := fold.Account(r.Stream); a != nil {
					f.shot(&r, "job", lines(t, history.JobOf(fold, a, r.Sequence, r.Time)))
				}
				if a := fold.CronAccount(r.Stream); a != nil {
					f.shot(&r, "cronjob", lines(t, history.CronSummaryOf(a)))
				}
			}
			var out bytes.Buffer
			for _, s := range order {
				out.Write(films[s].out.Bytes())
			}
			historytest.Keep(t, *update, filepath.Join("testdata", "states-"+name+".txt"), out.String())
		})
	}
}
