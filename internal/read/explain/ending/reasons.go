package ending

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/reconciler"
)

// reasonWords returns the words for reason r, for which Jobledger deleted a pod.
func reasonWords(r events.Reason) string {
	switch r {
	case "JobFailing":
		return "the Job fails, so its pods are deleted"
	case "JobSuspended":
		return "the Job was suspended"
	case "FewerPodsWanted":
		return "fewer pods were wanted"
	case "DuplicateIndex":
		return "another pod had its index"
	case "JobSucceeded":
		return "the Job had succeeded without it"
	case "FinalizerGone":
		return "it was one too many"
	}
	return string(r)
}

// stopWhy says why Jobledger deleted try t (a pod), and names the edit of the Job that led to it.
func stopWhy(c *jobcase.Case, t *try.Try) string {
	reason := t.DeletedReason
	if reason == reconciler.FewerPodsWanted && c.SuspendedAt(t.Deleted) {
		reason = reconciler.JobSuspended
	}
	switch reason {
	case reconciler.DuplicateIndex:
		return indexWhy(c, t)
	case reconciler.FewerPodsWanted, reconciler.JobSuspended:
		if e := editBehind(c, t, t.Deleted); e != nil {
			return stopWords(e)
		}
	}
	return reasonWords(reason)
}

// stopWords says why the Job wanted fewer pods after edit e.
func stopWords(e *jobcase.Edit) string {
	if e.After.Suspend && !e.Before.Suspend {
		return "the Job was " + editWords(e)
	}
	return "fewer pods were wanted: " + editWords(e)
}

// editBehind returns the edit that suspended the Job or lowered its parallelism just before record deleted, which shows
// the deletion of pod t; nil if there is none. An earlier edit, from before the pod's creation or long before its
// deletion, does not explain the deletion.
func editBehind(c *jobcase.Case, t *try.Try, deleted explain.Mark) *jobcase.Edit {
	const soon = 5 * time.Second
	for i := len(c.Edits) - 1; i >= 0; i-- {
		e := &c.Edits[i]
		if e.At.Record > deleted.Record {
			continue
		}
		if t.Seen.Record > e.At.Record || deleted.At.Sub(e.At.At) > soon {
			return nil
		}
		if stops(e) {
			return e
		}
	}
	return nil
}

// stops reports whether the Job wants fewer pods after edit e: it was suspended, or its parallelism was lowered.
func stops(e *jobcase.Edit) bool {
	return e.After.Suspend && !e.Before.Suspend ||
		jobcase.Number(e.After.Parallelism) < jobcase.Number(e.Before.Parallelism)
}

// editWords says how edit e suspended the Job or lowered its parallelism, and who made it.
func editWords(e *jobcase.Edit) string {
	by := ", " + explain.ByWhom
	if name := explain.ManagerOf(e.By); name != "" {
		by = " by " + name
	}
	if e.After.Suspend && !e.Before.Suspend {
		return "suspended" + by
	}
	return fmt.Sprintf("parallelism %d → %d%s", jobcase.Number(e.Before.Parallelism),
		jobcase.Number(e.After.Parallelism), by)
}

// EditBehindStops describes the edit that made the Job want fewer pods, and returns its record. It is empty if there is
// no such edit, or several.
func EditBehindStops(c *jobcase.Case) (text string, from explain.Mark) {
	for i := range c.Edits {
		e := &c.Edits[i]
		if !stops(e) {
			continue
		}
		behind := slices.ContainsFunc(c.Tries, func(t *try.Try) bool {
			o := Of(c, t)
			return (o.By == try.ByUs || o.By == try.ByController) && strings.HasSuffix(o.Why, editWords(e))
		})
		if behind && text != "" {
			return "", explain.Mark{}
		}
		if behind {
			text, from = editWords(e), e.At
		}
	}
	return text, from
}

// indexWhy says why the Job did not need pod t for the pod's index: the Job has no such index, or another pod has it.
func indexWhy(c *jobcase.Case, t *try.Try) string {
	if s := c.SpecAt(t.Deleted); s != nil && s.Completions != nil && t.Index >= *s.Completions {
		return fmt.Sprintf("completions is %d by then, so its index is none of the Job's", *s.Completions)
	}
	for _, x := range c.Tries {
		if x != t && x.Index == t.Index && x.Seen.Record != 0 && x.Seen.Record < t.Deleted.Record {
			over := x.Over() && x.End().Record < t.Deleted.Record
			if !over || x.Phase == events.PodSucceeded {
				return reasonWords("DuplicateIndex")
			}
		}
	}
	return "its index needed no pod"
}
