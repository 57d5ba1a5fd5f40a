package recordjson

import (
	"reflect"

	"github.com/jobledger/jobledger/events"
)

// Record returns a record as one JSON object on one line, without a newline. The shape is for programs and changes only
// by adding fields:
//
//	sequence     number   position in the log, from 1
//	time         string   RFC 3339 with nanoseconds, UTC; of the whole batch
//	stream       string   "job/UID", "cronjob/UID", "namespace/NAME", "controller"
//	kind         string   what the record says: "JobAdded", "Decided", …
//	previous     number   the record before it in its stream; absent for the first
//	causes       [number] the records that led to this one, oldest first
//	critical     bool     skipping the record could change a decision
//	endOfBatch   bool     the last record of its batch
//	namespace    string   namespace of the object that the record is about, if the record has it
//	name         string   name of that object, if the record has it
//	job          string   name of the Job, if earlier records have it (RecordOf); namespace is then always set
//	facts        object   everything that decisions read; the fields of the kind. {"erased":true} if they were erased,
//	                      {"unknown":"base64"} if this program does not know the kind
//	evidence     object   further facts for people: node, reason, message, sentence, containers, template, state,
//	                      owner, passedOver, running, conditions, waits, finalizers, gates, stillRun, origin, edit,
//	                      admitted
//
// Unset, false, 0 and empty values are absent, except signed numbers (counters, exit codes, indexes), which are present
// even if they are 0. Characters that could control a terminal are escaped.
func Record(r *events.Record) []byte { return RecordOf(r, r.Evidence.Namespace, "") }

// RecordOf returns a record as JSON, as Record documents it. It adds the namespace and the name of the Job, which the
// caller knows from earlier records.
func RecordOf(r *events.Record, namespace, job string) []byte {
	var o object
	o.number("sequence", uint64(r.Sequence))
	o.text("time", Stamp(r.Time))
	o.text("stream", r.Stream.String())
	o.text("kind", r.Kind.String())
	o.number("previous", uint64(r.Previous))
	o.raw("causes", value(reflect.ValueOf(r.Causes)))
	o.yes("critical", r.Critical)
	o.yes("endOfBatch", r.Last)
	o.text("namespace", namespace)
	o.text("name", r.Evidence.Name)
	o.text("job", job)
	o.raw("facts", facts(r.Facts))
	if e := evidence(&r.Evidence); string(e) != "{}" {
		o.raw("evidence", e)
	}
	return o.end()
}

func facts(f events.Facts) []byte {
	var o object
	switch f := f.(type) {
	case nil:
		return nil
	case *events.Erased:
		o.yes("erased", true)
	case *events.Unknown:
		o.raw("unknown", value(reflect.ValueOf(f.Bytes)))
	case *events.JobSpec:
		return Spec(f)
	case *events.JobPolicies:
		return policies(f)
	case *events.JobRetired:
		// If there is no result, the Job has not ended, and its counters are unknown, not 0. So they are left out.
		if f.Result != events.ResultNone {
			return value(reflect.ValueOf(f))
		}
	default:
		return value(reflect.ValueOf(f))
	}
	return o.end()
}

// Spec returns the spec of a Job as JSON. Selector and policies, which a record has as texts, are JSON objects.
func Spec(s *events.JobSpec) []byte {
	if s == nil {
		return nil
	}
	plain := *s
	plain.Selector, plain.PodFailurePolicy, plain.SuccessPolicy = "", "", ""
	b := value(reflect.ValueOf(&plain))
	o := object{b: b[:len(b)-1]}
	o.policies(s.Selector, s.PodFailurePolicy, s.SuccessPolicy)
	return o.end()
}

func policies(p *events.JobPolicies) []byte {
	var o object
	o.text("hash", p.Hash)
	o.policies(p.Selector, p.PodFailurePolicy, p.SuccessPolicy)
	return o.end()
}

// policies adds the selector and the two policies to the object. They are JSON in the form of texts, and are written
// as JSON objects, as in the API.
func (o *object) policies(selector, podFailurePolicy, successPolicy string) {
	o.raw("selector", embedded([]byte(selector)))
	o.raw("podFailurePolicy", embedded([]byte(podFailurePolicy)))
	o.raw("successPolicy", embedded([]byte(successPolicy)))
}

func evidence(e *events.Evidence) []byte {
	var o object
	o.text("node", e.Node)
	o.text("reason", e.Reason)
	o.text("message", e.Message)
	o.text("sentence", e.Sentence)
	o.raw("containers", value(reflect.ValueOf(e.Containers)))
	o.raw("template", embedded(e.Template))
	o.raw("state", value(reflect.ValueOf(e.State)))
	o.text("owner", e.Owner)
	o.number("passedOver", e.PassedOver)
	o.text("running", Stamp(e.Running))
	o.raw("conditions", value(reflect.ValueOf(e.Conditions)))
	o.raw("waits", value(reflect.ValueOf(e.Waits)))
	o.raw("finalizers", value(reflect.ValueOf(e.Finalizers)))
	o.raw("gates", value(reflect.ValueOf(e.Gates)))
	o.raw("stillRun", value(reflect.ValueOf(e.StillRun)))
	o.raw("origin", value(reflect.ValueOf(e.Origin)))
	o.raw("edit", value(reflect.ValueOf(e.Edit)))
	o.raw("admitted", value(reflect.ValueOf(e.Admitted)))
	return o.end()
}

// Facts returns as JSON the part of a record that decisions read (its facts), as Record writes it; "null" for nil.
func Facts(f events.Facts) []byte {
	if v := reflect.ValueOf(f); f == nil || (v.Kind() == reflect.Pointer && v.IsNil()) {
		return []byte("null")
	}
	return facts(f)
}

// Status returns the status of a Job as JSON.
func Status(s *events.JobStatus) []byte { return value(reflect.ValueOf(s)) }

// Exits returns as JSON how the containers of a pod ended.
func Exits(exits []events.ContainerExit) []byte { return value(reflect.ValueOf(exits)) }
