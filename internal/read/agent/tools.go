package agent

import "context"

// tool is one tool that a model can call: a question of package ask, with its name, description and arguments.
type tool struct {
	name, about string
	takes       []parameter
	more        string // tells the model how to get what was cut
	// answer asks the question, writes the Markdown, and returns the answer as a value for JSON; nil if there is none.
	answer func(context.Context, *asking) (any, error)
}

// parameter is one argument of a tool.
type parameter struct {
	name, about string
	kind        string // JSON type: "string", "integer" or "boolean"; empty for "string"
	required    bool
}

// Arguments that several tools have.
var (
	namespace = parameter{name: "namespace", about: "only in this namespace"}
	where     = parameter{name: "namespace", about: "where it is; else it is looked for"}
	at        = parameter{name: "at", about: "as it was then: a time, or the number of a record"}
	since     = parameter{name: "since", about: "from this time on: 2h (ago), or 2026-01-02T15:04Z"}
	cronJob   = parameter{name: "cronjob", about: "NAME, NAMESPACE/NAME, or a UID", required: true}
)

// tools has the seven tools. Their names never change, since clients know them.
var tools = []tool{
	{
		name:  "failures",
		about: "What is stuck or failed, and why: one line a cause. Begin here.",
		takes: []parameter{
			namespace, since, {name: "until", about: "as of this time"},
			{name: "near-misses", about: "also Jobs that succeeded after failures", kind: "boolean"},
		},
		more:   "Ask with namespace, or a later since.",
		answer: failures,
	},
	{
		name:   "find",
		about:  "Objects by a piece of a name or UID: Jobs, CronJobs, pods; a record by its number.",
		takes:  []parameter{{name: "text", about: "the piece", required: true}, namespace},
		more:   "Give a longer piece.",
		answer: found,
	},
	{
		name: "explain",
		about: "Why a Job ended as it did, what it waits for, or how a CronJob or a pod is: " +
			"verdict, cause, what changed, what is ruled out, each with its records.",
		takes: []parameter{
			{name: "object", about: "job/NAME, job/UID, cronjob/NAME, pod/NAME, or NAMESPACE/NAME", required: true}, where, at,
		},
		more:   "attempts and records have details.",
		answer: explained,
	},
	{
		name:  "attempts",
		about: "The tries of a Job, a pod each: how it ended, and whether it counted.",
		takes: []parameter{
			{name: "object", about: "job/NAME, job/UID or pod/NAME", required: true}, where, at,
			{name: "failed", about: "only tries that failed", kind: "boolean"},
			{name: "continue", about: "leave out so many: those shown before", kind: "integer"},
		},
		more:   "Ask with failed, or with continue.",
		answer: attempts,
	},
	{
		name:  "why_not",
		about: "What became of one instant of a CronJob: was it due, did a Job start, and if not, what held it back.",
		takes: []parameter{cronJob, {name: "time", about: "2026-01-02T03:00Z, 03:00, or 5m (ago)", required: true}, where},
		more:  "ticks has the due times around it.", answer: whyNot,
	},
	{
		name:  "ticks",
		about: "Each due time of a CronJob and its fate: started with which Job, merged, too late, held back.",
		takes: []parameter{
			cronJob, where, at, since, {name: "missed", about: "only due times without a Job", kind: "boolean"},
		},
		more:   "Ask with missed, or with a since.",
		answer: ticks,
	},
	{
		name: "records",
		about: "Records of the log. With number: one record whole, what led to it, and what it led to. " +
			"Else a list, of one object or of all.",
		takes: []parameter{
			{name: "number", about: "of one record", kind: "integer"},
			{name: "object", about: "only those of job/NAME, cronjob/NAME or pod/NAME"}, namespace,
			{name: "from", about: "from this number on; without it the newest", kind: "integer"},
			{name: "kind", about: "only of this kind, such as PodChanged or Decided"},
		},
		more:   "Ask with from.",
		answer: records,
	},
}

// schema returns the JSON Schema of the tool's arguments.
func (t *tool) schema() map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, p := range t.takes {
		kind := p.kind
		if kind == "" {
			kind = "string"
		}
		properties[p.name] = map[string]any{"type": kind, "description": p.about}
		if p.required {
			required = append(required, p.name)
		}
	}
	out := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}
