package words

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/examples"
)

// fill gives every field of a copy a value that is not zero. Interfaces stay as they are.
func fill(v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		} else {
			same := reflect.New(v.Type().Elem())
			same.Elem().Set(v.Elem())
			v.Set(same)
		}
		fill(v.Elem(), path)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), path+"."+v.Type().Field(i).Name)
			}
		}
	case reflect.Slice:
		if v.Len() == 0 && v.Type().Elem().Kind() == reflect.Interface {
			return
		} else if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		} else {
			v.Set(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v))
		}
		for i := range v.Len() {
			fill(v.Index(i), fmt.Sprintf("%s.%d", path, i))
		}
	case reflect.String:
		if v.String() == "" {
			v.SetString(strings.ToLower(path))
		}
	case reflect.Bool:
	default:
		if v.IsZero() && v.CanInt() {
			v.SetInt(3)
		} else if v.IsZero() && v.CanUint() {
			v.SetUint(3)
		}
	}
}

// toldFields are, by kind, the fields of a record that its text depends on, where all others are set.
var toldFields = []struct{ kinds, fields string }{
	{"LogCreated",
		"Epoch Format LogID"},
	{"EpochChanged",
		"Epoch Lost.Epoch Lost.Sequence Lost.Witness Reason"},
	{"Pruned",
		"First From FromTime Missed Missed.Consumer Missed.From Missed.Through Reason ThroughTime"},
	{"FileRestated",
		"File Streams"},
	{"TermStarted",
		"Term"},
	{"StreamRefilled",
		"From Place Through"},
	{"ControllerStarted",
		"Key KeyBefore RulesVersion Settings.APIBackoff Settings.CronJobs Settings.DeleteExpired " +
			"Settings.DeletedPodWait Settings.Draining Settings.HeldAtEnd Settings.MaxAPIBackoff " +
			"Settings.MaxPodFailureBackoff Settings.MaxPodsPerDecision Settings.MaxUncounted Settings.Mode " +
			"Settings.Namespace Settings.NamespaceBudget Settings.ObserveOthers Settings.PodFailureBackoff " +
			"Settings.ProgressDelay Settings.RequestTimeout Settings.SlowStart Version"},
	{"ControllerStopped RivalGone StateStored JobResumed TimerFired",
		""},
	{"LeadershipChanged",
		"Identity Leading"},
	{"ClockStepped",
		"Step"},
	{"ListingStarted",
		"LastSeen Orderly Reason Resources"},
	{"Synced",
		"Resources Versions"},
	{"RivalFound",
		"Acts Evidence.Sentence"},
	{"LossFound",
		"Loss.Epoch Loss.Sequence Loss.Witness"},
	{"JobAdded",
		"Confirms.Decided Deleted Evidence.Edit Evidence.Edit.Manager Evidence.Origin Evidence.Origin.Kind " +
			"Evidence.Origin.Name Managed ManagedBy"},
	{"JobChanged",
		"Confirms.Decided Confirms.Place Deleted Generation Status.Active Status.Failed Status.HasUncounted " +
			"Status.StartTime Status.Succeeded Version"},
	{"JobDeleted CronJobDeleted",
		"Missed"},
	{"PodAdded PodChanged",
		"Deleted DeletionGracePeriodSeconds Evidence.Admitted Evidence.Containers " +
			"Evidence.Containers.ExitCode Evidence.Containers.Message Evidence.Containers.MessageWithheld Evidence.Containers.Name " +
			"Evidence.Containers.Reason Evidence.Finalizers Evidence.Gates Evidence.Message Evidence.Node Evidence.Reason Evidence.StillRun Exits " +
			"Exits.Code Exits.Name Index Phase Ready Restarts Sandbox Scheduled Tracked Waiting"},
	{"PodDeleted",
		"Moved"},
	{"CronJobAdded CronJobChanged",
		"Active Deadline Deleted LastSchedule Policy Schedule Suspend TimeZone Trigger Trigger.By"},
	{"GroupSeen",
		"Unavailable"},
	{"SpecStored",
		"ActiveDeadlineSeconds BackoffLimit CompletionMode Completions Parallelism Suspend"},
	{"JobRetired",
		"Evidence.Sentence Failed Reason Result Succeeded"},
	{"TemplateStored",
		"Evidence.Template Size"},
	{"PoliciesStored",
		"PodFailurePolicy Selector SuccessPolicy"},
	{"ZoneStored",
		"Hash Name TZif"},
	{"RunSeen",
		"By Manual Name Result"},
	{"RunGone",
		"Left"},
	{"Decided TicksObserved",
		"Steps Steps.Commands Steps.Cron Steps.Cron.Ledger Steps.Cron.Ledger.Hold Steps.Cron.Ledger.Open " +
			"Steps.Cron.Left Steps.Cron.Notices Steps.Cron.Notices.Reason Steps.Cron.Ticks Steps.Cron.Ticks.Fate " +
			"Steps.Cron.Ticks.First Steps.Cron.Ticks.Into Steps.Cron.Ticks.Last Steps.Cron.Ticks.Name " +
			"Steps.Reason"},
	{"WouldDecide",
		"Steps Steps.Cron Steps.Cron.Ledger Steps.Cron.Ledger.Hold Steps.Cron.Ledger.Open Steps.Cron.Left " +
			"Steps.Cron.Notices Steps.Cron.Notices.Reason Steps.Cron.Ticks Steps.Cron.Ticks.Fate " +
			"Steps.Cron.Ticks.First Steps.Cron.Ticks.Into Steps.Cron.Ticks.Last Steps.Cron.Ticks.Name " +
			"Steps.Reason"},
	{"CommandEnded",
		"Ending Evidence.Message Evidence.Sentence Ordinal Type"},
	{"NodeChanged",
		"Cordoned Name Pressures Ready Taints"},
	{"NodeGone",
		"Missed Name Replaced"},
	{"NamespaceChanged",
		"Gone Missed Name"},
	{"ClusterWatched",
		"Namespaces Nodes"},
	{"PassedOver",
		"Evidence.Namespace Open Versions Went Went.Objects Went.Resource"},
}

// TestWhichFieldsAreTold changes each field of one record of each kind, all of whose others are set. The text is
// another one if the field is one of those that are told, and else stays: nothing is said for the lack of something
// else.
func TestWhichFieldsAreTold(t *testing.T) {
	want := map[string]string{}
	for _, row := range toldFields {
		for kind := range strings.FieldsSeq(row.kinds) {
			want[kind] = row.fields
		}
	}
	for kind, facts := range examples.Facts() {
		told := map[string]bool{}
		for _, full := range []bool{false, true} {
			r := events.Record{Header: events.Header{Sequence: 7, Time: 10_000_000_000, Stream: events.JobStream("u"), Kind: kind}, Facts: facts}
			v := reflect.ValueOf(facts)
			if full {
				v = reflect.New(v.Type()).Elem()
				v.Set(reflect.ValueOf(facts))
				fill(v, "")
				r.Facts = v.Interface().(events.Facts)
				fill(reflect.ValueOf(&r.Evidence).Elem(), "evidence")
			}
			var n Names
			text := func() string { return n.Detail(&r) }
			for _, name := range examples.DependsOn(v.Interface(), text) {
				told[name] = true
			}
			for _, name := range examples.DependsOn(&r.Evidence, text) {
				told["Evidence."+name] = true
			}
		}
		if !told["Evidence.PassedOver"] {
			t.Errorf("%s does not tell that versions before it were passed over", kind)
		}
		delete(told, "Evidence.PassedOver")
		if got := strings.Join(slices.Sorted(maps.Keys(told)), " "); got != want[kind.String()] {
			t.Errorf("%s tells of\n%s\nwant\n%s", kind, got, want[kind.String()])
		}
	}
}
