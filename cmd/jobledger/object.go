package main

import (
	"cmp"
	"regexp"
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

// object is what words of the command line name, as they were typed. What was not said is empty.
type object struct{ kind, namespace, name string }

// namespaceLike is what a namespace may be called.
var namespaceLike = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// parseObject reads all ways to name an object: KIND, NAME, KIND/NAME, NAMESPACE/NAME, KIND/NAMESPACE/NAME, "KIND NAME" and "KIND NAMESPACE/NAME".
// The kind is in small letters. A word before a slash that is a kind is no namespace.
func parseObject(args []string) (o object, err error) {
	first, rest, slash := strings.Cut(args[0], "/")
	if small := strings.ToLower(first); jobKinds[small] || podKinds[small] || cronJobKinds[small] {
		o.kind = small
	}
	switch {
	case len(args) == 2 && slash:
		return o, usage("one object at a time: %q comes after %q", args[1], args[0])
	case len(args) == 2 && o.kind == "":
		return o, usage("%q is no kind of object: write %s/%s, or job/%s -n %s", first, first, args[1], args[1], first)
	case len(args) == 2:
		o.name = args[1]
	case o.kind == "":
		o.name = args[0]
	case slash && rest == "":
		return o, usage("%q has no name: write %s/NAME", args[0], first)
	default:
		o.name = rest
	}
	if space, name, is := strings.Cut(o.name, "/"); is {
		switch {
		case space == "" && name != "":
			return o, usage("%q has no namespace: write %s, or NAMESPACE/%s", o.name, name, name)
		case name == "":
			return o, usage("%q has no name: write %s/NAME", o.name, space)
		case !namespaceLike.MatchString(space) || strings.Contains(name, "/"):
			return o, usage("%q is no Job: write NAMESPACE/NAME, job/NAME, pod/NAME or cronjob/NAME", args[0])
		}
		o.namespace, o.name = space, name
	}
	return o, nil
}

// parseHandle reads what names an object, and its namespace if that is said with it. The handle has no name where only the kind is given.
func parseHandle(args []string) (h handle, namespace string, err error) {
	o, err := parseObject(args)
	switch {
	case err != nil:
		return h, "", err
	case podKinds[o.kind] && o.name == "":
		return h, "", usage("%q has no name: write pod/NAME for the Job of that pod", args[0])
	}
	return handle{name: o.name, pod: podKinds[o.kind], cron: cronJobKinds[o.kind], any: o.kind == ""}, o.namespace, nil
}

// wantsJob refuses a CronJob where one Job is wanted.
func wantsJob(args []string, h handle) error {
	if h.cron {
		return usage("%q is a CronJob, and one Job is wanted: 'get cronjob/NAME' names its Jobs", args[0])
	}
	return nil
}

// wantsKind refuses a name alone where no log says what it is.
func wantsKind(h handle, namespace string) error {
	if !h.any {
		return nil
	}
	if namespace != "" {
		namespace = " -n " + namespace
	}
	return usage("%q may be a Job or a CronJob: write job/%s%s or cronjob/%s%s", h.name, h.name, namespace, h.name, namespace)
}

// oneNamespace is the namespace that stands before a name and in -n. Two of them are refused.
func oneNamespace(args []string, before, flag string) (string, error) {
	if before != "" && flag != "" && flag != before {
		return "", usage("%q is in namespace %s, and -n says %s: give one of them", args[len(args)-1], before, flag)
	}
	return cmp.Or(before, flag), nil
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

// parseCronJob reads "cronjob/NAME" or "cronjob NAME". The namespace goes into -n alone.
func parseCronJob(args []string) (name string, err error) {
	o, err := parseObject(args)
	switch {
	case err == nil && o.kind == "" && o.namespace != "":
		return "", usage("%q is no CronJob: write cronjob/%s -n %s", args[0], o.name, o.namespace)
	case err == nil && !cronJobKinds[o.kind]:
		return "", usage("%q is no CronJob: write cronjob/NAME", args[0])
	case err == nil && o.name == "":
		return "", usage("%q has no name: write cronjob/NAME", args[0])
	case err == nil && o.namespace != "":
		return "", usage("%q is no name, the namespace goes into -n: write cronjob/%s -n %s", args[len(args)-1], o.name, o.namespace)
	}
	return o.name, err
}

// wantsCronJob refuses what is no CronJob, or has no name.
func wantsCronJob(args []string, h handle) error {
	switch {
	case !h.any && !h.cron:
		return usage("%q is no CronJob: write NAME or cronjob/NAME", args[0])
	case h.name == "":
		return usage("%q has no name: write cronjob/NAME", args[0])
	}
	return nil
}
