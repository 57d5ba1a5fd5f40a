package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// tries says how the tries of a Job (its pods) ended that did not succeed, the most frequent way first. The text has at
// most columns characters. whole is set if the verdict gives no other cause: if all tries ended in one way, the text
// may then say "all".
func (c *account) tries(columns int, whole bool) string {
	var ends []projector.TryEnd
	for _, e := range c.job.Ends {
		if e.Kind != projector.TryStopped {
			ends = append(ends, e)
		}
	}
	slices.SortStableFunc(ends, func(a, b projector.TryEnd) int {
		return cmp.Or(cmp.Compare(unseen(&a), unseen(&b)), cmp.Compare(b.Count, a.Count))
	})
	told := c.told(func(e *projector.TryEnd) bool {
		return e.Kind != projector.TryRestarted && e.Kind != projector.TryStopped && e.Action != ignored
	})
	ends, told = c.withoutSuccesses(ends, told)
	unknown := c.end.Failed - told - c.told(func(e *projector.TryEnd) bool { return e.Kind == projector.TryStopped })
	// all: the one entry in Ends stands for all tries (pods) of the Job, since no other failed or succeeded.
	all := whole && c.end.Failed == told && len(c.job.Ends) == 1 && c.end.Succeeded == 0
	switch {
	case len(ends) == 0 && unknown > 0:
		return fit(columns, "how "+count(unknown, "try")+" ended is unknown")
	case len(ends) == 0:
		return ""
	}
	rest := ""
	switch {
	case unknown == 1:
		rest = ", 1 more is unknown"
	case unknown > 1:
		rest = fmt.Sprintf(", %d more are unknown", unknown)
	}
	for shown := len(ends); shown > 0; shown-- {
		for _, brief := range []bool{false, true} {
			if text := list(ends, shown, all, brief) + rest; len(text) <= columns {
				return text
			}
		}
	}
	if told == 0 { // if only restarts are known, there is nothing to say in short
		return ""
	}
	return fit(columns, count(told, "try")+" did not succeed")
}

// withoutSuccesses corrects ends and told for a Complete Job: how its tries (pods) ended, and how many did not succeed.
// If the log knows of more such tries than the status counts as failed, the others may have succeeded. So it removes as
// many tries as that, but only tries that nobody saw end.
func (c *account) withoutSuccesses(ends []projector.TryEnd, told int32) ([]projector.TryEnd, int32) {
	more := told - c.end.Failed
	if c.end.Result != events.ResultComplete || more <= 0 {
		return ends, told
	}
	for i := range ends {
		if e := &ends[i]; e.Kind == projector.TryUnseen {
			n := min(int32(e.Count), more)
			e.Count, more, told = e.Count-uint32(n), more-n, told-n
		}
	}
	return slices.DeleteFunc(ends, func(e projector.TryEnd) bool { return e.Count == 0 }), told
}

// unseen is a sort key that puts restarts for an unknown reason last, because they say least: 1 for these, 0 for all
// others.
func unseen(e *projector.TryEnd) int {
	if e.Kind == projector.TryRestarted && !e.Other && e.Exits[0] == (projector.TryExit{}) {
		return 1
	}
	return 0
}

const ignored = "Ignore" // an action of a podFailurePolicy rule: the failure is not counted

// fit returns text if it has at most `columns` characters, otherwise "" (nothing is said).
func fit(columns int, text string) string {
	if len(text) > columns {
		return ""
	}
	return text
}

// list says how tries (pods) ended. ends has an entry for each way. The first shown entries are written out; for the
// others there is only the number of tries. An entry of restarts does not end a try: if only such entries are written
// out, the other tries "did not succeed". all is set if all tries ended in one way; brief asks for shorter words, such
// as "exited 1" without the container's name.
func list(ends []projector.TryEnd, shown int, all, brief bool) string {
	var parts []string
	ended, restarts := false, false // whether the entries written out include ends of tries (ended), and restarts
	for i := range ends[:shown] {
		n := ends[i].Count
		ended, restarts = ended || ends[i].Kind != projector.TryRestarted, restarts || ends[i].Kind == projector.TryRestarted
		if all {
			n = 0
		}
		parts = append(parts, tried(&ends[i], n, brief))
	}
	switch n, how := others(ends[shown:]); {
	case n > 0 && !ended:
		parts = append(parts, count(n, "try")+" did not succeed")
	case n > 0:
		parts = append(parts, fmt.Sprintf("%d %s", n, how))
	case shown < len(ends) && restarts:
		parts = append(parts, "other restarts")
	case shown < len(ends):
		parts = append(parts, "with restarts")
	}
	return strings.Join(parts, ", ")
}

// others returns for the entries that are not written out how many tries (pods) they count, without restarts, and the
// words for it (result how): "in other ways" if the ways differ.
func others(ends []projector.TryEnd) (n int32, how string) {
	for i := range ends {
		e := &ends[i]
		if e.Kind == projector.TryRestarted {
			continue
		}
		word := map[projector.TryKind]string{projector.TryDeleted: "deleted", projector.TryUnseen: "not seen to end"}[e.Kind]
		if n == 0 {
			how = word
		}
		if how != word || word == "" {
			how = "in other ways"
		}
		n += int32(e.Count)
	}
	return n, how
}

// tried says how the tries (pods) of entry e ended, with their number: "3 tries exited 1 (container main)". n is
// e.Count, or 0 if e has all tries of the Job: the text is then "all 3 tries exited 1 (container main)". brief asks for
// shorter words: "3 tries exited 1".
func tried(e *projector.TryEnd, n uint32, brief bool) string {
	if e.Kind == projector.TryRestarted {
		return restarted(e, brief)
	}
	who := count(int32(n), "try")
	switch {
	case n == 0 && e.Count == 1:
		who, n = "its only try", 1
	case n == 0 && e.Count == 2:
		who, n = "both tries", 2
	case n == 0:
		who, n = "all "+count(int32(e.Count), "try"), e.Count
	}
	text := who + " " + ended(&e.Way, int32(n), brief)
	if lost(&e.Way) {
		text = "how " + who + " ended is unknown (" + e.Exits[0].Reason + ")"
	}
	if e.Other {
		text += " in other ways"
	}
	if e.Action == ignored {
		text += " (ignored)"
	}
	return text
}

// ended says how n tries (pods) ended, without their number: "exited 1 (container main)". n decides only between
// singular and plural; brief asks for shorter words: "exited 1".
func ended(w *projector.Way, n int32, brief bool) string {
	switch w.Kind {
	case projector.TryFailed:
		return failed(w, n, brief)
	case projector.TryDisrupted:
		return was(n)[1:] + disruption(w.Reason, brief)
	case projector.TryDeleted:
		if n == 1 {
			return "was deleted before its end"
		}
		return "were deleted before their end"
	case projector.TryUnseen:
		if n == 1 {
			return "is gone, its end was not seen"
		}
		return "are gone, their ends were not seen"
	case projector.TryStopped:
		return was(n)[1:] + "stopped"
	case projector.TryRestarted:
	}
	return "went on"
}

// lost reports whether a try (pod) has exactly one failed container, and its exit code is not known.
func lost(w *projector.Way) bool {
	return w.Kind == projector.TryFailed && lostExit(&w.Exits[0]) && w.Exits[1] == (projector.TryExit{})
}

func lostExit(x *projector.TryExit) bool {
	end := events.ContainerEnd{ExitCode: x.Code, Reason: x.Reason}
	return end.Lost()
}

// failed says how n tries (pods) failed by themselves: by an exit code, by the pod's own deadline (the exit code is
// then only that of a signal), or because the kubelet did not admit the pod (there is then no exit code). n decides
// only between singular and plural; brief asks for shorter words.
func failed(w *projector.Way, n int32, brief bool) string {
	none := projector.TryExit{}
	switch {
	case w.Reason == "DeadlineExceeded" && brief:
		return "ran over " + own(n) + " deadline"
	case w.Reason == "DeadlineExceeded":
		return "ran longer than " + own(n) + " activeDeadlineSeconds"
	}
	if w.Exits[0] == none {
		switch {
		case Rejection(w.Reason) && brief:
			return was(n)[1:] + "rejected (" + foreign(w.Reason, 24) + ")"
		case Rejection(w.Reason):
			return was(n)[1:] + "rejected by the node (" + foreign(w.Reason, 40) + ")"
		case w.Reason != "":
			return "failed (" + foreign(w.Reason, 40) + ")"
		case w.Other || brief:
			return "failed"
		}
		return "failed, no container says why"
	}
	text := "exited " + exit(&w.Exits[0], brief)
	if w.Exits[1] != none {
		text += " and " + exit(&w.Exits[1], brief)
	}
	if w.MoreExits > 0 {
		text += fmt.Sprintf(" and %d more", w.MoreExits)
	}
	if w.Reason != "" {
		text += ", " + foreign(w.Reason, 24)
	}
	return text
}

func own(n int32) string {
	if n == 1 {
		return "its own"
	}
	return "their own"
}

// Rejection reports whether a pod's reason says that the kubelet did not admit the pod, so that no container ran:
// OutOfcpu, NodeAffinity and others. Checks of the scheduler that the kubelet repeats, and its admission handlers, give
// such reasons.
func Rejection(reason string) bool {
	switch reason {
	case "NodeAffinity", "UnexpectedAdmissionError", "TopologyAffinityError", "NodePorts":
		return true
	}
	return strings.HasPrefix(reason, "OutOf")
}

// exit says how a container ended: "137 OOMKilled (container main)". brief leaves out the name.
func exit(x *projector.TryExit, brief bool) string {
	text := code(x)
	if !brief {
		text += " (" + container(x) + ")"
	}
	return text
}

// code returns the exit code of a container. It adds the reason if that says more, such as OOMKilled.
func code(x *projector.TryExit) string {
	text := fmt.Sprint(x.Code)
	if x.Reason != "" && x.Reason != "Error" && x.Reason != "Completed" {
		text += " " + foreign(x.Reason, 24)
	}
	return text
}

func container(x *projector.TryExit) string {
	what := "container "
	switch x.Kind {
	case events.InitContainer:
		what = "init container "
	case events.SidecarContainer:
		what = "sidecar "
	case events.RegularContainer:
	}
	return what + foreign(x.Container, 30)
}

// disruptions says in words, long and short, why a pod was disrupted, for the reasons of the condition DisruptionTarget
// that Kubernetes documents.
var disruptions = map[string][2]string{
	"EvictionByEvictionAPI":  {"evicted through the eviction API", "evicted"},
	"PreemptionByScheduler":  {"preempted by the scheduler", "preempted"},
	"DeletionByTaintManager": {"deleted for a taint of the node", "deleted for a taint"},
	"DeletionByPodGC":        {"deleted by the pod garbage collector", "deleted by PodGC"},
	"TerminationByKubelet":   {"terminated by the kubelet", "terminated"},

	"DeletionByDeviceTaintManager": {"deleted for a taint of a device", "deleted for a device's taint"},
}

// disruption says in words why a pod was disrupted. reason is that of its condition DisruptionTarget; brief asks for
// the short text.
func disruption(reason string, brief bool) string {
	if words, known := disruptions[reason]; known && brief {
		return words[1]
	} else if known {
		return words[0]
	}
	if reason == "" || brief {
		return "disrupted"
	}
	return "disrupted (" + foreign(reason, 32) + ")"
}

// restarted says how often a container was restarted, and after which exit. brief leaves out the container's name.
func restarted(e *projector.TryEnd, brief bool) string {
	times := fmt.Sprintf("%d times", e.Count)
	if e.Count == 1 {
		times = "once"
	}
	switch x := &e.Exits[0]; {
	case e.Other:
		return "restarted " + times + " after other exits"
	case *x == (projector.TryExit{}):
		return "restarted " + times + ", the exit was not seen"
	case brief:
		return fmt.Sprintf("restarted %s after exit %s", times, code(x))
	default:
		return fmt.Sprintf("%s restarted %s after exit %s", container(x), times, code(x))
	}
}
