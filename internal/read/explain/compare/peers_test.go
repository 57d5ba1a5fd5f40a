package compare

import (
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
)

// TestRunsOfTheSameWork: by the CronJob, by what names are made of, by a number at the end, or by the name.
func TestRunsOfTheSameWork(t *testing.T) {
	for _, row := range []struct {
		name      string
		origin    *events.Origin
		what      string
		same, not string
	}{
		{"etl", nil, "the same name", "etl", "etl-2"},
		{"etl-12", nil, "name etl-*", "etl-7", "etl2-7"},
		{"etl-x7k2p", &events.Origin{GenerateName: "etl-"}, "name etl-*", "etl-aaaaa", "etl-aaaaaa"},
		{"etl-29", &events.Origin{Kind: "CronJob", Name: "etl"}, "CronJob etl", "etl-30", "etl-30-1"},
		{"etl-29", &events.Origin{Kind: "Workflow", Name: "etl"}, "name etl-*", "etl-30", "etx-30"},
	} {
		c := &Jobs{Case: &jobcase.Case{Origin: row.origin}}
		c.Job.Name, c.Job.Namespace = row.name, "ns"
		is, what := c.lineage()
		if what != row.what || !is(row.same) || is(row.not) || !is(row.name) {
			t.Errorf("%+v: %s", row, what)
		}
	}
}

// TestWhatIsKnownOfEqualTemplates: that they are the same, or that values are not kept.
func TestWhatIsKnownOfEqualTemplates(t *testing.T) {
	c := &Jobs{}
	spec := func(key, template string) *events.JobSpec { return &events.JobSpec{Key: key, Template: template} }
	for want, row := range map[string][2]*events.JobSpec{
		"unknown: the spec of then is no longer kept":                                        {nil, spec("k", "t")},
		"nothing that is recorded; values of env, commands and arguments cannot be compared": {spec("", ""), spec("", "")},
		"a value that is not kept in the log: of env, command, arguments or annotations": {spec("k", "t"), spec("k",
			"u")},
		"nothing: spec and pod template are the same": {spec("k", "t"), spec("k",
			"t")},
	} {
		if got := c.sameTemplate(row[0], row[1]); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := c.sameTemplate(spec("k", "t"), spec("l", "t")); !strings.HasPrefix(got, "nothing that is recorded") {
		t.Errorf("of another key: %s", got)
	}
	if got := c.sameTemplate(spec("k", "t"), nil); !strings.HasPrefix(got, "unknown") {
		t.Errorf("without a spec: %s", got)
	}
}
