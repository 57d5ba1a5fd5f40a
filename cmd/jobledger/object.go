package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/history"
	"github.com/jobledger/jobledger/internal/words"
)

// jobKinds are the ways in which kubectl's users write the kind.
var jobKinds = map[string]bool{
	"job": true, "jobs": true, "job.batch": true, "jobs.batch": true, "job.v1.batch": true, "jobs.v1.batch": true,
}

// parseJob reads "job/NAME" or "job NAME"; the name is empty for all Jobs, where only the kind is given.
func parseJob(args []string) (name string, err error) {
	kind := args[0]
	switch {
	case len(args) == 2:
		name = args[1]
	case strings.Contains(kind, "/"):
		kind, name, _ = strings.Cut(kind, "/")
		if name == "" {
			return "", usage("%q has no name: write job/NAME", args[0])
		}
	}
	if !jobKinds[strings.ToLower(kind)] {
		if len(args) == 1 && kind == args[0] {
			return "", usage("%q is no kind of object: write job/%s for the Job of that name, or job/UID", kind, kind)
		}
		return "", usage("%q is no Job: write job/NAME or job/UID", args[0])
	}
	if strings.Contains(name, "/") {
		return "", usage("%q is no name: the namespace goes into -n", name)
	}
	return name, nil
}

var uid = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// findJobs finds the streams of the Jobs of that name, newest first, or of the Job with that UID. There is at least one.
func findJobs(ctx context.Context, src history.Source, namespace, name string) ([]events.Stream, error) {
	if uid.MatchString(name) {
		return []events.Stream{events.JobStream(types.UID(strings.ToLower(name)))}, nil
	}
	streams, err := src.Find(ctx, namespace, name)
	if err != nil {
		return nil, fmt.Errorf("find job/%s: %w", name, err)
	}
	if len(streams) == 0 {
		return nil, fmt.Errorf("the log knows no job/%s in namespace %q (-n names another; 'get jobs -A' lists all)", name, namespace)
	}
	return streams, nil
}

// findJob finds the stream of the newest Job of that name, or of the Job with that UID. Older Jobs of the name are told
// as a note.
func (c *cli) findJob(ctx context.Context, src history.Source, namespace, name string) (events.Stream, error) {
	streams, err := findJobs(ctx, src, namespace, name)
	if err != nil {
		return events.Stream{}, err
	}
	c.noteOlder(streams[1:])
	return streams[0], nil
}

func (c *cli) noteOlder(older []events.Stream) {
	if len(older) > 0 {
		fmt.Fprintf(c.err, "note: the name was also that of an earlier Job: %s\n", words.Clean(older[0].String()))
	}
}

const defaultNamespace = "default"

func orDefault(namespace string) string {
	if namespace == "" {
		return defaultNamespace
	}
	return namespace
}
