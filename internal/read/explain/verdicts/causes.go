package verdicts

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/ending"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/say/words"
)

// evicted returns the words for an evicted pod t. It adds whether its node was cordoned, which kubectl drain does
// first.
func evicted(c *jobcase.Case, t *try.Try, e *try.Ending) cause {
	x := cause{"", explain.Passage{}, e.Unsaid, e.Marks}
	if n, ok := c.NodeFor(t, e.By, t.DisruptedAt); ok && n.Seen != nil && n.Seen.Cordoned {
		x.why = whole(t.Node + " was cordoned")
	}
	return x
}

// taint returns the words for a pod t that was deleted for a taint: it names the taint, or says what was wrong with its
// node.
func taint(c *jobcase.Case, t *try.Try, e *try.Ending) cause {
	x := cause{"deleted for a taint of " + node(t), explain.Passage{}, e.Unsaid, e.Marks}
	n, ok := c.NodeFor(t, e.By, t.DisruptedAt)
	switch {
	case !ok || n.Seen == nil:
	case len(n.Seen.Taints) > 0:
		x.does = "deleted for taint " + strings.Join(n.Seen.Taints, ", ") + " of " + t.Node
	default:
		x.why = whole(words.NodeText(n.Seen))
	}
	return x
}

// nodeGone returns the words for a pod t that was deleted because its node was gone: it says what became of the node.
func nodeGone(c *jobcase.Case, t *try.Try, e *try.Ending) cause {
	n, ok := c.NodeFor(t, e.By, t.DisruptedAt)
	text := ""
	switch deleted := ok && n.Seen == nil; {
	case deleted && t.Started.Record != 0 && n.At > t.Started.At:
		text = fmt.Sprintf("%s was deleted %s after the pod's start", node(t), words.Span(n.At.Sub(t.Started.At)))
	case deleted:
		text = node(t) + " was deleted"
	case strings.Contains(e.Why, "no longer exists"):
		text = node(t) + " was removed"
	default:
		return cause{"deleted by the pod garbage collector", whole(strings.TrimPrefix(e.Why, "PodGC: ")), e.Unsaid, e.Marks}
	}
	return cause{"deleted as its node was gone", whole(text), explain.ByWhom, e.Marks}
}

// deletes are the causes of an end that are deletions of the pod, without a disruption.
var deletes = map[try.By]bool{try.ByClient: true, try.ByUnknown: true, try.ByNamespace: true, try.ByJobDeleted: true}

// deleted returns the words for a pod that was deleted before its end: it says who deleted it.
func deleted(_ *jobcase.Case, t *try.Try, e *try.Ending) cause {
	x := cause{"", explain.Passage{}, e.Unsaid, e.Marks}
	switch why, _, _ := strings.Cut(e.Why, ": "); {
	case e.By == try.ByNamespace:
		x.does = "deleted with its namespace"
	case e.By == try.ByJobDeleted:
		x.does = "deleted with its Job"
	case e.By == try.ByClient && t.Forced:
		x.does = "deleted by an API client, by force"
	case e.By == try.ByClient:
		x.does = "deleted by an API client"
	case strings.HasPrefix(why, "deleted"):
		x.does = why
	}
	return x
}

// deletedToo matches, in a verdict, the number of deleted pods at the end of a list.
var deletedToo = regexp.MustCompile(`, (\d+) deleted\b`)

// stoppedToo matches, in a verdict, the number of pods that the Job stopped.
var stoppedToo = regexp.MustCompile(`\b\d+ pods? (?:was|were) stopped\b`)

// unnamed matches, in a verdict, the number of tries (pods) whose various endings the verdict does not name.
var unnamed = regexp.MustCompile(`\b(\d+) tries did not succeed`)

// endedBy says what ended the failed tries (pods), with numbers: "ended by: node gone ×2, main exit 3 ×1". It is
// empty if their number is not says, the number in the verdict, or if they ended in more than 4 ways.
func endedBy(c *jobcase.Case, says string) (text string, from []explain.Mark) {
	var order []string
	counts, n := map[string]int{}, 0
	for _, t := range c.Tries {
		if !t.Failed() {
			continue
		}
		n++
		e := ending.Of(c, t)
		how := string(e.By)
		if e.By == try.ByItself {
			how = try.ExitText(t)
		}
		if counts[how]++; counts[how] == 1 {
			order, from = append(order, how), append(from, e.Marks[:min(len(e.Marks), 1)]...)
		}
	}
	if fmt.Sprint(n) != says || len(order) > 4 {
		return "", nil
	}
	for i, how := range order {
		order[i] = fmt.Sprintf("%s ×%d", how, counts[how])
	}
	return "ended by: " + strings.Join(order, ", "), from
}

// stopped finds phrases in a verdict about pods that the Job did not want any more, and gives them better words. The
// verdict only says "deleted" or "stopped"; the records tell that the Job failed, or was edited.
func stopped(c *jobcase.Case, verdict string) (out []foundPhrase) {
	if at := deletedToo.FindStringSubmatchIndex(verdict); at != nil {
		n, all := 0, true
		var from []explain.Mark
		for _, t := range c.Tries {
			e := ending.Of(c, t)
			if t.Failed() && ending.Stopped(c, t) {
				n, from = n+1, append(from, e.Marks...)
			} else if t.Failed() && deletes[e.By] {
				all = false
			}
		}
		if says := verdict[at[2]:at[3]]; all && fmt.Sprint(n) == says {
			out = append(out, foundPhrase{begin: at[0], end: at[1], does: ", " + says + " stopped as the Job failed", from: from})
		}
	}
	if at := unnamed.FindStringSubmatchIndex(verdict); at != nil {
		text, from := endedBy(c, verdict[at[2]:at[3]])
		out = append(out, foundPhrase{
			begin: at[0], end: at[1], does: verdict[at[0]:at[1]], brackets: []explain.Passage{whole(text)}, from: from,
		})
	}
	if at := stoppedToo.FindStringIndex(verdict); at != nil {
		if text, from := ending.EditBehindStops(c); text != "" {
			out = append(out, foundPhrase{
				begin: at[0], end: at[1], does: verdict[at[0]:at[1]], brackets: []explain.Passage{whole(text)},
				from: []explain.Mark{from},
			})
		}
	}
	return out
}
