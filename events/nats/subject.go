package nats

import (
	"fmt"
	"strings"

	"github.com/jobledger/jobledger/events"
)

// Prefix is the beginning of every subject. Its number rises with an incompatible change of subjects, headers or data.
const Prefix = "jobledger.v1"

const subjectTokens = 7

// The kinds of objects in subjects.
const (
	KindJob        = "job"
	KindCronJob    = "cronjob"
	KindNamespace  = "namespace"  // pods of a namespace without an owner
	KindController = "controller" // the controller itself: starts, listings, gaps
)

// Subject holds the parts of the subject of a message. Namespace and Name are empty when there is none: the controller
// has neither, a namespace has no name, and the name of a Job may be unknown.
type Subject struct {
	Cluster   string // chosen by the operator
	Namespace string
	Kind      string // one of the Kind constants
	Name      string
	Event     string // kind of the record: "JobAdded", "Decided", …
}

// SubjectOf returns the subject of a record with the header h. job is the Job or CronJob of its stream.
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

// String returns the subject in NATS syntax.
func (s Subject) String() string {
	b := append(make([]byte, 0, 128), Prefix...)
	for _, part := range [...]string{s.Cluster, s.Namespace, s.Kind, s.Name, s.Event} {
		b = appendToken(append(b, '.'), part)
	}
	return string(b)
}

// Filter selects messages by the parts of their subject. An empty field matches anything.
type Filter Subject

// String returns the filter in NATS syntax, with wildcards.
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

// Everything returns the NATS filter for the subjects of all messages of a cluster.
func Everything(cluster string) string { return Prefix + "." + Token(cluster) + ".>" }

// ParseSubject parses a subject that Subject.String made.
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
