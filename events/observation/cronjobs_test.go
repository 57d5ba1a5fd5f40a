package observation

import (
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/trigger"
	"github.com/jobledger/jobledger/internal/subject/zones"
)

// withCronJobs makes the feed observe CronJobs, too.
func withCronJobs(c *Config) { c.CronJobs = true }

// TestACronJobsWriteProvesARewind: the answer to a write of a CronJob counts as that of a Job. A list that is behind it
// proves a rewind, and all resources are listed again.
func TestACronJobsWriteProvesARewind(t *testing.T) {
	feed := NewFeed(Config{Mode: events.ModeAll, CronJobs: true, Identity: testIdentity, Key: testKey, Logger: slog.New(slog.DiscardHandler)})
	listed := func() error {
		hourly := testCronJob("hourly", "0 * * * *")
		hourly.ResourceVersion = "3"
		return feed.ListCronJobs([]*batchv1.CronJob{hourly}, "3")
	}
	if err := listed(); err != nil {
		t.Fatal(err)
	}
	expect(t, drain(feed.queue), "cronjob hourly v3 0 * * * *", "synced [cronjobs] at [3]")
	feed.Wrote(testIdentity, events.CronJobs, "uid-hourly", 5, false)
	if err := listed(); err != nil {
		t.Fatal(err)
	}
	expect(t, drain(feed.queue),
		"epoch 2: {Resource:cronjobs Known:5 Found:3 Object:}",
		"listing [jobs pods cronjobs]: relist, seen [0 0 0]", "cronjob hourly v3 0 * * * *", "synced [cronjobs] at [3]")
	for r, must := range map[events.Resource]bool{events.Jobs: true, events.Pods: true, events.CronJobs: false} {
		if feed.MustList(r) != must {
			t.Errorf("%v must be listed again: %t, want %t", r, !must, must)
		}
	}
}

// TestWhatIsToldOfACronJob: the observation has every field that a decision reads, and the rules of the zones that it
// names.
func TestWhatIsToldOfACronJob(t *testing.T) {
	feed := NewFeed(Config{Mode: events.ModeAll, CronJobs: true, Identity: testIdentity, Key: testKey, Logger: slog.New(slog.DiscardHandler)})
	c := testCronJob("nightly", "TZ=Europe/Zurich 0 0 * * *")
	c.ResourceVersion = "7"
	c.DeletionTimestamp = new(metav1.NewTime(epoch.Add(time.Hour)))
	c.Spec.TimeZone, c.Spec.StartingDeadlineSeconds, c.Spec.Suspend = new("Asia/Tokyo"), new(int64(60)), new(true)
	c.Spec.JobTemplate.Annotations = map[string]string{"note": "secret"}
	c.Spec.JobTemplate.Spec.Template.Spec.Containers[0].Args = []string{"--password=secret"}
	c.Status = batchv1.CronJobStatus{
		Active:           []corev1.ObjectReference{{Kind: "Job", Name: "nightly-1", UID: "uid-nightly-1", ResourceVersion: "5"}, {UID: "u", ResourceVersion: "x"}},
		LastScheduleTime: new(metav1.NewTime(epoch)), LastSuccessfulTime: new(metav1.NewTime(epoch.Add(time.Minute))),
	}
	request := trigger.Request{At: epoch, ID: "1", By: "alice"}
	c.Annotations = map[string]string{trigger.Annotation: request.String()}
	c.ManagedFields = []metav1.ManagedFieldsEntry{
		{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationUpdate, Time: new(metav1.NewTime(epoch)), FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:schedule":{}}}`)},
		{Manager: trigger.Manager, FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{"f:` + trigger.Annotation + `":{}}}}`)},
	}
	if err := feed.CronJobChanged(c); err != nil {
		t.Fatal(err)
	}
	o, ok := feed.Take()
	seen, is := o.Facts.(*events.CronJobSeen)
	if !ok || !is {
		t.Fatalf("told %+v", o)
	}
	zurich, _ := zones.Find("Europe/Zurich")
	tokyo, _ := zones.Find("Asia/Tokyo")
	want := &events.CronJobSeen{
		Version: 7, Generation: 1, Created: events.At(epoch), Deleted: events.At(epoch.Add(time.Hour)),
		Schedule: "TZ=Europe/Zurich 0 0 * * *", TimeZone: new("Asia/Tokyo"), Policy: "Forbid", Suspend: true,
		Deadline: new(int64(60)), KeepSucceeded: new(int32(3)), KeepFailed: new(int32(1)),
		Template: seen.Template, Redacted: seen.Redacted,
		Zones:        []events.ZoneName{{Name: "Asia/Tokyo", Hash: tokyo.Hash}, {Name: "Europe/Zurich", Hash: zurich.Hash}},
		Active:       []events.RunName{{UID: "uid-nightly-1", Name: "nightly-1", Version: 5}, {UID: "u"}},
		LastSchedule: events.At(epoch), LastSuccess: events.At(epoch.Add(time.Minute)),
		Trigger: &events.RunTrigger{Value: request.String(), Asked: events.At(epoch), By: "alice by jobledger-trigger"},
	}
	if !reflect.DeepEqual(seen, want) {
		t.Errorf("told\n%+v\nwant\n%+v", seen, want)
	}
	if len(o.Zones) != 2 || o.Zones[0].Hash != tokyo.Hash || string(o.Zones[1].TZif) != string(zurich.TZif) {
		t.Errorf("the rules of %d zones came with it", len(o.Zones))
	}
	if len(o.Editors) != 1 || o.Editors[0].Edit.Manager != "kubectl" || !slices.Equal(o.Editors[0].Fields, []string{"schedule"}) {
		t.Errorf("changed by %+v", o.Editors)
	}
	if hash, err := CronTemplateHash(testKey)(wireCronJob(c)); err != nil || hash != seen.Template || len(hash) != 32 {
		t.Errorf("the template is named %s, and by the executor %s, %v", seen.Template, hash, err)
	}
	if text := string(o.Template); strings.Contains(text, "secret") || !strings.Contains(text, `"image":"demo:1"`) || o.TemplateSize != len(text) {
		t.Errorf("the template that is kept is %s", text)
	}
}

// TestWhatATriggerIs: a value that cannot be read has no time, and names the writer of the annotation.
func TestWhatATriggerIs(t *testing.T) {
	for _, row := range []struct {
		value    string
		managers []string
		want     events.RunTrigger
	}{
		{"now", []string{"kubectl-annotate"}, events.RunTrigger{Value: "now", By: "someone by kubectl-annotate"}},
		{"now", nil, events.RunTrigger{Value: "now"}},
		{strings.Repeat("x", 2*maxTrigger), nil, events.RunTrigger{Value: strings.Repeat("x", maxTrigger-len("…")) + "…"}},
		{"2026-01-02T03:04:05.000Z 1", []string{"m"}, events.RunTrigger{Value: "2026-01-02T03:04:05.000Z 1", Asked: events.At(epoch), By: "someone by m"}},
	} {
		c := testCronJob("a", "@daily")
		c.Annotations = map[string]string{trigger.Annotation: row.value}
		for _, m := range row.managers {
			c.ManagedFields = append(c.ManagedFields, metav1.ManagedFieldsEntry{Manager: m})
		}
		if got := triggerOf(wireCronJob(c)); *got != row.want {
			t.Errorf("%q: %+v, want %+v", row.value, got, row.want)
		}
	}
	if got := triggerOf(wireCronJob(testCronJob("a", "@daily"))); got != nil {
		t.Errorf("without the annotation: %+v", got)
	}
}

// TestAZoneThatIsNotThere: the CronJob is reported without the zone, and the database is asked once.
func TestAZoneThatIsNotThere(t *testing.T) {
	feed := NewFeed(Config{Mode: events.ModeAll, CronJobs: true, Identity: testIdentity, Key: testKey, Logger: slog.New(slog.DiscardHandler)})
	c := testCronJob("a", "@daily")
	c.ResourceVersion, c.Spec.TimeZone = "1", new("Moon/Tycho")
	if err := feed.CronJobChanged(c); err != nil {
		t.Fatal(err)
	}
	o, _ := feed.Take()
	if seen := o.Facts.(*events.CronJobSeen); *seen.TimeZone != "Moon/Tycho" || seen.Zones != nil || o.Zones != nil {
		t.Errorf("told %+v with %v", seen, o.Zones)
	}
	if _, asked := feed.cronJobs.zones["Moon/Tycho"]; !asked {
		t.Error("what the database lacks is not remembered")
	}
}

// TestOnlyWhoRunsCronJobsKeepsThem: only with --manage=all the executor gets CronJobs, and their ends.
func TestOnlyWhoRunsCronJobsKeepsThem(t *testing.T) {
	for mode, want := range map[events.Mode][]string{
		events.ModeAll: {"keep nightly", "drop uid-nightly"}, events.ModeObserve: nil, events.ModeDelegated: nil,
	} {
		script(t, func(t *testing.T, c *cluster, start starter) {
			nightly := testCronJob("nightly", "@daily")
			c.set(nightly)
			_, r := start(withCronJobs, func(c *Config) { c.Mode = mode })
			c.remove(nightly)
			if !slices.Equal(r.Log(), want) {
				t.Errorf("%v: the keeper was told %q, want %q", mode, r.Log(), want)
			}
			if n := len(c.feed.cronJobs.known); n != 0 {
				t.Errorf("%d CronJobs are kept of a cluster without any", n)
			}
		})
	}
}
