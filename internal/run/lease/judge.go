package lease

import (
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
)

// UsualName is the name of each Lease of ours. It has no other, so that each controller finds each other one.
const UsualName = "jobledger"

// The operator's namespaces. The Lease of a controller of all namespaces is in one of them, wherever its pod is. No
// tenant may write there.
const (
	DefaultNamespace = "jobledger"
	SystemNamespace  = "kube-system"
)

// OperatorNamespaces are those where a Lease is believed in all that it says.
var OperatorNamespaces = []string{DefaultNamespace, SystemNamespace}

// The longest durations that are believed. A Lease that says more is waited for as long as this. A controller that
// would say more is refused, so an honest holder has ended by then.
const (
	MostDuration        = 10 * time.Minute // of a Lease in an operator's namespace
	MostDurationOfOther = 2 * time.Minute  // of one elsewhere: anybody who may write Leases there may have written it
)

// CheckPlace says why the Lease of a controller with that scope, empty for all, cannot be in a namespace for that long.
func CheckPlace(namespace, scope string, duration time.Duration) error {
	operators := slices.Contains(OperatorNamespaces, namespace)
	switch most := longest(operators); {
	case !operators && scope == "":
		return fmt.Errorf("the Lease of a controller of all namespaces is in %s or in %s, and not in %s: no controller looks for it elsewhere",
			DefaultNamespace, SystemNamespace, namespace)
	case !operators && namespace != scope:
		return fmt.Errorf("the Lease of a controller of namespace %s is there, in %s or in %s, and not in %s: no controller looks for it elsewhere",
			scope, DefaultNamespace, SystemNamespace, namespace)
	case duration > most:
		return fmt.Errorf("a Lease in namespace %s is good for at most %s, and not for %s: no controller waits longer for it", namespace, most, duration)
	}
	return nil
}

// Word is how far a Lease is believed.
type Word int

// The words.
const (
	Nobodys   Word = iota // it says nothing of who runs Jobs
	Tenants               // it speaks for its own namespace: any user who may write Leases there may have written it
	Operators             // it is believed
)

// Judged is what a Lease says, as far as it is believed: Scope is empty unless it speaks for Jobs.
type Judged struct {
	Said
	Word     Word
	Patience time.Duration // for how long a holder lives that does not renew it
}

// Judge says how far a Lease is believed. It goes by the namespace, which decides who may write it, and by nothing that
// the Lease says of itself: whoever may write it can write all of that, its managed fields too. No time in it is
// compared with a clock of ours; that a holder lives is shown by a renewal alone.
func Judge(object *coordinationv1.Lease) Judged {
	j := Judged{Said: saidBy(object), Patience: DefaultDuration}
	claimed := j.Scope
	operators := slices.Contains(OperatorNamespaces, object.Namespace)
	switch {
	case object.Name != UsualName:
		j.Scope = ""
	case operators:
		j.Word = Operators
		if claimed == "" {
			j.Scope = Everywhere
		}
	case claimed == object.Namespace && j.LogID != "": // what a controller of that namespace writes
		j.Word = Tenants
	default:
		j.Scope = ""
	}
	if s := object.Spec.LeaseDurationSeconds; s != nil && *s > 0 {
		j.Patience = min(time.Duration(*s)*time.Second, longest(operators))
	}
	return j
}

func longest(operators bool) time.Duration {
	if operators {
		return MostDuration
	}
	return MostDurationOfOther
}

// Runs reports whether the Lease is held for Jobs of a scope: a namespace, or Everywhere.
func (j *Judged) Runs(scope string) bool { return j.Holder != "" && overlap(j.Scope, scope) }

// Lives reports whether the holder has renewed the Lease, or another has taken it, since it was seen as before.
func (j *Judged) Lives(before *Judged) bool {
	return j.Holder != "" && (j.Holder != before.Holder || !j.Renewed.Equal(before.Renewed))
}

// overlap reports whether two scopes have Jobs in common. One that is not known has none.
func overlap(a, b string) bool {
	return a != "" && b != "" && (a == b || a == Everywhere || b == Everywhere)
}
