package verdict

import (
	"fmt"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// tries says how tries ended that did not succeed, in at most that many columns: the most frequent way first. whole says that they are
// all there is to say of the Job, so that one way may be that of all.
func (c *account) tries(columns int, whole bool) string {
	var ends []projector.TryEnd
	for _, e := range c.job.Ends {
		if e.Kind != projector.TryStopped {
			ends = append(ends, e)
		}
	}
	slices.SortStableFunc(ends, func(a, b projector.TryEnd) int { return int(int64(b.Count) - int64(a.Count)) })
	told := c.told(func(e *projector.TryEnd) bool { return e.Kind != projector.TryRestarted && e.Action != "Ignore" })
	unknown := c.end.Failed - told
	if whole && unknown == 0 && len(ends) == 1 && len(c.job.Ends) == 1 && ends[0].Kind != projector.TryRestarted && c.end.Succeeded == 0 {
		return tried(&ends[0], 0, columns)
	}
	var parts []string
	if unknown > 0 {
		parts = append(parts, fmt.Sprintf("how %s ended is not known", count(unknown, failure(told))))
	}
	text, left := "", len(ends)
	for i := range ends {
		part := tried(&ends[i], ends[i].Count, columns)
		tail := more(ends[i+1:])
		if unknown > 0 {
			tail += ", " + parts[0]
		}
		if len(text)+len(", ")+len(part)+len(tail) > columns && i > 0 {
			break
		}
		if text != "" {
			text += ", "
		}
		text += part
		left--
	}
	text += more(ends[len(ends)-left:])
	if unknown > 0 {
		if text != "" {
			text += ", "
		}
		text += parts[0]
	}
	return clip(text, columns)
}

// failure names a failure beside others that are told.
func failure(told int32) string {
	if told == 0 {
		return "failed try"
	}
	return "more failed try"
}

// more says that there are further ways, for which there is no room.
func more(ends []projector.TryEnd) string {
	var n int32
	for i := range ends {
		if ends[i].Kind != projector.TryRestarted {
			n += int32(ends[i].Count)
		}
	}
	switch {
	case len(ends) == 0:
		return ""
	case n == 0:
		return ", and other restarts"
	}
	return fmt.Sprintf(", and %d otherwise", n)
}

// tried says how many tries ended in one way; 0 for all there were.
func tried(e *projector.TryEnd, n uint32, columns int) string {
	if e.Kind == projector.TryRestarted {
		return restarted(e, columns)
	}
	who := count(int32(n), "try")
	switch {
	case n == 0 && e.Count == 1:
		who, n = "its only try", 1
	case n == 0:
		who, n = fmt.Sprintf("all %s", count(int32(e.Count), "try")), e.Count
	}
	return who + " " + ended(&e.Way, int32(n), columns-len(who)-1)
}

// ended is how n tries ended.
func ended(w *projector.Way, n int32, columns int) string {
	text := ""
	switch w.Kind {
	case projector.TryFailed:
		text = failed(w, columns)
	case projector.TryDisrupted:
		text = disrupted(w, n)
	case projector.TryDeleted:
		if text = "was deleted before its end"; n != 1 {
			text = "were deleted before their end"
		}
	case projector.TryUnseen:
		if text = "is gone, its end was not seen"; n != 1 {
			text = "are gone, their ends were not seen"
		}
	case projector.TryStopped:
		text = was(n)[1:] + "stopped"
	case projector.TryRestarted:
		text = "went on"
	}
	if w.Other {
		text += " otherwise"
	}
	if w.Action == "Ignore" {
		text += fmt.Sprintf(" (ignored: podFailurePolicy.rules[%d])", w.Rule)
	}
	return text
}

// failed is how a try failed by itself.
func failed(w *projector.Way, columns int) string {
	if w.Exits[0] == (projector.TryExit{}) {
		switch {
		case w.Reason != "":
			return "failed (" + foreign(w.Reason, 40) + ")"
		case w.Other:
			return "failed"
		}
		return "failed, no container says why"
	}
	text := "exited " + exit(&w.Exits[0], columns)
	if w.Exits[1] != (projector.TryExit{}) {
		text += " and " + exit(&w.Exits[1], columns)
	}
	if w.MoreExits > 0 {
		text += " and " + count(int32(w.MoreExits), "container") + " more"
	}
	if w.Reason != "" {
		text += ", " + foreign(w.Reason, 24)
	}
	return text
}

// exit is how a container ended: "137 OOMKilled (container main)".
func exit(x *projector.TryExit, columns int) string {
	text := fmt.Sprintf("%d ", x.Code)
	if x.Reason != "" && x.Reason != "Error" && x.Reason != "Completed" {
		text += foreign(x.Reason, 24) + " "
	}
	return text + "(" + container(x, max(columns/3, 12)) + ")"
}

func container(x *projector.TryExit, columns int) string {
	what := "container "
	switch x.Kind {
	case events.InitContainer:
		what = "init container "
	case events.SidecarContainer:
		what = "sidecar "
	case events.RegularContainer:
	}
	return what + foreign(x.Container, columns)
}

// disruptions are the reasons of the condition DisruptionTarget that Kubernetes documents, in words.
var disruptions = map[string]string{
	"EvictionByEvictionAPI":  "evicted through the eviction API",
	"PreemptionByScheduler":  "preempted by the scheduler",
	"DeletionByTaintManager": "deleted for a taint of the node",
	"DeletionByPodGC":        "deleted by the pod garbage collector",
	"TerminationByKubelet":   "terminated by the kubelet",
}

func disrupted(w *projector.Way, n int32) string {
	verb := was(n)[1:]
	if words, known := disruptions[w.Reason]; known {
		return verb + words
	}
	if w.Reason == "" {
		return verb + "disrupted"
	}
	return verb + "disrupted (" + foreign(w.Reason, 32) + ")"
}

// restarted is how often a container was started again.
func restarted(e *projector.TryEnd, columns int) string {
	times := fmt.Sprintf("%d times", e.Count)
	if e.Count == 1 {
		times = "once"
	}
	x := &e.Exits[0]
	switch {
	case e.Other:
		return "restarts after other exits: " + fmt.Sprint(e.Count)
	case *x == (projector.TryExit{}):
		return "restarts of unknown cause: " + fmt.Sprint(e.Count)
	}
	return fmt.Sprintf("%s restarted %s after %s", container(x, max(columns/3, 12)), times, exitCode(x))
}

func exitCode(x *projector.TryExit) string {
	text := fmt.Sprintf("exit %d", x.Code)
	if x.Reason != "" && x.Reason != "Error" && x.Reason != "Completed" {
		text += " " + foreign(x.Reason, 24)
	}
	return text
}
