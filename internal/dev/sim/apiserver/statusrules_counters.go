package apiserver

import (
	"fmt"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// metadataUnchanged checks (J-206) that the update has a resource version, and that name, namespace, UID, creation and
// deletion times are as stored. A Job that is being deleted gets no new finalizer.
func metadataUnchanged(u statusUpdate) field.ErrorList {
	return apivalidation.ValidateObjectMetaUpdate(&u.sent.ObjectMeta, &u.stored.ObjectMeta, field.NewPath("metadata"))
}

// countersNotNegative checks (J-208) that active, succeeded, failed, ready and terminating are at least 0.
func countersNotNegative(u statusUpdate) field.ErrorList {
	s := &u.sent.Status
	var errs field.ErrorList
	check := func(name string, value int32) {
		errs = append(errs, apivalidation.ValidateNonnegativeField(int64(value), statusPath.Child(name))...)
	}
	check("active", s.Active)
	check("succeeded", s.Succeeded)
	check("failed", s.Failed)
	if s.Ready != nil {
		check("ready", *s.Ready)
	}
	if s.Terminating != nil {
		check("terminating", *s.Terminating)
	}
	return errs
}

// uncountedUIDsDistinct checks (J-209) that in the two lists of uncountedTerminatedPods no UID is empty, and none
// appears twice.
func uncountedUIDsDistinct(u statusUpdate) field.ErrorList {
	lists := u.sent.Status.UncountedTerminatedPods
	if lists == nil {
		return nil
	}
	var errs field.ErrorList
	path := statusPath.Child("uncountedTerminatedPods")
	seen := map[types.UID]bool{}
	for _, list := range []struct {
		name string
		uids []types.UID
	}{{"succeeded", lists.Succeeded}, {"failed", lists.Failed}} {
		for i, uid := range list.uids {
			at := path.Child(list.name).Index(i)
			switch {
			case uid == "":
				errs = append(errs, field.Invalid(at, uid, "must not be empty"))
			case seen[uid]:
				errs = append(errs, field.Duplicate(at, uid))
			}
			seen[uid] = true
		}
	}
	return errs
}

// readyWithinActive checks (J-210) that ready is at most active.
func readyWithinActive(u statusUpdate) field.ErrorList {
	s := &u.sent.Status
	return refuseIf(s.Ready != nil && *s.Ready > s.Active, statusPath.Child("ready"), s.Ready, "cannot set more ready pods than active")
}

// failedNeverDecreases checks (J-211) that the counter of failed pods does not go down.
func failedNeverDecreases(u statusUpdate) field.ErrorList {
	return refuseIf(u.sent.Status.Failed < u.stored.Status.Failed, statusPath.Child("failed"), u.sent.Status.Failed, "cannot decrease")
}

// succeededDecreasesOnlyElastic checks (J-212) that the counter of succeeded pods does not go down, except in an
// Indexed Job with completions equal to its parallelism.
func succeededDecreasesOnlyElastic(u statusUpdate) field.ErrorList {
	spec := &u.stored.Spec
	elastic := isIndexed(spec) && spec.Completions != nil && spec.Parallelism != nil && *spec.Completions == *spec.Parallelism
	return refuseIf(!elastic && u.sent.Status.Succeeded < u.stored.Status.Succeeded,
		statusPath.Child("succeeded"), u.sent.Status.Succeeded, "cannot decrease")
}

// completedIndexesWellFormed checks (J-230, J-233) that completedIndexes is a valid set of indexes, and that only an
// Indexed Job has any.
func completedIndexesWellFormed(u statusUpdate) field.ErrorList {
	text, path := u.sent.Status.CompletedIndexes, statusPath.Child("completedIndexes")
	if text == "" {
		return nil
	}
	if !isIndexed(&u.stored.Spec) {
		return refuseIf(true, path, text, "cannot set non-empty completedIndexes when non-indexed completion mode")
	}
	return indexTextError(u, path, text)
}

// failedIndexesWellFormed checks (J-231, J-233) that failedIndexes is nil without backoffLimitPerIndex, and otherwise a
// valid set of indexes.
func failedIndexesWellFormed(u statusUpdate) field.ErrorList {
	text, path := u.sent.Status.FailedIndexes, statusPath.Child("failedIndexes")
	switch {
	case text == nil:
		return nil
	case u.stored.Spec.BackoffLimitPerIndex == nil:
		return refuseIf(true, path, *text, "cannot set non-null failedIndexes when backoffLimitPerIndex is null")
	default:
		return indexTextError(u, path, *text)
	}
}

func indexTextError(u statusUpdate, path *field.Path, text string) field.ErrorList {
	if _, err := parseIndexText(text, completionsOf(u)); err != nil {
		return refuseIf(true, path, text, fmt.Sprintf("error parsing indexes: %v", err))
	}
	return nil
}

func completionsOf(u statusUpdate) int32 {
	if u.stored.Spec.Completions == nil {
		return 0
	}
	return *u.stored.Spec.Completions
}

// indexSetsDisjoint checks (J-232) that no index is both completed and failed. Invalid texts are reported by J-230 and
// J-231.
func indexSetsDisjoint(u statusUpdate) field.ErrorList {
	s := &u.sent.Status
	if s.FailedIndexes == nil {
		return nil
	}
	completed, err := parseIndexText(s.CompletedIndexes, completionsOf(u))
	if err != nil {
		return nil
	}
	failed, err := parseIndexText(*s.FailedIndexes, completionsOf(u))
	if err != nil {
		return nil
	}
	index, both := overlap(completed, failed)
	return refuseIf(both, statusPath.Child("failedIndexes"), *s.FailedIndexes, fmt.Sprintf("failedIndexes and completedIndexes overlap at index: %d", index))
}
