package explaintest

import (
	"cmp"
	"regexp"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/explain"
)

var (
	negative = regexp.MustCompile(`(^|[ (])-\d+(\.\d+)?(ms|s|m|h|d)`)
	clock    = regexp.MustCompile(`(?:\b(\d{1,2} [A-Z][a-z]{2}) )?\b(\d\d:\d\d:\d\d)`)
	until    = regexp.MustCompile(`, until [0-9:]+$`)
	quoted   = regexp.MustCompile(`"[^"]*"`)
)

// times: no duration is less than none, and each time of day is that of something that the log knows.
func times(a *explain.Answer, f *facts) (out []claim) {
	seconds := map[string]bool{}
	for _, t := range f.known {
		for _, d := range []time.Duration{-time.Second, 0, time.Second} {
			seconds[t.Go().UTC().Add(d).Format("2 Jan 15:04:05")] = true
		}
	}
	today := events.Time(a.Created).Go().UTC().Format("2 Jan")
	for _, s := range sentences(a) {
		text := quoted.ReplaceAllString(s.Text, "")
		text = until.ReplaceAllString(text, "") // the end of a wait, which the projector works out
		if m := negative.FindString(text); m != "" {
			out = append(out, claim{s.Text, "a duration is negative:" + m})
		}
		for _, m := range clock.FindAllStringSubmatch(text, -1) {
			at := cmp.Or(m[1], today) + " " + m[2]
			if !seconds[at] && a.Created != 0 {
				out = append(out, claim{s.Text, "the log knows nothing of " + at})
			}
		}
	}
	return out
}
