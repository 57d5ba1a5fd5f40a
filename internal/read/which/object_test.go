package which

import (
	"errors"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, row := range []struct {
		args      string
		want      Object
		namespace string
	}{
		{"etl", Object{"etl", Any}, ""},
		{"prod/etl", Object{"etl", Any}, "prod"},
		{"job/etl", Object{"etl", Job}, ""},
		{"job/prod/etl", Object{"etl", Job}, "prod"},
		{"JOBS.v1.batch/etl", Object{"etl", Job}, ""},
		{"job etl", Object{"etl", Job}, ""},
		{"job prod/etl", Object{"etl", Job}, "prod"},
		{"jobs", Object{"", Job}, ""},
		{"cronjobs", Object{"", CronJob}, ""},
		{"cj/nightly", Object{"nightly", CronJob}, ""},
		{"po etl-0-x2x4z", Object{"etl-0-x2x4z", Pod}, ""},
	} {
		got, namespace, err := Parse(strings.Fields(row.args))
		if err != nil || got != row.want || namespace != row.namespace {
			t.Errorf("%q: %+v in %q, %v, want %+v in %q", row.args, got, namespace, err, row.want, row.namespace)
		}
		if text := got.String(); got.Kind != Any && got.Name != "" {
			if again, _, err := Parse([]string{text}); err != nil || again != got {
				t.Errorf("%q is written %s, which is read as %+v, %v", row.args, text, again, err)
			}
		}
	}
	for _, args := range []string{"pod", "job/", "prod/", "/etl", "a/b/c", "job/a/b/c", "Prod/etl", "etl x", "job/a b"} {
		got, _, err := Parse(strings.Fields(args))
		if wrong := (*WrongError)(nil); !errors.As(err, &wrong) {
			t.Errorf("%q: %+v, %v, want an error that says what to write", args, got, err)
		}
	}
}

func TestWants(t *testing.T) {
	for _, row := range []struct {
		kind                  Kind
		job, cron, named, one bool // whether each takes it
	}{
		{Job, true, false, false, true},
		{CronJob, false, true, true, true},
		{Pod, true, false, false, true},
		{Any, true, true, false, false},
	} {
		h, args := Object{"etl", row.kind}, []string{"etl"}
		for name, got := range map[string][2]bool{
			"WantJob": {WantJob(args, h) == nil, row.job}, "WantCronJob": {WantCronJob(args, h) == nil, row.cron},
			"WantCronJobNamed": {WantCronJobNamed(args, h, "") == nil, row.named}, "WantKind": {WantKind(h, "") == nil, row.one},
		} {
			if got[0] != got[1] {
				t.Errorf("%s takes %s: %t, want %t", name, h, got[0], got[1])
			}
		}
	}
	if WantCronJob([]string{"cronjob"}, Object{"", CronJob}) == nil {
		t.Error("a CronJob without a name is taken")
	}
}
