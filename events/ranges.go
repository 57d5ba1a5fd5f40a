package events

import "math"

// span is the allowed range of a number, both ends included, or the required form of a bytes field.
type span struct {
	min, max int64
	form     form
}

// form is the form of a bytes field, or marks an enum.
type form uint8

const (
	formNumber form = iota
	formAny         // any bytes
	formUID         // empty, 16 bytes, or a zero byte and a text: see wire_uid.go
	formHash        // empty, or the 32 bytes of a Hash
	formEnum        // range from the schema: an unknown value could change decisions
)

var (
	count32 = span{max: math.MaxInt32}  // counts of objects, and numbers that Kubernetes keeps in a non-negative int32
	count64 = span{max: math.MaxInt64}  // versions, sizes, seconds
	uint32s = span{max: math.MaxUint32} // any number that a node reports
	exits   = span{min: math.MinInt32, max: math.MaxInt32}
	numbers = span{max: 1 << 62}       // sequences, ordinals, epochs, terms: leaves room to add 1 without overflow
	indexes = span{max: 1 << 31}       // completion indexes plus one; 0 for none
	bits8   = span{max: math.MaxUint8} // enums that a later program may extend
	bits16  = span{max: math.MaxUint16}
	instant = span{min: int64(FirstTime), max: int64(LastTime)}
	seconds = span{min: int64(FirstTime) / 1e9, max: int64(LastTime) / 1e9}
	lasts   = span{max: math.MaxInt64 / 4} // durations of settings and waits: 73 years, so that sums do not overflow
	steps   = span{min: -int64(LastTime - FirstTime), max: int64(LastTime - FirstTime)}
	enum    = span{form: formEnum}
	uid     = span{form: formUID}
	hash    = span{form: formHash}
	anyForm = span{form: formAny}
)

// ranges gives the range of each number, bytes and enum field of facts, evidence and stored states. Texts may be any
// UTF-8. Decoding refuses a record with a field out of range, so that later code meets no number that an API server or
// a controller could not write. This table is the only source; ranges_walk.go compiles it into the checks of each
// record.
var ranges = map[string]map[string]span{
	// record.proto
	"Header":        {"sequence": numbers, "time_unix_nano": instant, "previous": numbers, "causes": numbers, "kind": bits16},
	"Stream":        {"kind": bits8, "id": anyForm},
	"Evidence":      {"template": anyForm, "state": anyForm, "passed_over": count64, "running": seconds},
	"Origin":        {"uid": uid},
	"Edit":          {"time": seconds},
	"ContainerEnd":  {"exit_code": exits, "kind": bits8, "started": seconds, "finished": seconds, "restarts": uint32s},
	"ContainerWait": {"kind": bits8},
	"ConditionText": {"since": seconds},

	// controller.proto
	"LogCreated":   {"epoch": numbers, "format": count32},
	"EpochChanged": {"epoch": numbers, "reason": enum},
	"Loss":         {"witness": enum, "epoch": numbers, "sequence": numbers, "hash": hash, "job": uid, "ordinal": numbers, "pod": uid},
	"Rewind":       {"resource": enum, "known": count64, "found": count64, "object": uid},
	"Pruned": {
		"first": numbers, "from": numbers, "from_time": instant, "through_time": instant, "chain_before": hash, "chain_after": hash,
		"reason": bits8,
	},
	"PrunedFile":        {"first": numbers, "bytes": count64, "hash": hash},
	"Missed":            {"from": numbers, "through": numbers},
	"FileRestated":      {"file": numbers, "streams": count64, "bytes": count64, "rival_quiet": instant},
	"TermStarted":       {"term": numbers, "previous": hash},
	"StreamRefilled":    {"from": numbers, "through": numbers, "place": numbers},
	"ControllerStarted": {"rules_version": count32, "fold_version": count32},
	"ReaderVersion":     {"format": count32, "rules": count32, "fold": count32},
	"Settings": {
		"mode": enum, "pod_failure_backoff": lasts, "max_pod_failure_backoff": lasts, "api_backoff": lasts, "max_api_backoff": lasts,
		"progress_delay": lasts, "request_timeout": lasts,
		"deleted_pod_wait": lasts, "due_pace": lasts, "list_pace": lasts, "held_at_end": count32, "max_uncounted": count32, "max_pods_per_decision": count32, "slow_start": count32,
		"namespace_budget": numbers, "gang_rule": {max: int64(GangsAsked)},
	},
	"ClockStepped":   {"step": steps},
	"ListingStarted": {"reason": enum, "resources": enum, "last_seen": instant, "last_versions": count64},
	"Synced":         {"resources": enum, "versions": count64},
	"RivalAct":       {"job": uid, "pod": uid, "at": instant},
	"NodeSeen":       {"uid": uid, "ready": bits8, "since": instant},
	"NodeGone":       {"uid": uid},
	"NamespaceSeen":  {"uid": uid, "deleted": instant},
	"ClusterWatched": {"nodes": bits8, "namespaces": bits8},
	"PassedOver":     {"since": instant, "versions": count64},
	"ObjectsWent":    {"resource": bits8, "objects": count64},

	// observation.proto and status.proto
	"JobSeen": {
		"version": count64, "generation": count64, "created": instant, "deleted": instant, "spec_at": numbers, "builtin_wrote": instant,
		"parent": {max: int64(ParentDelegates)},
	},
	"CommandName": {"decided": numbers, "place": count32},
	"JobGone":     {"version": count64},
	"JobSpec": {
		"parallelism": count32, "completions": count32, "backoff_limit": count32, "active_deadline_seconds": count64,
		"ttl_seconds_after_finished": count32, "backoff_limit_per_index": count32, "max_failed_indexes": count32, "min_count": count32,
	},
	"JobTemplate": {"size": count64},
	"PodSeen": {
		"uid": uid, "version": count64, "phase": enum, "sandbox": enum, "created": instant, "deleted": instant, "owner": uid, "index_plus_one": indexes,
		"ordinal": numbers, "ready_since": instant, "finished": instant, "restarts": uint32s, "max_restarts": uint32s,
		"max_sidecar_restarts": uint32s, "index_failures": count32, "index_ignored_failures": count32, "candidates": uid, "maker": uid,
		"deletion_grace_period_seconds": count64,
	},
	"ContainerExit": {"code": exits},
	"PodGone":       {"uid": uid, "version": count64},
	"GroupSeen":     {"workloads": count32, "pod_groups": count32, "min_count": count32},
	"JobRetired":    {"result": enum, "succeeded": count32, "failed": count32, "started": instant, "finished": instant},
	"CronJobSeen": {
		"version": count64, "generation": count64, "created": instant, "deleted": instant, "deadline": count64, "keep_succeeded": count32,
		"keep_failed": count32, "last_schedule": instant, "last_success": instant,
	},
	"RunName":     {"uid": uid, "version": count64},
	"RunTrigger":  {"asked": instant},
	"CronJobGone": {"version": count64},
	"ZoneRules":   {"tzif": anyForm},
	"RunSeen": {
		"job": uid, "version": count64, "created": instant, "deleted": instant, "started": instant, "completed": instant, "result": enum,
		"due": instant,
	},
	"RunGone": {"job": uid, "version": count64},
	"JobStatus": {
		"active": count32, "ready_plus_one": count32, "terminating_plus_one": count32, "succeeded": count32, "failed": count32,
		"uncounted_succeeded": uid, "uncounted_failed": uid, "start_time": instant, "completion_time": instant,
	},
	"JobCondition": {"since": instant, "probed": instant},

	// decision.proto
	"Decision": {"rules_version": count32},
	"CronStep": {"left": uid},
	"Tick": {
		"first": instant, "last": instant, "fate": enum, "into": instant, "late": steps, "job": uid, "seen": steps, "unwatched_from": instant,
		"unwatched_until": instant,
	},
	"TickLedger":    {"through": instant, "open": instant, "hold": enum},
	"CreatePod":     {"ordinal": numbers, "index_plus_one": indexes, "index_failures": count32, "index_ignored_failures": count32},
	"DeletePod":     {"pod": uid},
	"DropFinalizer": {"pod": uid, "version": count64},
	"WriteStatus":   {"base": count64},
	"StatusChange": {
		"active": count32, "ready": count32, "terminating": count32, "succeeded": count32, "failed": count32, "add_succeeded": uid,
		"add_failed": uid, "counted": uid, "trim_to": count32, "start_time": instant, "completion_time": instant,
	},
	"AdoptPod":        {"pod": uid, "version": count64},
	"ReleasePod":      {"pod": uid, "version": count64},
	"ReadPod":         {"ordinal": numbers, "index_plus_one": indexes},
	"CreateJob":       {"due": instant},
	"DeleteRun":       {"job": uid},
	"WriteCronStatus": {"base": count64, "last_schedule": instant, "last_success": instant},
	"ReadRun":         {"job": uid},
	"DeleteJob":       {"job": uid, "version": count64, "expired": instant},
	"CreateWorkload":  {"min_count": count32},
	"ResizeGroup":     {"min_count": count32},
	"CommandEnded": {
		"ending": enum, "uid": uid, "version": count64, "class": enum, "retry_after": lasts, "written": seconds, "type": {max: int64(MaxCommandKind)},
		"ordinal": numbers, "pod": uid, "run": uid, "due": instant,
	},

	// state.proto
	"JobState": {
		"first": numbers, "head": numbers, "now": instant, "version": count64, "generation": count64, "created": instant, "deleted": instant,
		"spec_at": numbers, "ordinal": numbers, "window": count32, "start": instant, "start_asked": instant, "lagging": instant,
		"arrival": numbers, "ticks": numbers, "end_in_doubt": instant, "late_pod": instant, "confirmed": instant, "our_first_write": instant,
		"builtin_wrote": instant, "part": count32, "parent": {max: int64(ParentDelegates)},
	},
	"CronJobState": {
		"first": numbers, "head": numbers, "now": instant, "last_schedule": instant, "last_success": instant, "watched": instant,
		"edited": instant, "begun": instant, "taken": instant, "scheduled": instant, "ended": instant, "unseen": instant, "pending": instant, "since": instant,
		"freed": instant,
		"went":  uid,
	},
	"CronTold":      {"due_at": numbers, "decided": numbers, "create_failed": numbers, "change_failed": numbers, "write_failed": numbers},
	"Told":          {"record": numbers, "at": instant},
	"PastSchedule":  {"until": instant},
	"RunState":      {"seen": instant, "ended": instant, "asked": enum},
	"CronPass":      {"kept": uid, "found": uid, "missing": uid, "since": instant},
	"CronStart":     {"stage": {max: 9}, "at": instant},
	"ClaimRetry":    {"pod": uid},
	"GroupState":    {"stage": {max: 5}, "size": count32},
	"StubState":     {"version": count64, "finished": instant, "ttl_plus_one": {min: math.MinInt32, max: math.MaxInt32}, "head": numbers},
	"FollowUpState": {"now": instant},
	"PodState": {
		"arrived": numbers, "stage": {max: 8}, "entered": numbers, "dropped_in": count64, "ended": instant, "drop_doubt": instant, "stopping_since": instant,
		"late_create": instant, "stale": count64,
	},
	"CreateState": {"sent": instant},
	"Flight":      {"since": instant},
	"Backoff":     {"failures": instant, "at": instant, "before": instant, "failed": instant, "success": instant},
	"Retry":       {"class": enum, "count": uint32s, "until": instant, "since": instant, "noted": instant},
	"Tries":       {"suspended": steps, "suspended_since": instant},
	"TryEnd":      {"kind": enum, "more_exits": uint32s, "rule": uint32s, "count": uint32s, "index_plus_one": indexes},
	"TryExit":     {"kind": bits8, "code": exits},
	"WorldState": {
		"epoch": numbers, "now": instant, "rules": count32, "previous": numbers, "pending": enum, "filed": numbers, "rival_quiet": instant,
		"fold": count32, "restated": numbers, "term": numbers, "blind_since": instant, "narrow": instant,
	},
	"NewestEntry":   {"key": bits8, "value": count64},
	"WatchGap":      {"from": instant, "until": instant},
	"ZoneState":     {"at": numbers},
	"ShareState":    {"bytes": count64, "at": instant},
	"SpecState":     {"at": numbers},
	"TemplateState": {"at": numbers},
	"PoliciesState": {"at": numbers},
}
