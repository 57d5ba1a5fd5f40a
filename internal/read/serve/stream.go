package serve

import (
	"fmt"
	"strings"

	"github.com/jobledger/jobledger/events"
)

// ParseStream parses the name of a stream, the records of one object: "job/UID", as events.Stream.String writes it.
func ParseStream(text string) (events.Stream, error) {
	kind, id, _ := strings.Cut(text, "/")
	s := events.Stream{ID: id}
	switch kind {
	case "controller":
		s.Kind = events.StreamController
	case "job":
		s.Kind = events.StreamJob
	case "cronjob":
		s.Kind = events.StreamCronJob
	case "namespace":
		s.Kind = events.StreamNamespace
	}
	if s.Kind == 0 || (s.ID == "") != (s.Kind == events.StreamController) {
		return events.Stream{}, fmt.Errorf("%q is no stream: controller, job/UID, cronjob/UID or namespace/NAME", text)
	}
	return s, nil
}
