package history

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// mostLooked is among how many Jobs a pod is looked for, at most.
const mostLooked = 64

// ErrManyJobs: more Jobs may have had a pod than were looked at.
var ErrManyJobs = errors.New("only the newest Jobs that may have had the pod were looked at")

// JobOfPod gives the stream of the Job that had a pod of that name; not ok when none is known. The name of a pod begins
// with that of its Job, so it looks at the Jobs whose names the pod's begins with: the longest name first, and of each
// name the newest first. Its cost is that of those Jobs, and not of the log.
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

// jobNames are the names of Jobs that a pod's name begins with, the longest first: all that stands before a dash.
func jobNames(pod string) (names []string) {
	for at := strings.LastIndexByte(pod, '-'); at > 0; at = strings.LastIndexByte(pod[:at], '-') {
		names = append(names, pod[:at])
	}
	return names
}

const (
	longestName = 63 // of a pod that the controller names
	random      = 5  // characters that the name of a pod ends with
)

var indexed = regexp.MustCompile(`^(.+)-[0-9]+-.{5}$`)

// cutNames are how the names of Jobs begin that were too long for the names of their pods, if the pod's is as long as
// it can be.
func cutNames(pod string) (stems []string) {
	if len(pod) != longestName {
		return nil
	}
	if m := indexed.FindStringSubmatch(pod); m != nil {
		stems = append(stems, m[1])
	}
	return append(stems, pod[:longestName-random])
}

// looking is a look for the Job of a pod.
type looking struct {
	ctx  context.Context
	src  Source
	pod  string
	seen map[events.Stream]bool // that were looked at

	unread error // damage, where the pod may be told of
}

// beside keeps damage for the end, when no Job that can be read had the pod, and gives other errors back.
func (l *looking) beside(err error) error {
	if !l.src.Beside(err) {
		return err
	}
	l.unread = err
	return nil
}

// among gives the first of the streams that has a record of the pod.
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

// had reports whether a stream has a record of the pod.
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
