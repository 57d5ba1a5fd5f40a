package archtest

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// ofFinish matches a row of the first table of docs/performance-history.md: a workload, and for Jobledger and the
// built-in controller the milliseconds from a pod's end to Job Complete.
var ofFinish = regexp.MustCompile(`^\| (w\w+) \| ([\d.,]+) / ([\d.,]+) \|`)

// TestThePictureIsOfTheTable: the bars of docs/performance.md have the lengths of its history's table. Ten columns mean
// a tenfold time.
func TestThePictureIsOfTheTable(t *testing.T) {
	_, table, _ := strings.Cut(read(t, filepath.Join(root, "docs/performance-history.md")), "\n| | pod finished → Job Complete, p50 ms ")
	table, _, _ = strings.Cut(table, "\n\n")
	var want []string
	for line := range strings.Lines(table) {
		m := ofFinish.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		want = append(want, bar(t, m[1], "Jobledger", "█", m[2]), bar(t, "", "built-in", "░", m[3]))
	}
	page := read(t, filepath.Join(root, "docs/performance.md"))
	if picture := strings.Join(want, "\n"); len(want) < 10 || !strings.Contains(page, "\n"+picture+"\n```\n") {
		t.Errorf("the picture of docs/performance.md is to be\n%s", picture)
	}
}

// bar returns a line of the picture.
func bar(t *testing.T, workload, who, mark, ms string) string {
	t.Helper()
	v, err := strconv.ParseFloat(strings.ReplaceAll(ms, ",", ""), 64)
	if err != nil {
		t.Fatal(err)
	}
	says := ms + " ms"
	if v >= 1000 {
		says = fmt.Sprintf("%.1f s", v/1000)
	}
	return fmt.Sprintf("%-4s%-15s %s %s", workload, who, strings.Repeat(mark, int(math.Round(10*math.Log10(v)))), says)
}
