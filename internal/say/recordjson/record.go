package recordjson

import (
	"reflect"

	"github.com/jobledger/jobledger/events"
)

// Record writes a record as one JSON object on one line, without a line end. Its shape is for programs and changes only
// by growing:
//
//	sequence     number   place in the log, from 1
//	time         string   RFC 3339 with nanoseconds, UTC; of the whole batch
//	stream       string   "job/UID", "cronjob/UID", "namespace/NAME", "controller"
//	kind         string   what it says: "JobAdded", "Decided", …
//	previous     number   the stream's record before this one; absent for its first
//	causes       [number] the records that led to this one, oldest first
//	critical     bool     skipping it could change a decision
//	endOfBatch   bool     the last record of its turn
//	namespace    string   of the object that the record is about, as far as it says
//	name         string   likewise
//	job          string   the name of the Job, where the records before tell (RecordOf); namespace is then always there
//	facts        object   all that decisions read; the fields of the kind. {"erased":true} when they were erased,
//	                      {"unknown":"base64"} when this program does not know the kind
//	evidence     object   what people want to know beside: node, reason, message, containers, template, owner, passedOver,
//	                      running, conditions, waits, finalizers, origin, edit, admitted
//
// Absent means unset, false, 0 or empty; only signed numbers (counters, exit codes, indexes) appear also when they are
// 0. Characters that a terminal could act on are escaped.
func Record(r *events.Record) []byte { return RecordOf(r, r.Evidence.Namespace, "") }

// RecordOf is Record with the namespace and the Job that the record is about, whichever record said them first.
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
		if f.Result != events.ResultNone { // else it has not ended, and its counters are not 0 but unknown
			return value(reflect.ValueOf(f))
		}
	default:
		return value(reflect.ValueOf(f))
	}
	return o.end()
}

// Spec writes a Job's spec as JSON; what the API defines as an object is one here too, not a text.
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

// policies adds what the API defines as objects.
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

// Facts writes the facts of a record as JSON, as they stand in Record; "null" for none.
func Facts(f events.Facts) []byte {
	if v := reflect.ValueOf(f); f == nil || (v.Kind() == reflect.Pointer && v.IsNil()) {
		return []byte("null")
	}
	return facts(f)
}

// Status writes a Job's status as JSON.
func Status(s *events.JobStatus) []byte { return value(reflect.ValueOf(s)) }

// Exits writes as JSON how the containers of a pod ended.
func Exits(exits []events.ContainerExit) []byte { return value(reflect.ValueOf(exits)) }
