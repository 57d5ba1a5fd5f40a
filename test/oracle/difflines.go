package oracle

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/jobledger/jobledger/internal/subject/indexset"
)

// morePods reports whether a line of a diff may be there because only Jobledger created a certain pod.
func morePods(line string) bool {
	return strings.Contains(line, " SuccessfulCreate ") || strings.Contains(line, ": active=") || isLine(line, "+", " pod of ", " Running deleted=false ")
}

// fewerFailed reports whether Jobledger counts as many succeeded pods of each Job as upstream (the built-in
// controller), and over all Jobs fewer failed ones.
func fewerFailed(diff string) bool {
	failed := 0 // Jobledger's failed pods minus upstream's
	for line := range strings.Lines(lines(diff, ": succeeded=")) {
		_, text, _ := strings.Cut(line, " failed=")
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return false
		}
		if strings.HasPrefix(line, "-") {
			n = -n
		}
		failed += n
	}
	return failed < 0 && sameBut(lines(diff, ": succeeded="), " failed=")
}

// counts are the numbers of succeeded and of failed pods of a Job.
type counts struct{ succeeded, failed int }

func (c counts) sum() int { return c.succeeded + c.failed }

// counted returns what upstream and what Jobledger counted for a Job. ok is false unless the diff has exactly one such
// line of each.
func counted(diff string) (theirs, mine counts, ok bool) {
	found := map[byte]counts{}
	for line := range strings.Lines(lines(diff, ": succeeded=")) {
		var c counts
		_, numbers, _ := strings.Cut(line, ": ")
		if _, err := fmt.Sscanf(numbers, "succeeded=%d failed=%d", &c.succeeded, &c.failed); err != nil {
			return theirs, mine, false
		}
		if _, twice := found[line[0]]; twice {
			return theirs, mine, false
		}
		found[line[0]] = c
	}
	return found['-'], found['+'], len(found) == 2
}

// failedMore reports whether Jobledger counts as many succeeded pods as upstream, and more failed ones.
func failedMore(diff string) bool {
	theirs, mine, ok := counted(diff)
	return ok && theirs.succeeded == mine.succeeded && theirs.failed < mine.failed
}

// trimmed reports whether upstream has those completed indexes of Jobledger's that are below some number, and the same
// failed ones. It is false unless the diff has exactly one such line of each.
func trimmed(diff string) bool {
	type both struct {
		completed indexset.Set
		failed    string
	}
	found := map[byte]both{}
	for line := range strings.Lines(lines(diff, "completedIndexes=")) {
		_, fields, _ := strings.Cut(line, ": ")
		var completed, failed string
		if _, err := fmt.Sscanf(fields, "completedIndexes=%q failedIndexes=%s", &completed, &failed); err != nil || found[line[0]].failed != "" {
			return false
		}
		found[line[0]] = both{indexset.Parse(completed, math.MaxInt32), failed}
	}
	theirs, mine := found['-'], found['+']
	left, n := mine.completed.Clone(), int32(0)
	for i := range theirs.completed.All {
		n = i + 1
	}
	left.Trim(n)
	return len(found) == 2 && theirs.failed == mine.failed && left.Text() == theirs.completed.Text()
}

// toldMore reports whether a diff has only Events that Jobledger reports more often than upstream (the built-in
// controller). A line about an Event ends with the count, such as x2.
func toldMore(diff string) bool {
	more := map[string]int{}
	for line := range strings.Lines(strings.TrimSpace(diff)) {
		at := strings.LastIndex(line, " x")
		if at < 2 {
			return false
		}
		n, err := strconv.Atoi(strings.TrimSpace(line[at+2:]))
		if err != nil {
			return false
		}
		if line[0] == '-' {
			n = -n
		}
		more[line[2:at]] += n
	}
	for _, n := range more {
		if n <= 0 {
			return false
		}
	}
	return true
}

// isEnd reports whether a line of a diff is an Event about the end of a Job, and only Jobledger reports it.
func isEnd(line string) bool {
	return isLine(line, "+", "event of", " Normal Completed ") || isLine(line, "+", "event of", " Warning ") && !strings.Contains(line, " Warning Failed")
}

// isLine reports whether a line of a diff begins with sign ("-" upstream, "+" Jobledger) and contains all words.
func isLine(line, sign string, words ...string) bool {
	for _, word := range words {
		if !strings.Contains(line, word) {
			return false
		}
	}
	return strings.HasPrefix(line, sign)
}

// lines returns the lines of a diff that contain text.
func lines(diff, text string) string {
	var b strings.Builder
	for line := range strings.Lines(diff) {
		if strings.Contains(line, text) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// sameBut reports whether both controllers have the same lines in a diff, if everything from text on is cut from each
// line.
func sameBut(diff, text string) bool {
	count := map[string]int{}
	for line := range strings.Lines(diff) {
		line, _, _ = strings.Cut(line, text)
		if mine, ok := strings.CutPrefix(line, "+ "); ok {
			count[mine]++
		} else {
			count[strings.TrimPrefix(line, "- ")]--
		}
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}
