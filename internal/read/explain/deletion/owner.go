package deletion

import (
	"fmt"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/say/words"
)

// byOwner says who deleted the Job, if the records w of its CronJob tell it; empty otherwise. name names the CronJob;
// seen is the record of the deletion.
func byOwner(w *jobcase.Owner, name string, seen explain.Mark) (by, unknown string, from []explain.Mark) {
	switch {
	case w.Replacing && w.Next.Record != 0:
		return fmt.Sprintf("by Jobledger: replaced by %s (concurrencyPolicy Replace)", w.Next.Name), "",
			explain.Marks(w.Ordered, w.Next.Mark)
	case w.Replacing:
		return "by Jobledger: to be replaced by the next one (concurrencyPolicy Replace)", "", explain.Marks(w.Ordered)
	case w.Ordered.Record != 0:
		return "by Jobledger: " + limitText(w), "", explain.Marks(w.Ordered)
	case w.Deleted.Record != 0 && w.Deleted.At <= seen.At.Add(time.Second) &&
		seen.At.Sub(w.Deleted.At) < jobcase.SoonAfter:
		return fmt.Sprintf("with its CronJob %s, which was deleted", name), byWhom, explain.Marks(w.Deleted)
	case w.Ours: // if Jobledger runs the CronJob, and had deleted the Job, its decision would be in the log
		return "", "", nil
	}
	by, from = inferred(w, seen)
	return by, "", from
}

// limitText names the history limit of the CronJob that the Job exceeded, with its value.
func limitText(w *jobcase.Owner) string {
	result, name := w.Ends[w.Job], "successfulJobsHistoryLimit"
	if result == events.ResultFailed {
		name = "failedJobsHistoryLimit"
	}
	limit := keeps(w, result)
	if limit == nil {
		return "more Jobs had ended than the CronJob's history limits keep"
	}
	return fmt.Sprintf("more Jobs had ended than %s %d keeps", name, *limit)
}

const inferredBy = "by the built-in CronJob controller (inferred)"

// inferred says whether the built-in CronJob controller deleted the Job: whether its rules demand it, and what happened
// next fits. That controller writes no records, so this is only inferred.
func inferred(w *jobcase.Owner, seen explain.Mark) (by string, from []explain.Mark) {
	if w.Spec == nil {
		return "", nil
	}
	result, ended := w.Ends[w.Job]
	switch {
	case !ended && w.Spec.Policy == "Replace" && w.Next.Record != 0 && w.Next.At.Sub(seen.At) < 10*time.Second:
		return fmt.Sprintf("%s: replaced by %s, which came %s later (concurrencyPolicy Replace)", inferredBy, w.Next.Name,
			words.Span(w.Next.At.Sub(seen.At))), explain.Marks(w.Next.Mark)
	case ended && overLimit(w, result):
		return inferredBy + ": " + limitText(w), nil
	}
	return "", nil
}

// overLimit reports whether more Jobs had ended with a result than the CronJob's history limit keeps.
func overLimit(w *jobcase.Owner, result events.JobResult) bool {
	limit := keeps(w, result)
	alike := 0
	for _, r := range w.Ends {
		if r == result {
			alike++
		}
	}
	return limit != nil && alike > int(*limit)
}

// keeps returns the history limit of the CronJob for Jobs with a result; nil if it keeps all, or if this is unknown.
func keeps(w *jobcase.Owner, result events.JobResult) *int32 {
	switch {
	case w.Spec == nil:
		return nil
	case result == events.ResultFailed:
		return w.Spec.KeepFailed
	}
	return w.Spec.KeepSucceeded
}
