package show

import (
	"reflect"

	"github.com/jobledger/jobledger/events"
)

// filled sets every field of a value, however deep, to something that is not its zero: a golden file then shows all of
// their names, and a field that is added shows as a difference.
func filled[T any](v *T) *T {
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
			fill(v.Field(i), n)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Slice:
		if v.Type().Elem() == commandType {
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
		v.SetUint(1) // the first of an enumeration
	case reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(*n))
	}
}

func allCommands() []events.Command {
	return []events.Command{
		filled(&events.CreatePod{}), filled(&events.DeletePod{}), filled(&events.DropFinalizer{}), filled(&events.WriteStatus{}),
		filled(&events.AdoptPod{}), filled(&events.ReleasePod{}), &events.ReadJob{}, filled(&events.ReadPod{}),
		filled(&events.Withdraw{}),
	}
}

// allFacts is one of each kind of facts, every field of which is set.
func allFacts() map[events.Kind]events.Facts {
	spec := filled(&events.JobSpec{})
	spec.Selector, spec.PodFailurePolicy, spec.SuccessPolicy = `{"matchLabels":{"a":"b"}}`, `{"rules":[]}`, ``
	policies := &events.JobPolicies{Hash: "hash", Selector: spec.Selector, PodFailurePolicy: spec.PodFailurePolicy}
	return map[events.Kind]events.Facts{
		events.KindLogCreated:        filled(&events.LogCreated{}),
		events.KindEpochChanged:      filled(&events.EpochChanged{}),
		events.KindPruned:            filled(&events.Pruned{}),
		events.KindControllerStarted: filled(&events.ControllerStarted{}),
		events.KindControllerStopped: &events.ControllerStopped{},
		events.KindLeadershipChanged: filled(&events.LeadershipChanged{}),
		events.KindClockStepped:      filled(&events.ClockStepped{}),
		events.KindListingStarted:    filled(&events.ListingStarted{}),
		events.KindSynced:            filled(&events.Synced{}),
		events.KindRivalFound:        filled(&events.RivalFound{}),
		events.KindRivalGone:         &events.RivalGone{},
		events.KindLossFound:         filled(&events.LossFound{}),
		events.KindJobAdded:          filled(&events.JobSeen{}),
		events.KindJobChanged:        &events.JobSeen{Status: &events.JobStatus{Ready: events.Unset, Terminating: events.Unset}},
		events.KindJobDeleted:        filled(&events.JobGone{}),
		events.KindPodAdded:          filled(&events.PodSeen{}),
		events.KindPodChanged:        &events.PodSeen{Index: events.NoIndex},
		events.KindPodDeleted:        filled(&events.PodGone{}),
		events.KindGroupSeen:         filled(&events.GroupSeen{}),
		events.KindSpecStored:        spec,
		events.KindTemplateStored:    filled(&events.JobTemplate{}),
		events.KindPoliciesStored:    policies,
		events.KindStateStored:       filled(&events.StoredState{}),
		events.KindJobResumed:        &events.JobResumed{},
		events.KindTimerFired:        &events.TimerFired{},
		events.KindJobRetired:        &events.JobRetired{},
		events.KindDecided:           filled(&events.Decision{}),
		events.KindWouldDecide:       &events.Decision{},
		events.KindCommandEnded:      filled(&events.CommandEnded{}),
	}
}
