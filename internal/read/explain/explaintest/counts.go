package explaintest

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/attempts"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/subject/indexset"
)

var (
	closeCount   = regexp.MustCompile(`^(\d+) failures? (?:= backoffLimit|of the)`)
	verdictCount = regexp.MustCompile(`(\d+) failures? > backoffLimit (\d+)`)
	doneCount    = regexp.MustCompile(`(\d+) of (\d+) completions (?:had )?succeeded`)
)

// concluded returns the type (Complete or Failed) and the reason of the condition with which the Job ended; empty if it
// has not ended.
func (f *facts) concluded() (kind, reason string) {
	for _, c := range f.status.Conditions {
		if c.Status == "True" && (c.Type == "Complete" || c.Type == "Failed") {
			return c.Type, c.Reason
		}
	}
	return "", ""
}

// ended returns the type of the condition with which the Job ended: Complete, Failed, or empty if it has not ended.
func (f *facts) ended() string {
	kind, _ := f.concluded()
	return kind
}

// completed returns the number of completed indexes by status.completedIndexes. It may be lower than status.succeeded,
// which the API server refuses to lower in some writes (J-236).
func (f *facts) completed() int {
	set := indexset.Parse(f.status.CompletedIndexes, math.MaxInt32)
	return int(set.Len())
}

// counts checks that an answer about an ended Job shows the numbers of the Job's status, and returns contradictions.
func counts(a *explain.Answer, f *facts) (out []claim) {
	if a.Kind != "job" || f.ended() == "" {
		return nil
	}
	failed, succeeded := int(f.status.Failed), int(f.status.Succeeded)
	for _, s := range section(a, "CLOSE") {
		if m := closeCount.FindStringSubmatch(s.Text); m != nil && number(m[1]) != failed {
			out = append(out, claim{"CLOSE " + s.Text, fmt.Sprintf("status.failed is %d", failed)})
		}
	}
	for _, s := range sentences(a) {
		if m := verdictCount.FindStringSubmatch(s.Text); m != nil && (number(m[1]) > failed || number(m[1]) <= number(m[2])) {
			out = append(out, claim{s.Text, fmt.Sprintf("status.failed is %d", failed)})
		}
		if m := doneCount.FindStringSubmatch(s.Text); m != nil && number(m[1]) != succeeded && number(m[1]) != f.completed() {
			out = append(out, claim{s.Text, fmt.Sprintf("status.succeeded is %d", succeeded)})
		}
	}
	return out
}

// tries checks that rows (the pods of an ended Job) has as many failed and successful ones as the Job's status counts.
// Pods with unknown outcome may make up the difference. It checks nothing if the Job had begun before its first record,
// because earlier pods are not known.
func tries(rows []attempts.Attempt, f *facts) (out []claim) {
	if f.ended() == "" || !f.whole || f.past() != "" {
		return nil
	}
	counted, unseen := map[try.Counted]int{}, 0
	for i := range rows {
		if rows[i].EndedBy == try.ByNobody {
			// If a pod's end is not seen yet, the numbers may differ: after a gap, the Job is listed before its pods.
			return nil
		}
		counted[rows[i].Counted]++
		if strings.Contains(rows[i].How, "whether it had succeeded is unknown") {
			unseen++
		}
	}
	open := counted[try.CountedUnknown]
	if n := counted[try.CountedFailed]; n > int(f.status.Failed) || n+open < int(f.status.Failed) {
		out = append(out, claim{fmt.Sprintf("%d tries count as failed", n), fmt.Sprintf("status.failed is %d",
			f.status.Failed)})
	}
	most := int(f.status.Succeeded)
	if f.spec.CompletionMode == "Indexed" {
		most = f.completed()
	}
	if n := counted[try.CountedSucceeded]; n > most || n+open+unseen < most {
		out = append(out, claim{fmt.Sprintf("%d tries count as succeeded", n), fmt.Sprintf("the status has %d", most)})
	}
	return out
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err) // cannot happen: the regular expression matches only digits
	}
	return n
}
