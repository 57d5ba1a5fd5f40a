package ask_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/store"
)

// TestArgumentsThatAreRefused: each is told what is wrong with it, before any log is read. What is next to it is taken.
func TestArgumentsThatAreRefused(t *testing.T) {
	for line, says := range map[string]string{
		"ticks":                                     "say which CronJob: cronjob/NAME",
		"next":                                      "say which CronJob: cronjob/NAME",
		"ticks cronjob/a/b/c":                       `"cronjob/a/b/c" is no Job: write NAMESPACE/NAME`,
		"ticks job/x":                               `"job/x" is no CronJob: write NAME or cronjob/NAME`,
		"ticks cronjob":                             `"cronjob" has no name: write cronjob/NAME`,
		"ticks cronjob/x":                           "",
		"next cronjob/x --count=0":                  "--count 0: must be from 1 to 1000",
		"next cronjob/x --count=1":                  "",
		"next cronjob/x --count=1000":               "",
		"next cronjob/x --count=1001":               "--count 1001: must be from 1 to 1000",
		"next cronjob/x --after=zz":                 `--after "zz": must be a duration`,
		"next cronjob/x --after=5m":                 "",
		"why-not":                                   "say which CronJob, and when",
		"why-not cronjob/x":                         "say which CronJob, and when",
		"why-not cronjob/x zz":                      `"zz" is no time: write`,
		"why-not cronjob/x 5m":                      "",
		"why-not job/x 5m":                          `"job/x" is no CronJob`,
		"why-not cronjob/a/b/c 5m":                  `"cronjob/a/b/c" is no Job`,
		"ticks cronjob/prod/x --namespace=dev":      `"cronjob/prod/x" is in namespace prod, and -n says dev`,
		"ticks cronjob/prod/x --namespace=prod":     "",
		"get pod":                                   `"pod" has no name`,
		"get job/a b":                               `one object at a time: "b" comes after "job/a"`,
		"attempts cronjob/x":                        `"cronjob/x" is a CronJob, and one Job is wanted`,
		"attempts prod/x --namespace=dev":           `"prod/x" is in namespace prod, and -n says dev`,
		"jobs --since=zz":                           `--since "zz": must be a duration`,
		"jobs --since=1h":                           "",
		"cronjobs --since=zz":                       `--since "zz": must be a duration`,
		"ticks cronjob/x --since=zz":                `--since "zz": must be a duration`,
		"failures --since=zz":                       `--since "zz": must be a duration`,
		"get job/x --at=zz":                         `--at "zz"`,
		"get job/x --at=#5":                         `--at "#5"`,
		"get job/x --at=5":                          "",
		"why-not cronjob/x 5m --zone=Nowhere/At":    `--zone`,
		"next cronjob/x --zone=Nowhere/At":          `--zone`,
		"get job/x --zone=Nowhere/At":               `--zone`,
		"get job/x --zone=Europe/Berlin":            "",
		"jobs --zone=Nowhere/At":                    `--zone`,
		"ticks cronjob/x --texts-zone=Nowhere/At":   `--texts-zone`,
		"jobs --selector=a=b=c":                     `-l "a=b=c": `,
		"jobs --selector=a=b,c!=d":                  "",
		"failures --selector=a=b=c":                 `-l "a=b=c": `,
		"jobs --limit=-1":                           `--limit`,
		"events cronjob":                            "say which CronJob: cronjob/NAME",
		"events jobs":                               "",
		"events a b":                                `"a" is no kind of object`,
		"events prod/x --namespace=dev":             `"prod/x" is in namespace prod, and -n says dev`,
		"events --limit=0":                          "--limit 0: must be from 1 to 5000",
		"events --limit=5000":                       "",
		"events --limit=5001":                       "--limit 5001: must be from 1 to 5000",
		"events --tail=-1":                          "--tail -1: must be 0 or more",
		"events --tail=100000":                      "",
		"events --tail=100001":                      "--tail 100001: at most 100000; --from and --since show more",
		"events --tail=1 --limit=2":                 "--limit is of the first records, and --tail of the last: leave one out",
		"events --kind=None":                        "--kind None: there is no such kind; there are LogCreated, ",
		"events --kind=Decided --decisions=true":    "--decisions is short for --kind Decided,WouldDecide: give one of them",
		"events --since=zz":                         `--since "zz": must be a duration`,
		"events --until=zz":                         `--until "zz": must be a duration`,
		"events --words=all":                        "words=all: must be brief, whole or beside",
		"events --zone=Nowhere/At":                  "--zone",
		"explain job/x --at=2026-01-02T15:04:05Z":   "",
		"explain job/x --at=2026-01-02T15:04:05Zoo": `--at "2026-01-02T15:04:05Zoo"`,
	} {
		q, args := begun(t, line)
		err := q.Read(args)
		if says == "" {
			if err != nil {
				t.Errorf("%s is refused: %v", line, err)
			}
			continue
		}
		if wrong := (*which.WrongError)(nil); !errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), says) {
			t.Errorf("%s: %v, want %s", line, err, says)
		}
	}
}

// TestLabelsThatNoJobHas are noted, each once: the log may not keep them. That is said of no label that a Job has, and
// where the lists cannot be read, of none.
func TestLabelsThatNoJobHas(t *testing.T) {
	torn := &store.CorruptError{Path: "a.db", At: 3, Next: 4}
	for _, row := range []struct {
		selector string
		fails    error
		want     []string // labels that are noted
		told     bool     // the error is returned
	}{
		{"", nil, nil, false}, {"team=a", nil, nil, false}, {"app=x", nil, []string{"app"}, false},
		{"team=a,app=x,app!=y,zone", nil, []string{"app", "zone"}, false}, {"team", nil, nil, false},
		{"!app", nil, []string{"app"}, false},
		{"app=x", torn, []string{"app"}, false}, {"team=a", torn, nil, false}, {"app=x", context.Canceled, nil, true},
	} {
		var wanted labels.Selector
		if row.selector != "" {
			var err error
			if wanted, err = labels.Parse(row.selector); err != nil {
				t.Fatal(err)
			}
		}
		var notes []string
		src := ask.Source{Source: &labelled{fails: row.fails}, Note: func(text string) { notes = append(notes, text) }}
		err := src.NoteLabels(t.Context(), wanted)
		if (err != nil) != row.told || len(notes) != len(row.want) {
			t.Errorf("%+v: %q, %v", row, notes, err)
			continue
		}
		for i, name := range row.want {
			if !strings.Contains(notes[i], "no Job in the log has a label "+name+":") {
				t.Errorf("%+v: %q", row, notes)
			}
		}
	}
}

// labelled is a log of one Job, which has the label team.
type labelled struct {
	history.Source
	fails error
}

func (l *labelled) Beside(err error) bool { return errors.Is(err, store.ErrCorrupt) }

func (l *labelled) Jobs(_ context.Context, q history.JobsQuery) (page history.JobsPage, err error) {
	if q.Labels.Matches(labels.Set{"team": "a"}) && q.Limit == 1 {
		page.Items = []history.Summary{{Name: "x"}}
	}
	return page, l.fails
}
