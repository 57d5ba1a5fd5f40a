package nats

import (
	"fmt"
	"strings"

	"github.com/jobledger/jobledger/events"
)

// Prefix begins every subject. The number changes when subjects, headers or data change so that a subscriber must know.
const Prefix = "jobledger.v1"

const subjectTokens = 7

// The kinds of objects that subjects name.
const (
	KindJob        = "job"
	KindCronJob    = "cronjob"
	KindNamespace  = "namespace"  // pods of a namespace that have no owner yet
	KindController = "controller" // the controller itself: starts, listings, gaps
)

// Subject says what a message is about. Namespace and Name are empty where there is none: the controller has neither, a
// namespace has no name, and a Job's may not be known any more.
type Subject struct {
	Cluster   string // as the operator named it
	Namespace string
	Kind      string // one of the Kind constants
	Name      string
	Event     string // the kind of the record: "JobAdded", "Decided", …
}

// SubjectOf is the subject of a record of that stream, whose object has that name.
func SubjectOf(cluster string, job events.JobRef, h *events.Header) Subject {
	s := Subject{Cluster: cluster, Kind: kindOf(h.Stream.Kind), Event: h.Kind.String()}
	switch h.Stream.Kind {
	case events.StreamNamespace:
		s.Namespace = h.Stream.ID
	case events.StreamController:
	default:
		s.Namespace, s.Name = job.Namespace, job.Name
	}
	return s
}

func kindOf(k events.StreamKind) string {
	switch k {
	case events.StreamJob:
		return KindJob
	case events.StreamCronJob:
		return KindCronJob
	case events.StreamNamespace:
		return KindNamespace
	case events.StreamController:
		return KindController
	}
	return fmt.Sprintf("kind%d", k)
}

// String is the subject as NATS has it.
func (s Subject) String() string {
	b := append(make([]byte, 0, 128), Prefix...)
	for _, part := range [...]string{s.Cluster, s.Namespace, s.Kind, s.Name, s.Event} {
		b = appendToken(append(b, '.'), part)
	}
	return string(b)
}

// Filter selects messages by their subjects: a field that is empty matches anything.
type Filter Subject

// String is the filter as NATS has it.
func (f Filter) String() string {
	b := append(make([]byte, 0, 128), Prefix...)
	for _, part := range [...]string{f.Cluster, f.Namespace, f.Kind, f.Name, f.Event} {
		b = append(b, '.')
		if part == "" {
			b = append(b, '*')
		} else {
			b = appendToken(b, part)
		}
	}
	return string(b)
}

// Everything is the filter for all that the controller of a cluster publishes.
func Everything(cluster string) string { return Prefix + "." + Token(cluster) + ".>" }

// ParseSubject is the inverse of String, for subjects of messages.
func ParseSubject(subject string) (Subject, error) {
	tokens := strings.Split(subject, ".")
	if len(tokens) != subjectTokens || tokens[0]+"."+tokens[1] != Prefix {
		return Subject{}, fmt.Errorf("subject %q: want %s.<cluster>.<namespace>.<kind>.<name>.<event>", subject, Prefix)
	}
	var s Subject
	for i, to := range []*string{&s.Cluster, &s.Namespace, &s.Kind, &s.Name, &s.Event} {
		text, err := ParseToken(tokens[i+2])
		if err != nil {
			return Subject{}, fmt.Errorf("subject %q: %w", subject, err)
		}
		*to = text
	}
	return s, nil
}
