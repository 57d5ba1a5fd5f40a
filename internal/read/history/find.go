package history

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// mostLooked is the largest number of Jobs whose records are searched for a pod.
const mostLooked = 64

// ErrManyJobs is returned if the newest 64 Jobs (mostLooked) that may have had the pod did not have it, and there are
// older ones.
var ErrManyJobs = errors.New("only the newest Jobs that may have had the pod were looked at")

// JobOfPod returns the stream of the Job that had the pod; ok is false if no Job is known to have had it. The name of a
// pod begins with the name of its Job, so JobOfPod searches the Jobs whose name is a prefix of the pod's: the longest
// name first, and for each name the newest Job first. For pod "etl-load-x7k2p" it searches "etl-load", then "etl". Its
// cost grows with the records of these Jobs, not with the log.
func JobOfPod(ctx context.Context, src Source, namespace, pod string) (s events.Stream, ok bool, err error) {
	l := looking{ctx: ctx, src: src, pod: pod, seen: map[events.Stream]bool{}}
	for _, name := range jobNames(pod) {
		streams, err := FindJobs(ctx, src, namespace, name)
		if err = l.beside(err); err != nil {
			return s, false, err
		}
		if s, ok, err := l.among(streams); ok || err != nil {
			return s, ok, err
		}
	}
	for _, stem := range cutNames(pod) {
		page, err := src.Jobs(ctx, JobsQuery{Namespace: namespace, Name: stem, Limit: mostLooked})
		if err = l.beside(err); err != nil {
			return s, false, err
		}
		var streams []events.Stream
		for _, j := range page.Items {
			streams = append(streams, events.JobStream(types.UID(j.UID)))
		}
		if s, ok, err := l.among(streams); ok || err != nil {
			return s, ok, err
		}
	}
	return s, false, l.unread
}

// jobNames returns the possible names of a pod's Job: the prefixes of the pod's name that end before a dash, the
// longest first.
func jobNames(pod string) (names []string) {
	for at := strings.LastIndexByte(pod, '-'); at > 0; at = strings.LastIndexByte(pod[:at], '-') {
		names = append(names, pod[:at])
	}
	return names
}

const (
	longestName = 63 // longest name that the controller gives a pod, in characters
	random      = 5  // number of random characters at the end of a pod's name
)

var indexed = regexp.MustCompile(`^(.+)-[0-9]+-.{5}$`)

// cutNames returns prefixes of possible Job names, for a pod name of 63 characters: the controller shortens the name of
// the Job to fit the pod name into this length. It returns none for a shorter pod name.
func cutNames(pod string) (stems []string) {
	if len(pod) != longestName {
		return nil
	}
	if m := indexed.FindStringSubmatch(pod); m != nil {
		stems = append(stems, m[1])
	}
	return append(stems, pod[:longestName-random])
}

// looking is one search for the Job that had a pod.
type looking struct {
	ctx  context.Context
	src  Source
	pod  string
	seen map[events.Stream]bool // streams (records of one Job each) that were searched

	unread error // damage of the log that may hide records of the pod; returned if no Job is found
}

// beside keeps err for later if it is damage of the log, and returns nil: the damage matters only if the search finds
// no Job. It returns other errors at once.
func (l *looking) beside(err error) error {
	if !l.src.Beside(err) {
		return err
	}
	l.unread = err
	return nil
}

// among searches the streams (records of one Job each) in order, and returns the first that has a record of the pod.
func (l *looking) among(streams []events.Stream) (s events.Stream, ok bool, err error) {
	for _, s := range streams {
		if l.seen[s] {
			continue
		}
		if len(l.seen) == mostLooked {
			return s, false, ErrManyJobs
		}
		l.seen[s] = true
		if had, err := l.had(s); had || err != nil {
			return s, had, err
		}
	}
	return s, false, nil
}

// had reports whether stream s (the records of one Job) has a record of the pod.
func (l *looking) had(s events.Stream) (bool, error) {
	kinds := []events.Kind{events.KindPodAdded, events.KindPodChanged, events.KindPodDeleted, events.KindCommandEnded}
	for r, err := range l.src.Records(l.ctx, Query{Stream: &s, Kinds: kinds}) {
		if err != nil {
			return false, l.beside(err)
		}
		if r.Evidence.Name != l.pod {
			continue
		}
		if e, is := r.Facts.(*events.CommandEnded); !is || e.Ending == events.Done {
			return true, nil
		}
	}
	return false, nil
}
