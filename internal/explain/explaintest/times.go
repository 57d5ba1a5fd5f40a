package explaintest

import (
	"regexp"
	"strings"
	"time"

	"github.com/jobledger/jobledger/internal/explain"
)

var (
	negative = regexp.MustCompile(`(^|[ (])-\d+(\.\d+)?(ms|s|m|h|d)`)
	clock    = regexp.MustCompile(`\b(\d\d:\d\d:\d\d)(\.\d+)?\b`)
	quoted   = regexp.MustCompile(`"[^"]*"`)
)

// times: no duration is less than none, and each time of day is that of something that the log knows.
func times(a *explain.Answer, f *facts) (out []claim) {
	seconds := map[string]bool{}
	for _, t := range f.known {
		at := t.Go().UTC()
		for _, d := range []time.Duration{-time.Second, 0, time.Second} {
			seconds[at.Add(d).Format(time.TimeOnly)] = true
		}
	}
	for _, s := range sentences(a) {
		text := quoted.ReplaceAllString(s.Text, "")
		if strings.HasPrefix(text, "the next look, ") {
			continue // the reconciler says when
		}
		if m := negative.FindString(text); m != "" {
			out = append(out, claim{s.Text, "a duration is negative:" + m})
		}
		for _, m := range clock.FindAllStringSubmatch(text, -1) {
			if !seconds[m[1]] {
				out = append(out, claim{s.Text, "the log knows nothing of " + m[1]})
			}
		}
	}
	return out
}
