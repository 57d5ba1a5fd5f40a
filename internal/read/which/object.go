package which

import (
	"regexp"
	"strconv"
	"strings"
)

// Kind is the kind of object that a user asks for.
type Kind int

const (
	Job     Kind = iota
	CronJob      // a CronJob; without a name, all CronJobs
	Pod          // the Job that has the named pod
	Any          // the user gave only a name: of a Job, a CronJob or a pod
)

// kinds maps the words that kubectl accepts for a kind, in lower case, to the kind.
var kinds = map[string]Kind{
	"job": Job, "jobs": Job, "job.batch": Job, "jobs.batch": Job, "job.v1.batch": Job, "jobs.v1.batch": Job,
	"pod": Pod, "pods": Pod, "po": Pod,
	"cronjob": CronJob, "cronjobs": CronJob, "cj": CronJob, "cronjob.batch": CronJob, "cronjobs.batch": CronJob,
	"cronjob.v1.batch": CronJob, "cronjobs.v1.batch": CronJob,
}

// KindOf returns the kind that a word means, in upper or lower case.
func KindOf(word string) (Kind, bool) {
	kind, is := kinds[strings.ToLower(word)]
	return kind, is
}

// Object is an object as the user gave it. Name is a name, a UID, the beginning of a UID, or a pod's name. The zero
// Object means all Jobs.
type Object struct {
	Name string
	Kind Kind
}

func (h Object) String() string {
	switch h.Kind {
	case Any:
		return strconv.Quote(h.Name)
	case Pod:
		return "pod/" + h.Name
	case CronJob:
		return "cronjob/" + h.Name
	}
	return "job/" + h.Name
}

// namespaceLike matches valid names of namespaces.
var namespaceLike = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// Parse parses an object on a command line: KIND, NAME, KIND/NAME, NAMESPACE/NAME, KIND/NAMESPACE/NAME, "KIND NAME" or
// "KIND NAMESPACE/NAME". A word before a slash is a kind if it can be one, otherwise a namespace. KIND alone is allowed
// except for a pod. namespace is empty if the user gave none before the name.
func Parse(args []string) (h Object, namespace string, err error) {
	first, rest, slash := strings.Cut(args[0], "/")
	kind, is := KindOf(first)
	h.Kind = kind
	switch {
	case len(args) == 2 && slash:
		return h, "", wrong("one object at a time: %q comes after %q", args[1], args[0])
	case len(args) == 2 && !is:
		return h, "", wrong("%q is no kind of object: write %s/%s, or job/%s -n %s", first, first, args[1], args[1], first)
	case len(args) == 2:
		h.Name = args[1]
	case !is:
		h = Object{args[0], Any}
	case slash && rest == "":
		return h, "", wrong("%q has no name: write %s/NAME", args[0], first)
	default:
		h.Name = rest
	}
	if space, name, is := strings.Cut(h.Name, "/"); is {
		switch {
		case space == "" && name != "":
			return h, "", wrong("%q has no namespace: write %s, or NAMESPACE/%s", h.Name, name, name)
		case name == "":
			return h, "", wrong("%q has no name: write %s/NAME", h.Name, space)
		case !namespaceLike.MatchString(space) || strings.Contains(name, "/"):
			return h, "", wrong("%q is no Job: write NAMESPACE/NAME, job/NAME, pod/NAME or cronjob/NAME", args[0])
		}
		namespace, h.Name = space, name
	}
	if h.Kind == Pod && h.Name == "" {
		return h, "", wrong("%q has no name: write pod/NAME for the Job of that pod", args[0])
	}
	return h, namespace, nil
}

// WantJob returns an error if h is a CronJob. Commands call it that answer about one Job.
func WantJob(args []string, h Object) error {
	if h.Kind == CronJob {
		return wrong("%q is a CronJob, and one Job is wanted: 'get cronjob/NAME' names its Jobs", args[0])
	}
	return nil
}

// WantCronJob returns an error if h is another kind than a CronJob, or has no name.
func WantCronJob(args []string, h Object) error {
	switch {
	case h.Kind != Any && h.Kind != CronJob:
		return wrong("%q is no CronJob: write NAME or cronjob/NAME", args[0])
	case h.Name == "":
		return wrong("%q has no name: write cronjob/NAME", args[0])
	}
	return nil
}

// WantCronJobNamed returns an error if h is not a CronJob with a name, like WantCronJob. It also wants the kind: a name
// alone is an error.
func WantCronJobNamed(args []string, h Object, namespace string) error {
	switch {
	case h.Kind == Any && namespace != "":
		return wrong("%q is no CronJob: write cronjob/%s -n %s", args[0], h.Name, namespace)
	case h.Kind != CronJob:
		return wrong("%q is no CronJob: write cronjob/NAME", args[0])
	}
	return WantCronJob(args, h)
}

// WantKind returns an error if h has no kind. Commands call it that do not read a log, and so cannot find the kind.
func WantKind(h Object, namespace string) error {
	if h.Kind != Any {
		return nil
	}
	if namespace != "" {
		namespace = " -n " + namespace
	}
	return wrong("%q may be a Job or a CronJob: write job/%s%s or cronjob/%s%s", h.Name, h.Name, namespace, h.Name, namespace)
}

// OneNamespace returns the namespace that the user gave, before the name (before) or with -n (flag). It returns an
// error if the two differ.
func OneNamespace(args []string, before, flag string) (string, error) {
	switch {
	case flag == "" || flag == before:
		return before, nil
	case before == "":
		return flag, nil
	}
	return "", wrong("%q is in namespace %s, and -n says %s: give one of them", args[len(args)-1], before, flag)
}
