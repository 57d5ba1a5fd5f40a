package examples

import (
	"reflect"

	"github.com/jobledger/jobledger/events"
)

// Filled sets every field of a value, at any depth, to something other than its zero value. A golden file then shows
// the names of all fields, and a new field appears as a difference.
func Filled[T any](v *T) *T {
	n := int64(0)
	fill(reflect.ValueOf(v).Elem(), &n)
	return v
}

func fill(v reflect.Value, n *int64) {
	*n++
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), n)
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Slice:
		if v.Type().Elem() == reflect.TypeFor[events.Command]() {
			v.Set(reflect.ValueOf(allCommands()))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.String:
		v.SetString("text " + string(rune('a'+*n%26)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32, reflect.Int64:
		v.SetInt(*n)
	case reflect.Uint8:
		v.SetUint(1) // enumerations begin with 0 for unspecified, so 1 is the first real value
	case reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(*n))
	}
}

// Command returns a command of the given kind, with all fields set.
func Command(traits *events.Traits) events.Command {
	c, n := traits.New(), int64(0)
	fill(reflect.ValueOf(c).Elem(), &n)
	return c
}

func allCommands() (all []events.Command) {
	for traits := range events.AllTraits() {
		all = append(all, Command(traits))
	}
	return all
}

// Facts returns one value of each kind of facts (the part of a record that decisions read), most with all fields set.
func Facts() map[events.Kind]events.Facts {
	spec := Filled(&events.JobSpec{})
	spec.Selector, spec.PodFailurePolicy, spec.SuccessPolicy = `{"matchLabels":{"a":"b"}}`, `{"rules":[]}`, ``
	policies := &events.JobPolicies{Hash: "hash", Selector: spec.Selector, PodFailurePolicy: spec.PodFailurePolicy}
	return map[events.Kind]events.Facts{
		events.KindLogCreated:        Filled(&events.LogCreated{}),
		events.KindEpochChanged:      Filled(&events.EpochChanged{}),
		events.KindPruned:            Filled(&events.Pruned{}),
		events.KindFileRestated:      Filled(&events.FileRestated{}),
		events.KindTermStarted:       Filled(&events.TermStarted{}),
		events.KindStreamRefilled:    Filled(&events.StreamRefilled{}),
		events.KindControllerStarted: Filled(&events.ControllerStarted{}),
		events.KindControllerStopped: &events.ControllerStopped{},
		events.KindLeadershipChanged: Filled(&events.LeadershipChanged{}),
		events.KindClockStepped:      Filled(&events.ClockStepped{}),
		events.KindListingStarted:    Filled(&events.ListingStarted{}),
		events.KindSynced:            Filled(&events.Synced{}),
		events.KindRivalFound:        Filled(&events.RivalFound{}),
		events.KindRivalGone:         &events.RivalGone{},
		events.KindLossFound:         Filled(&events.LossFound{}),
		events.KindJobAdded:          Filled(&events.JobSeen{}),
		events.KindJobChanged:        &events.JobSeen{Status: &events.JobStatus{Ready: events.Unset, Terminating: events.Unset}},
		events.KindJobDeleted:        Filled(&events.JobGone{}),
		events.KindPodAdded:          Filled(&events.PodSeen{}),
		events.KindPodChanged:        &events.PodSeen{Index: events.NoIndex},
		events.KindPodDeleted:        Filled(&events.PodGone{}),
		events.KindGroupSeen:         Filled(&events.GroupSeen{}),
		events.KindCronJobAdded:      Filled(&events.CronJobSeen{}),
		events.KindCronJobChanged:    &events.CronJobSeen{},
		events.KindCronJobDeleted:    Filled(&events.CronJobGone{}),
		events.KindSpecStored:        spec,
		events.KindTemplateStored:    Filled(&events.JobTemplate{}),
		events.KindPoliciesStored:    policies,
		events.KindStateStored:       Filled(&events.StoredState{}),
		events.KindJobResumed:        &events.JobResumed{},
		events.KindTimerFired:        &events.TimerFired{},
		events.KindJobRetired:        Filled(&events.JobRetired{}),
		events.KindZoneStored:        Filled(&events.ZoneRules{}),
		events.KindRunSeen:           Filled(&events.RunSeen{}),
		events.KindRunGone:           Filled(&events.RunGone{}),
		events.KindDecided:           Filled(&events.Decision{}),
		events.KindWouldDecide:       &events.Decision{},
		events.KindCommandEnded:      Filled(&events.CommandEnded{}),
		events.KindTicksObserved:     Filled(&events.Decision{}),
		events.KindNodeChanged:       Filled(&events.NodeSeen{}),
		events.KindNodeGone:          Filled(&events.NodeGone{}),
		events.KindNamespaceChanged:  Filled(&events.NamespaceSeen{}),
		events.KindClusterWatched:    Filled(&events.ClusterWatched{}),
		events.KindPassedOver:        Filled(&events.PassedOver{}),
	}
}
