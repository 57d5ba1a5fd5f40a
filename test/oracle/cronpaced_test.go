package oracle

import "testing"

// TestStartsLater: a look once in a minute explains Jobs that ours starts within a minute of those of upstream, and no
// others (C-085).
func TestStartsLater(t *testing.T) {
	made := func(job, at string) string { return "made <job " + job + " 1> at 2026-01-01T" + at + "Z" }
	for _, row := range []struct {
		sentence   string
		each, mine Picture
		want       bool
	}{
		{"it starts the Job of the next minute", Picture{made("a-2", "00:02:30")}, Picture{made("a-3", "00:03:00")}, true},
		{"it starts the same Job later", Picture{made("a-2", "00:02:30")}, Picture{made("a-2", "00:02:48")}, true},
		{"the next one follows in both", Picture{made("a-2", "00:02:30"), made("a-3", "00:03:00")}, Picture{made("a-3", "00:03:00")}, true},
		{"they do the same", Picture{made("a-2", "00:02:30")}, Picture{made("a-2", "00:02:30")}, false},
		{"it starts none", Picture{made("a-2", "00:02:30")}, Picture{}, false},
		{"it starts one too late", Picture{made("a-2", "00:02:30")}, Picture{made("a-3", "00:03:31")}, false},
		{"it starts one earlier", Picture{made("a-2", "00:02:30")}, Picture{made("a-2", "00:02:00")}, false},
		{"it starts one more", Picture{made("a-2", "00:02:30")}, Picture{made("a-3", "00:03:00"), made("a-4", "00:04:00")}, false},
		{"it deletes a Job, too", Picture{made("a-2", "00:02:30")},
			Picture{made("a-3", "00:03:00"), "deleted <job a-1 1>, background at 2026-01-01T00:03:00Z"}, false},
		{"it stores another last success", Picture{made("a-2", "00:02:30"), "cronjob a: lastSuccessfulTime=unset"},
			Picture{made("a-3", "00:03:00"), "cronjob a: lastSuccessfulTime=2026-01-01T00:02:00Z"}, false},
	} {
		if got := startsLater(row.each, row.mine); got != row.want {
			t.Errorf("%s: %t", row.sentence, got)
		}
	}
}

// TestALookInAMinuteIsNoExcuse: it explains nothing where each Job in the list of active ones is the CronJob's own.
func TestALookInAMinuteIsNoExcuse(t *testing.T) {
	s, err := Parse("cronjob a schedule=@every~30s policy=Forbid\n+500ms create a\n+1m30s begin a.-1\n+1m30s succeed a.-1\n")
	if err != nil {
		t.Fatal(err)
	}
	late, err := Parse("cronjob a schedule=@every~1m policy=Forbid\n+500ms create a\n+1m30s begin a.-1\n+1m30s succeed a.-1\n")
	if err != nil {
		t.Fatal(err)
	}
	mine, err := playOurs(late, through(s), 1) // as if ours started a Job a minute at most, always
	if err != nil {
		t.Fatal(err)
	}
	if known, err := paced(&player{T: t}, s, through(s), 1, mine); err != nil || known != nil {
		t.Errorf("explained by %+v, %v", known, err)
	}
}
