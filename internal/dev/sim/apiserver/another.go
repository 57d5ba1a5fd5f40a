package apiserver

import (
	"maps"
	"strconv"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// another is the name under which the simulated second client, which interferes with calls, writes.
const another = "someone"

// interfere changes the object of a call c just before the call, in the name of another client, if the fault k asks
// for that.
func (s *Server) interfere(k FaultKind, c Call) {
	switch k {
	case TouchedByAnother:
		s.Touch(another, c.Kind, c.Namespace, c.Name)
	case ReplacedByAnother:
		s.replace(c.Kind, Key{c.Namespace, c.Name})
	case CopiedByAnother:
		s.copy(c.Kind, Key{c.Namespace, c.Name})
	}
}

// Touch raises the resource version of an object without a change that matters, as another client's edit of an
// annotation does. A Lease is renewed instead. Touch does nothing if the object does not exist.
func (s *Server) Touch(actor string, k Kind, namespace, name string) {
	before, ok := s.tables[k].live[Key{namespace, name}]
	if !ok {
		return
	}
	s.touched++
	after := clone(before)
	annotations := after.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[AnnotationTouched] = strconv.FormatUint(s.touched, 10)
	after.SetAnnotations(annotations)
	if lease, ok := after.(*coordinationv1.Lease); ok {
		lease.Spec.RenewTime = &metav1.MicroTime{Time: s.clock.Now().Truncate(time.Microsecond)}
	}
	s.update(request{actor: actor, verb: "patch"}, before, after)
}

// AnnotationTouched is the annotation that [Server.Touch] edits.
const AnnotationTouched = "sim.jobledger.dev/touched"

// replace removes an object at once, and stores a similar one under the same name, without finalizers.
func (s *Server) replace(k Kind, key Key) {
	before, ok := s.tables[k].live[key]
	if !ok {
		return
	}
	after := s.like(before)
	after.SetFinalizers(nil)
	s.commit(request{actor: another, verb: "delete"}, before, nil)
	s.commit(request{actor: another, verb: "create"}, nil, after)
}

// copy stores a similar object, named NAME-copy, if no object has that name yet.
func (s *Server) copy(k Kind, key Key) {
	original, ok := s.tables[k].live[key]
	if !ok {
		return
	}
	after := s.like(original)
	after.SetName(key.Name + "-copy")
	if _, ok := s.tables[k].live[keyOf(after)]; !ok {
		s.commit(request{actor: another, verb: "create"}, nil, after)
	}
}

// like returns a new object that differs from o only in its identity. It has no annotations that ask for faults.
func (s *Server) like(o Object) Object {
	made := clone(o)
	made.SetUID(s.newUID())
	made.SetCreationTimestamp(s.now())
	annotations := maps.Clone(made.GetAnnotations())
	maps.DeleteFunc(annotations, func(name, _ string) bool { return strings.HasPrefix(name, AnnotationFaults) })
	made.SetAnnotations(annotations)
	return made
}
