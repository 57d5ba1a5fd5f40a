package loop_test

import (
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/notation"
	"github.com/jobledger/jobledger/internal/subject/status"
)

// job observes a Job. A field that the line does not give keeps its value, and has the API's default in a new Job.
func (m *machine) job(name string, args map[string]string) {
	m.version++
	o := m.jobs[name]
	if o == nil || o.Facts == nil || m.over[name] {
		m.over[name] = false
		m.lives[name]++
		uid := types.UID("uid-" + name + strings.Repeat("'", m.lives[name]-1))
		spec := notation.NewSpec()
		o = &events.Observation{
			Job:      events.JobRef{Namespace: "ns", Name: name, UID: uid},
			Facts:    &events.JobSeen{Created: m.now.Second(), Managed: true, Status: &events.JobStatus{Ready: events.Unset, Terminating: events.Unset}},
			Evidence: events.Evidence{Namespace: "ns", Name: name},
			Spec:     &spec,
			Template: []byte("{}"),
		}
	}
	seen, spec := *o.Facts.(*events.JobSeen), *o.Spec
	seen.Version, seen.Status = m.version, &events.JobStatus{Ready: events.Unset, Terminating: events.Unset}
	seen.Generation++ // even if the spec stays the same
	if j := m.loop.World().Job(events.JobStream(o.Job.UID)); j != nil && j.Known() {
		seen.Status = j.Base.Record()
		if _, ok := args["written"]; ok { // as the write in flight makes it
			after := j.Base.With(&j.Write().Command.(*events.WriteStatus).Change)
			seen.Status = after.Record()
		}
		if _, ok := args["same"]; ok { // in the version that is known
			seen.Version = j.Version
		}
		delete(args, "written")
		delete(args, "same")
	}
	if r := m.loop.World().Retired(events.JobStream(o.Job.UID)); r != nil { // it stays finished
		seen.Status.Conditions = []events.JobCondition{{Type: status.Complete, Status: "True", Since: r.Finished}}
	}
	of := args["of"] // its CronJob, or none
	delete(args, "of")
	for key, value := range args {
		m.setJob(&seen, &spec, key, value)
	}
	spec.Hash = ""
	if m.key != "" {
		_, template, keyed := strings.Cut(spec.Template, " hashes ")
		if !keyed {
			template = spec.Template
		}
		spec.Key, spec.Template = m.key, m.key+" hashes "+template
	}
	content, err := json.Marshal(spec)
	m.must(err)
	spec.Hash = string(content)
	seen.Spec = spec.Hash
	next := *o
	next.Facts, next.Spec = &seen, &spec
	if of != "" {
		m.asRun(&next, &seen, of)
	} else if next.Run != nil {
		m.asRun(&next, &seen, m.nameOf(events.CronJobStream(next.CronJob)))
	}
	m.jobs[name] = &next
	m.observe(&next)
}

func (m *machine) setJob(seen *events.JobSeen, spec *events.JobSpec, key, value string) {
	word := key + "=" + value
	switch key {
	case "mode":
		spec.CompletionMode = value
	case "deleting":
		seen.Deleted = m.now.Second()
	case "stale":
		seen.Version = 1
	case "builtin": // the time at which kube-controller-manager wrote the status
		at, err := notation.Time(value, m.now)
		m.must(err)
		seen.BuiltinWrote = at
	case "managedBy":
		seen.ManagedBy, seen.Managed = value, m.settings.Mode.Manages(value)
	case "finished":
		seen.Status.Conditions = append(seen.Status.Conditions, events.JobCondition{Type: value, Status: "True", Since: m.now.Second()})
	default:
		ok, err := notation.Spec(spec, word)
		if !ok {
			ok, err = notation.Status(seen.Status, word, m.now)
		}
		if m.must(err); !ok {
			m.t.Fatalf("no such property of a job: %s", key)
		}
	}
}
