package apiserver

import (
	"fmt"
	"slices"
	"strings"
)

// AnnotationFaults, followed by the verb of a call, is the annotation with which an object asks for faults:
// "sim.jobledger.dev/on-patch". The value lists names of faults, separated by spaces. Calls about the object get these
// faults in this order, one each; the last one is repeated for ever. "too-many-requests none" makes the first call
// fail, "webhook" every call.
const AnnotationFaults = "sim.jobledger.dev/on-"

// AnnotatedFaults returns a function for [Client.Faults]: a call gets the faults that the annotations of its object
// list. Each returned function counts calls separately. An unknown name means no fault; [Server.Load] refuses such an
// object.
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

// faultNamed returns the fault of that name; NoFault if there is none.
func faultNamed(name string) FaultKind {
	return FaultKind(max(0, slices.Index(faultNames[:], name)))
}

// checkAnnotatedFaults returns an error if the annotations of an object ask for an unknown fault.
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
