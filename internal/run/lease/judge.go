package lease

import (
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
)

// UsualName is the name of every Lease of this program, so that all controllers find each other.
const UsualName = "jobledger"

// The operator's namespaces. The Lease of a controller of all namespaces is in one of them, wherever its pod runs. No
// tenant must have the right to write there.
const (
	DefaultNamespace = "jobledger"
	SystemNamespace  = "kube-system"
)

// OperatorNamespaces are the namespaces in which a Lease is fully trusted.
var OperatorNamespaces = []string{DefaultNamespace, SystemNamespace}

// The longest durations of a Lease that other processes respect: for a Lease with a longer duration they wait only this
// long. New refuses a configuration with a longer duration, so a correct holder has always stopped by then.
const (
	MostDuration        = 10 * time.Minute // limit for a Lease in an operator's namespace
	MostDurationOfOther = 2 * time.Minute  // limit for any other Lease, which a tenant may have written
)

// CheckPlace returns an error if a controller may not have a Lease of this duration in namespace. scope is the
// namespace of its Jobs; empty for all namespaces.
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

// Word says how far the content of a Lease is trusted.
type Word int

// The levels of trust.
const (
	Nobodys   Word = iota // not trusted at all
	Tenants               // trusted only about the Jobs of its own namespace, because a tenant may have written it
	Operators             // trusted, because only an operator can have written it
)

// Judged is the part of a Lease's content that is trusted. If the Lease is not trusted to name a controller of Jobs,
// Scope is empty.
type Judged struct {
	Said
	Word     Word
	Patience time.Duration // how long its holder may be alive without a renewal
}

// Judge returns the part of a Lease's content that is trusted. Only the namespace decides how far a Lease is trusted,
// because the namespace decides who may write it; a writer can forge all of its content, including managed fields.
// Times in the Lease are not compared with our clock: only a renewal shows that a holder is alive.
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
	case claimed == object.Namespace && j.LogID != "": // it says that its holder runs only this namespace
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

// Runs reports whether the Lease is held by a controller of Jobs in scope: a namespace, or Everywhere.
func (j *Judged) Runs(scope string) bool { return j.Holder != "" && overlap(j.Scope, scope) }

// Lives reports whether the Lease was renewed, or taken by another holder, since it was read the time before.
func (j *Judged) Lives(before *Judged) bool {
	return j.Holder != "" && (j.Holder != before.Holder || !j.Renewed.Equal(before.Renewed))
}

// overlap reports whether two controllers run Jobs of the same namespace; a and b are a namespace or Everywhere. An
// empty one is unknown, and overlaps with nothing.
func overlap(a, b string) bool {
	return a != "" && b != "" && (a == b || a == Everywhere || b == Everywhere)
}
