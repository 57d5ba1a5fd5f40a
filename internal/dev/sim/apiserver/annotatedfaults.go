package apiserver

import (
	"fmt"
	"slices"
	"strings"
)

// AnnotationFaults, with the verb of a call behind it, is how an object asks for faults: "sim.jobledger.dev/on-patch".
// The value has names of faults, separated by spaces. Such calls about the object meet them in this order, one each;
// the last one goes on for ever. So "too-many-requests none" lets the first call fail, and "webhook" lets all fail.
const AnnotationFaults = "sim.jobledger.dev/on-"

// AnnotatedFaults returns what [Client.Faults] may be: calls meet the faults that their objects ask for. It counts
// calls on its own. A name that is unknown is no fault; [Server.Load] refuses it.
func (s *Server) AnnotatedFaults() func(Call) Fault {
	type about struct {
		kind Kind
		key  Key
		verb string
	}
	calls := map[about]int{}
	return func(c Call) Fault {
		key := Key{c.Namespace, c.Name}
		o, ok := s.tables[c.Kind].live[key]
		if !ok {
			return Fault{}
		}
		names := strings.Fields(o.GetAnnotations()[AnnotationFaults+c.Verb])
		if len(names) == 0 {
			return Fault{}
		}
		n := min(calls[about{c.Kind, key, c.Verb}], len(names)-1)
		calls[about{c.Kind, key, c.Verb}]++
		return Fault{Kind: faultNamed(names[n])}
	}
}

// faultNamed is the fault of that name, NoFault when there is none.
func faultNamed(name string) FaultKind {
	return FaultKind(max(0, slices.Index(faultNames[:], name)))
}

// checkAnnotatedFaults refuses an object that asks for a fault that there is not.
func checkAnnotatedFaults(o Object) error {
	for annotation, value := range o.GetAnnotations() {
		if !strings.HasPrefix(annotation, AnnotationFaults) {
			continue
		}
		for _, name := range strings.Fields(value) {
			if !slices.Contains(faultNames[:], name) {
				return fmt.Errorf("%s: there is no fault %q; there are %s", annotation, name, strings.Join(faultNames[:], ", "))
			}
		}
	}
	return nil
}
