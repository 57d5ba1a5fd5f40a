package words

import (
	"fmt"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
)

// Object returns the name of what a record is about: a pod, a Job, a CronJob, a node or the controller.
func (n *Names) Object(r *events.Record) string {
	switch {
	case r.Evidence.Name != "":
		return Clean(r.Evidence.Name)
	case r.Stream == events.Controller:
		return "controller"
	}
	if job := n.Job(r.Stream); job.Name != "" {
		return Clean(job.Name)
	}
	return Clean(r.Stream.String())
}

// Detail describes a record in one line. The line is safe to print on a terminal (Clean).
func (n *Names) Detail(r *events.Record) string {
	text := n.detail(r)
	switch passed := r.Evidence.PassedOver; passed {
	case 0:
	case 1:
		text += " (+1 version passed over)"
	default:
		text += fmt.Sprintf(" (+%d versions passed over)", passed)
	}
	return Clean(text)
}

func (n *Names) detail(r *events.Record) string {
	switch f := r.Facts.(type) {
	case *events.JobSeen:
		return n.jobSeen(r, f)
	case *events.JobGone:
		return gone("the Job's object", f.Missed)
	case *events.PodSeen:
		return podSeen(r, f, n.Zone)
	case *events.PodGone:
		if f.Moved {
			return "it is no longer this stream's: its owner or its labels changed"
		}
		return gone("its object", f.Missed)
	case *events.GroupSeen:
		return groupText(f)
	case *events.JobSpec:
		return specText(f)
	case *events.JobTemplate:
		return templateText(r, f)
	case *events.JobPolicies:
		return policiesText(f)
	case *events.Decision:
		return n.decision(r.Stream, f)
	case *events.CommandEnded:
		return n.commandEnded(r, f)
	case *events.StoredState:
		return "the state so far: the log goes on in a new file"
	case *events.JobResumed:
		return "re-evaluated after a relist or a settings change"
	case *events.TimerFired:
		return "a wait is over"
	case *events.JobRetired:
		return retiredText(r, f)
	case *events.Erased:
		return "its facts were erased"
	case *events.Unknown:
		return fmt.Sprintf("%d bytes of a kind that this program does not know", len(f.Bytes))
	}
	if text, ok := n.cronDetail(r); ok {
		return text
	}
	return controllerDetail(r, n.Zone)
}

// controllerDetail describes a record about the controller, the cluster or the log.
func controllerDetail(r *events.Record, zone Zone) string {
	switch f := r.Facts.(type) {
	case *events.LogCreated:
		return fmt.Sprintf("log %s, epoch %d, format %d", f.LogID, f.Epoch, f.Format)
	case *events.EpochChanged:
		return epochText(f, r.Sequence)
	case *events.Pruned:
		return prunedText(f)
	case *events.FileRestated:
		return fmt.Sprintf("the file that begins with record %d stands alone from here on: %d more streams are stated in it", f.File, f.Streams)
	case *events.TermStarted:
		return fmt.Sprintf("term %d begins: a writer opened the log", f.Term)
	case *events.StreamRefilled:
		return refilledText(f)
	case *events.ControllerStarted:
		return startedText(f)
	case *events.ControllerStopped:
		return "stops in good order"
	case *events.LeadershipChanged:
		return leadershipText(f)
	case *events.ClockStepped:
		return fmt.Sprintf("the clock was set by %s", f.Step)
	case *events.ListingStarted:
		return zone.listingText(r, f)
	case *events.Synced:
		return syncedText(f)
	case *events.RivalFound:
		return rivalText(r, f)
	case *events.LossFound:
		return "records are lost: " + f.Loss.String()
	case *events.RivalGone:
		return "no other controller was at work for a minute: decisions go on"
	case *events.NodeSeen:
		return NodeText(f) + passedOver(r)
	case *events.NodeGone:
		return nodeGoneText(f)
	case *events.NamespaceSeen:
		return zone.namespaceText(f)
	case *events.ClusterWatched:
		return watchedText(f)
	case *events.PassedOver:
		return zone.passedOverText(f, r.Evidence.Namespace)
	}
	return ""
}

func leadershipText(f *events.LeadershipChanged) string {
	if f.Leading {
		return f.Identity + " leads"
	}
	return f.Identity + " no longer leads"
}

func rivalText(r *events.Record, f *events.RivalFound) string {
	if r.Evidence.Sentence == "" { // if the sentence was erased from the record, only the number of acts is left
		return fmt.Sprintf("another controller runs the same Jobs: %d acts of it were seen", len(f.Acts))
	}
	return r.Evidence.Sentence
}

func startedText(f *events.ControllerStarted) string {
	text := fmt.Sprintf("jobledger %s, --manage=%s, rules %d", f.Version, f.Settings.Mode, f.RulesVersion)
	if f.Settings.Namespace != "" {
		text += ", namespace " + f.Settings.Namespace
	}
	if f.Settings.Draining {
		text += ", --drain"
	}
	if f.Settings.ObserveOthers {
		text += " --observe=others"
	}
	if f.Settings.DeleteExpired {
		text += ", --ttl-after-finished"
	}
	if f.Settings.CronJobs {
		text += ", with CronJobs"
	}
	for _, s := range f.Settings.Differences() {
		text += ", --" + s.Flag + "=" + s.Value
	}
	switch {
	case f.KeyBefore != "":
		text += fmt.Sprintf(", specs and templates are hashed with key %s from here on, with %s before", f.Key, f.KeyBefore)
	case f.Key != "":
		text += ", key " + f.Key
	}
	return text
}

func (z Zone) listingText(r *events.Record, f *events.ListingStarted) string {
	text := fmt.Sprintf("%s: %s are listed", f.Reason, resources(f.Resources))
	if f.LastSeen != 0 {
		text += ", watched until " + z.bare(f.LastSeen, "15:04:05.000")
		if gap := r.Time.Sub(f.LastSeen); gap > time.Second {
			text += fmt.Sprintf(" (%s before)", Span(gap))
		}
	}
	if f.Orderly {
		text += ", the run before stopped in good order"
	}
	return text
}

func syncedText(f *events.Synced) string {
	var parts []string
	for i, res := range f.Resources[:min(len(f.Resources), len(f.Versions))] {
		parts = append(parts, fmt.Sprintf("%s as of %d", res, f.Versions[i]))
	}
	return strings.Join(parts, ", ")
}

// epochText describes the beginning of a new epoch: a new life of the log, after the cluster or the log went back. at
// is the record with which it begins.
func epochText(f *events.EpochChanged, at events.Sequence) string {
	text := fmt.Sprintf("epoch %d begins", f.Epoch)
	switch r := f.Rewind; {
	case f.Reason == events.EpochRestored && f.Lost.Witness == events.WitnessLease && f.Lost.Sequence < at:
		text += fmt.Sprintf(": the log goes on without what another controller may have written behind record %d: %s", at-1, f.Lost)
	case f.Reason == events.EpochRestored:
		text += ": the log goes on without records that are lost"
		if f.Lost != (events.Loss{}) {
			text += ": " + f.Lost.String()
		}
	case f.Reason != events.EpochClusterRewound:
	case r.Object != "" && r.Found >= r.Known:
		// The proof is that a deleted object exists again, and not that its version went back.
		text += fmt.Sprintf(": the cluster was restored from a backup: object %s of %s had gone at revision %d and is there again at %d; everything is listed again",
			r.Object, r.Resource, r.Known, r.Found)
	case r.Object != "":
		text += fmt.Sprintf(": the cluster was restored from a backup: object %s of %s went back from revision %d to %d; everything is listed again",
			r.Object, r.Resource, r.Known, r.Found)
	default:
		text += fmt.Sprintf(": the cluster was restored from a backup: %s went back from revision %d to %d; everything is listed again",
			r.Resource, r.Known, r.Found)
	}
	return text
}

func groupText(f *events.GroupSeen) string {
	switch {
	case f.Unavailable:
		return "the server has no Workloads for us: pods are made without a group"
	case f.Workloads == 0 && f.Delegated:
		return "the Job's owner delegates its PodGroup, and has no Workload: pods are made without a group"
	case f.Delegated && !f.WorkloadUsable:
		return "Workload " + f.Workload + " of the Job's owner has no template of the name that the Job has: pods are made without a group"
	case f.Workloads == 0 && f.Workload != "":
		return "Workload " + f.Workload + " is not the Job's own"
	case f.Workloads == 0:
		return "no Workload is for this Job"
	case f.Workloads > 1:
		return fmt.Sprintf("%d Workloads are for this Job: pods are made without a group", f.Workloads)
	case !f.WorkloadUsable:
		return "Workload " + f.Workload + " is not the Job's own: pods are made without a group"
	case f.PodGroups == 0:
		return "Workload " + f.Workload + ", without a PodGroup"
	case !f.PodGroupUsable:
		return "the PodGroup of Workload " + f.Workload + " is not the Job's own: pods are made without a group"
	}
	return "Workload " + f.Workload + ", PodGroup " + f.PodGroup
}

// retiredText describes the record that ends a Job: by its verdict (one line that says why it ended), or if this was
// erased, by the result and the counters.
func retiredText(r *events.Record, f *events.JobRetired) string {
	switch {
	case r.Evidence.Sentence != "":
		return r.Evidence.Sentence
	case f.Result == events.ResultNone:
		// No result: Jobledger only has nothing left to do for the Job, which has not ended.
		return "nothing is left to do"
	}
	return fmt.Sprintf("%s (%s): %d succeeded, %d failed", f.Result, f.Reason, f.Succeeded, f.Failed)
}

func gone(what string, missed bool) string {
	if missed {
		return what + " is gone: a complete list did not show it"
	}
	return what + " was deleted"
}

func resources(rs []events.Resource) string {
	parts := make([]string, len(rs))
	for i, r := range rs {
		parts[i] = r.String()
	}
	return strings.Join(parts, ", ")
}

func Because(reason, message string) string {
	if message == "" {
		return reason
	}
	return reason + ": " + message
}

// Namespace returns the namespace of the object that a record is about; empty for a record about the controller.
func (n *Names) Namespace(r *events.Record) string {
	if r.Evidence.Namespace != "" {
		return r.Evidence.Namespace
	}
	return n.Job(r.Stream).Namespace
}

// DetailWide describes a record like Detail, in one line, but has every command of a decision, and a sentence for each
// reason.
func (n *Names) DetailWide(r *events.Record) string {
	d, ok := r.Facts.(*events.Decision)
	if !ok {
		return n.Detail(r)
	}
	var parts []string
	for _, s := range d.Steps {
		var commands []string
		for _, c := range s.Commands {
			commands = append(commands, n.Phrase(r.Stream, c))
		}
		text := strings.Join(commands, ", ") + " (" + string(s.Reason)
		if s.Sentence != "" {
			text += ": " + s.Sentence
		}
		parts = append(parts, text+")")
	}
	return Clean(strings.Join(parts, "; "))
}
