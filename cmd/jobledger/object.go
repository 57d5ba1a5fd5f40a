package main

import (
	"strings"
)

// jobKinds and podKinds are the ways in which kubectl's users write the kinds.
var (
	jobKinds = map[string]bool{
		"job": true, "jobs": true, "job.batch": true, "jobs.batch": true, "job.v1.batch": true, "jobs.v1.batch": true,
	}
	podKinds = map[string]bool{"pod": true, "pods": true, "po": true}
)

// handle is what a user calls a Job by: its name, its UID or how that begins, or the name of a pod of it. The zero handle means all Jobs.
type handle struct {
	name string
	pod  bool // it is a pod's name, and nothing else
}

func (h handle) String() string {
	if h.pod {
		return "pod/" + h.name
	}
	return "job/" + h.name
}

// parseHandle reads "job/NAME", "job NAME" or "pod/NAME"; the handle is zero for all Jobs, where only the kind is given.
func parseHandle(args []string) (h handle, err error) {
	kind, name, err := parseObject(args)
	if err != nil {
		return h, err
	}
	switch {
	case podKinds[kind] && name == "":
		return h, usage("%q has no name: write pod/NAME for the Job of that pod", args[0])
	case podKinds[kind]:
		return handle{name: name, pod: true}, nil
	}
	return handle{name: name}, nil
}

// parseJob is parseHandle for those who take no pods.
func parseJob(args []string) (name string, err error) {
	kind, name, err := parseObject(args)
	if err == nil && podKinds[kind] {
		err = usage("%q is no Job: write job/NAME", args[0])
	}
	return name, err
}

// parseObject reads the kind, in small letters, and the name, which is empty where only the kind is given.
func parseObject(args []string) (kind, name string, err error) {
	kind = args[0]
	switch {
	case len(args) == 2:
		name = args[1]
	case strings.Contains(kind, "/"):
		kind, name, _ = strings.Cut(kind, "/")
		if name == "" {
			return "", "", usage("%q has no name: write job/NAME", args[0])
		}
	}
	small := strings.ToLower(kind)
	if !jobKinds[small] && !podKinds[small] {
		if len(args) == 1 && kind == args[0] {
			return "", "", usage("%q is no kind of object: write job/%s for the Job of that name, or job/UID", kind, kind)
		}
		return "", "", usage("%q is no Job: write job/NAME, job/UID or pod/NAME", args[0])
	}
	if strings.Contains(name, "/") {
		return "", "", usage("%q is no name: the namespace goes into -n", name)
	}
	return small, name, nil
}

const defaultNamespace = "default"

func orDefault(namespace string) string {
	if namespace == "" {
		return defaultNamespace
	}
	return namespace
}

// cronJobKinds are the ways in which kubectl's users write the kind.
var cronJobKinds = map[string]bool{
	"cronjob": true, "cronjobs": true, "cj": true, "cronjob.batch": true, "cronjobs.batch": true, "cronjob.v1.batch": true, "cronjobs.v1.batch": true,
}

// parseCronJob reads "cronjob/NAME" or "cronjob NAME".
func parseCronJob(args []string) (name string, err error) {
	kind, name, slash := strings.Cut(args[0], "/")
	switch {
	case !cronJobKinds[strings.ToLower(kind)]:
		return "", usage("%q is no CronJob: write cronjob/NAME", args[0])
	case slash && len(args) == 2:
		return "", usage("one CronJob at a time: %q comes after %q", args[1], args[0])
	case len(args) == 2:
		name = args[1]
	}
	switch {
	case name == "":
		return "", usage("%q has no name: write cronjob/NAME", args[0])
	case strings.Contains(name, "/"):
		return "", usage("%q is no name: the namespace goes into -n", name)
	}
	return name, nil
}
