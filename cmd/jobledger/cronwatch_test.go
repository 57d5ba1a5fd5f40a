package main

import (
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// TestGetWatchesCronJobs: `get -w` shows the CronJobs, then only changes, and exits with 0 when it is interrupted.
func TestGetWatchesCronJobs(t *testing.T) {
	for _, row := range []struct {
		args         string
		before, then []string // what is shown, in this order
		never        []string
	}{
		{"get cronjobs -w", []string{"Waiting"}, []string{"20 Mar 09:00 started 106ms late", "other"}, nil},
		{"get cronjobs -w -n prod", []string{"Waiting"}, []string{"started 106ms late"}, []string{"other"}},
		{"get cronjobs -w -n web -o name", nil, []string{"cronjob.batch/other\n"}, []string{"etl"}},
		{"get cronjobs -w --state running -o json", nil, []string{`"state": "Running"`, `"next": "2026-03-20T10:00:00Z"`}, []string{"Waiting"}},
		{"get cronjobs -w -o jsonpath={.name}={.state}", []string{"etl=Waiting\n"}, []string{"etl=Running\n", "other=Waiting"}, nil},
		{"get cronjob/etl -n prod -w", []string{"State:         Waiting"}, []string{"State:         Running: 1 Job"}, []string{"other"}},
		{"get cronjob/etl -n prod -w -o yaml", []string{"state: Waiting"}, []string{"---\n", "state: Running"}, []string{"other"}},
		{"events cronjob/etl -n prod -w -o json", []string{"CronJobAdded"}, []string{`"type":"CreateJob"`, "RunSeen"}, []string{`"kind":"JobAdded"`, "other"}},
	} {
		t.Run(row.args, func(t *testing.T) {
			log := memlog.New(events.Identity{LogID: testLogID, Epoch: 1})
			c := newCronCluster(t, log, events.At(march(20, "08:00:00")))
			etl := c.addCron("prod", "etl", "0 * * * *", "", func(*events.CronJobSeen) {})
			out, interrupt := begin(t, log, row.args)
			for _, text := range row.before {
				out.await(t, text)
			}
			c.until(march(20, "09:00:01"))
			c.start(c.running(etl))
			c.pass(time.Minute)
			c.addCron("web", "other", "@daily", "", func(*events.CronJobSeen) {})
			for _, text := range row.then {
				out.await(t, text)
			}
			interrupt()
			for _, text := range row.never {
				if strings.Contains(out.text.String(), text) {
					t.Errorf("%q is shown in\n%s", text, out.text.String())
				}
			}
		})
	}
}
