package lease

import (
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
)

// UsualName is the name of all our Leases, so that all controllers find each other.
const UsualName = "jobledger"

// The operator's namespaces. The Lease of a controller of all namespaces is in one of them, wherever its pod runs. No
// tenant may write there.
const (
	DefaultNamespace = "jobledger"
	SystemNamespace  = "kube-system"
)

// OperatorNamespaces are the namespaces in which a Lease is fully trusted.
var OperatorNamespaces = []string{DefaultNamespace, SystemNamespace}

// The longest trusted durations. A Lease with a longer one is waited for only this long. New refuses a controller that
// asks for more, so an honest holder has stopped by then.
const (
	MostDuration        = 10 * time.Minute // of a Lease in an operator's namespace
	MostDurationOfOther = 2 * time.Minute  // of any other Lease, which a tenant may have written
)

// CheckPlace returns an error if a controller with that scope (empty for all namespaces) may not have its Lease in
// namespace for that duration.
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

// Word is how far a Lease is trusted.
type Word int

// The levels of trust.
const (
	Nobodys   Word = iota // says nothing about Jobs
	Tenants               // speaks for its own namespace: a tenant may have written it
	Operators             // trusted
)

// Judged is what a Lease says, as far as it is trusted. Scope is empty unless it speaks for Jobs.
type Judged struct {
	Said
	Word     Word
	Patience time.Duration // how long a holder may live without a renewal
}

// Judge says how far a Lease is trusted. It goes by the namespace alone, which decides who may write the Lease; a
// writer can forge everything in it, including managed fields. Its times are never compared with our clock: only a
// renewal shows that a holder lives.
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

// Runs reports whether the Lease is held for Jobs of scope: a namespace, or Everywhere.
func (j *Judged) Runs(scope string) bool { return j.Holder != "" && overlap(j.Scope, scope) }

// Lives reports whether the Lease was renewed, or taken by another holder, since before.
func (j *Judged) Lives(before *Judged) bool {
	return j.Holder != "" && (j.Holder != before.Holder || !j.Renewed.Equal(before.Renewed))
}

// overlap reports whether two scopes share Jobs. An unknown scope shares none.
func overlap(a, b string) bool {
	return a != "" && b != "" && (a == b || a == Everywhere || b == Everywhere)
}
