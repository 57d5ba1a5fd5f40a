package main

import (
	"strconv"
	"strings"
)

// jobKinds and podKinds are the ways in which kubectl's users write the kinds.
var (
	jobKinds = map[string]bool{
		"job": true, "jobs": true, "job.batch": true, "jobs.batch": true, "job.v1.batch": true, "jobs.v1.batch": true,
	}
	podKinds = map[string]bool{"pod": true, "pods": true, "po": true}
)

// handle is what a user calls a Job by: its name, its UID or how that begins, or the name of a pod of it; or a CronJob likewise. The zero
// handle means all Jobs.
type handle struct {
	name string
	pod  bool // it is a pod's name, and nothing else
	cron bool // it is a CronJob; without a name all of them
	any  bool // the user gave a name alone: it is a Job, a CronJob or a pod
}

func (h handle) String() string {
	switch {
	case h.any:
		return strconv.Quote(h.name)
	case h.pod:
		return "pod/" + h.name
	case h.cron:
		return "cronjob/" + h.name
	}
	return "job/" + h.name
}

// parseHandle reads "job/NAME", "job NAME", "pod/NAME" or "cronjob/NAME"; the handle has no name where only the kind is given.
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
	case cronJobKinds[kind]:
		return handle{name: name, cron: true}, nil
	}
	return handle{name: name}, nil
}

// parseAny is parseHandle for those who also take a name alone.
func parseAny(args []string) (h handle, err error) {
	kind := strings.ToLower(args[0])
	if len(args) == 1 && !strings.Contains(kind, "/") && !jobKinds[kind] && !podKinds[kind] && !cronJobKinds[kind] {
		return handle{name: args[0], any: true}, nil
	}
	return parseHandle(args)
}

// parseJobHandle is parseHandle for those who take no CronJobs.
func parseJobHandle(args []string) (h handle, err error) {
	h, err = parseHandle(args)
	if err == nil && h.cron {
		return h, usage("%q is a CronJob, and one Job is wanted: 'get cronjob/NAME' names its Jobs", args[0])
	}
	return h, err
}

// parseObject reads the kind, in small letters, and the name, which is empty where only the kind is given.
func parseObject(args []string) (kind, name string, err error) {
	kind = args[0]
	slash := strings.Contains(kind, "/")
	switch {
	case slash:
		kind, name, _ = strings.Cut(kind, "/")
	case len(args) == 2:
		name = args[1]
	}
	small := strings.ToLower(kind)
	if !jobKinds[small] && !podKinds[small] && !cronJobKinds[small] {
		if len(args) == 1 && kind == args[0] {
			return "", "", usage("%q is no kind of object: write job/%s for the Job of that name, or job/UID, or cronjob/%s", kind, kind, kind)
		}
		return "", "", usage("%q is no Job: write job/NAME, job/UID, pod/NAME or cronjob/NAME", args[0])
	}
	switch {
	case slash && len(args) == 2:
		return "", "", usage("one object at a time: %q comes after %q", args[1], args[0])
	case slash && name == "":
		return "", "", usage("%q has no name: write %s/NAME", args[0], kind)
	case strings.Contains(name, "/"):
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
	kind, _, _ := strings.Cut(args[0], "/")
	if !cronJobKinds[strings.ToLower(kind)] {
		return "", usage("%q is no CronJob: write cronjob/NAME", args[0])
	}
	if _, name, err = parseObject(args); err == nil && name == "" {
		err = usage("%q has no name: write cronjob/NAME", args[0])
	}
	return name, err
}

// parseAnyCronJob is parseCronJob for those who also take a name alone.
func parseAnyCronJob(args []string) (h handle, err error) {
	if h, _ = parseAny(args); h.any {
		return h, nil
	}
	if kind, _, _ := strings.Cut(args[0], "/"); !cronJobKinds[strings.ToLower(kind)] {
		return h, usage("%q is no CronJob: write NAME or cronjob/NAME", args[0])
	}
	name, err := parseCronJob(args)
	return handle{name: name, cron: true}, err
}
