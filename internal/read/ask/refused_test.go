package ask_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/internal/read/which"
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
