package explaintest

import (
	"cmp"
	"regexp"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/say/words"
)

// cronClock matches a time in an answer about a CronJob. Due times at a whole minute have no seconds.
var cronClock = regexp.MustCompile(`(?:(\d{1,2} [A-Z][a-z]{2}) |\()(\d\d:\d\d(?::\d\d)?)\b`)

// lookedBack is how far back an answer may name a due time that no record has: up to 12 h before the time of the
// answer. Such a due time was not watched, or nothing was started for it.
const lookedBack = 12 * time.Hour

// cronTimes checks that an answer has no negative duration, and that each time in it is justified: it is a due time by
// a present or former schedule, or it is in a record of the CronJob, of its Jobs, or of a gap (a time in which nobody
// watched).
func cronTimes(a *explain.Answer, f *cronFacts) (out []claim) {
	seen := map[string]bool{}
	for _, x := range append([]explain.Section{{Sentences: []explain.Sentence{a.Verdict}}}, a.Sections...) {
		for _, s := range x.Sentences {
			text := quoted.ReplaceAllString(s.Text, "")
			if m := negative.FindString(text); m != "" {
				out = append(out, claim{x.Head + " " + s.Text, "a duration is negative:" + m})
			}
			for _, m := range cronClock.FindAllStringSubmatch(text, -1) {
				if len(seen) == 0 {
					f.see(seen, a)
				}
				if at := cmp.Or(m[1], "UTC") + " " + m[2]; !seen[at] && !f.cites(&s, at) && !f.follows(&s, at) {
					out = append(out, claim{x.Head + " " + s.Text, "nothing is known of " + at})
				}
			}
		}
	}
	return out
}

// see adds to seen all times that an answer may name without citing a record for them.
func (f *cronFacts) see(seen map[string]bool, a *explain.Answer) {
	for _, r := range f.records {
		for _, t := range timesOf(r) {
			f.mark(seen, t)
		}
	}
	f.mark(seen, f.now)
	for _, g := range a.Gaps {
		f.mark(seen, events.Time(g.From))
		f.mark(seen, events.Time(g.Until))
	}
	for i := range f.specs { // due times by all schedules that the CronJob has had
		for _, t := range f.specs[i].due(max(f.created, f.now.Add(-lookedBack)), f.now) {
			f.mark(seen, t)
		}
	}
	f.seeDeadlines(seen)
	if n := len(f.specs); n > 0 {
		last := f.specs[n-1]
		begin := max(last.Created, f.now.Add(-lookedBack))
		due := f.due(begin, f.now.Add(400*24*time.Hour))
		if due == nil {
			due = f.due(begin, f.now.Add(2*24*time.Hour))
		}
		for _, t := range due[:min(len(due), 200)] {
			f.mark(seen, t)
		}
		// Add the due times that are computed from the last start, too. They differ from those above if the clock is
		// set back by half an hour (daylight saving time).
		due = f.due(max(last.LastSchedule, last.Created), f.now.Add(2*24*time.Hour))
		for _, t := range due[max(0, len(due)-200):] {
			f.mark(seen, t)
		}
	}
}

// seeDeadlines adds to seen the times at which due times became too late, for each startingDeadlineSeconds that the
// CronJob had.
func (f *cronFacts) seeDeadlines(seen map[string]bool) {
	for i := range f.specs {
		d := f.specs[i].Deadline
		if d == nil || i > 0 && f.specs[i-1].Deadline != nil && *f.specs[i-1].Deadline == *d {
			continue
		}
		late := time.Duration(min(*d, 1<<31)) * time.Second
		for _, t := range f.due(max(f.created, f.now.Add(-late)), f.now) {
			f.mark(seen, t.Add(late))
		}
		for j := range f.specs {
			for _, t := range f.specs[j].due(max(f.created, f.now.Add(-lookedBack)), f.now) {
				f.mark(seen, t.Add(late))
			}
		}
		for j := range f.told {
			f.mark(seen, f.told[j].First.Add(late))
			f.mark(seen, f.told[j].Last.Add(late))
		}
		for _, open := range f.opens {
			f.mark(seen, open.Add(late))
		}
	}
}

// mark adds a time to seen in all forms that answers use: in UTC and in the zones of the schedules, with and without
// seconds.
func (f *cronFacts) mark(seen map[string]bool, t events.Time) {
	if t == 0 {
		return
	}
	zones := []*time.Location{time.UTC}
	for i := range f.specs {
		if in := f.specs[i].in; in != nil && !slices.Contains(zones, in) {
			zones = append(zones, in)
		}
	}
	for _, in := range zones {
		layouts := []string{dayAndClock, "UTC 15:04:05"}
		if t.Go().Second() == 0 {
			layouts = append(layouts, "2 Jan 15:04", "UTC 15:04")
		}
		for _, l := range layouts {
			seen[t.Go().In(in).Format(l)] = true
		}
	}
}

// backsOff matches the sentence that says when the Job is tried again after failures.
var backsOff = regexp.MustCompile(`(\d+) failures? in a row\), at (\d{1,2} [A-Z][a-z]{2} [0-9:]{8}), a backoff of (\S+) after (\d{1,2} [A-Z][a-z]{2} [0-9:]{8})$`)

// The waits before retries of a CronJob begin with firstTry, and double up to longestTry (C-190): 5 ms, 10 ms, 20 ms
// and so on.
const (
	firstTry   = 5 * time.Millisecond
	longestTry = 1000 * time.Second
)

// follows reports whether the time of the next try, at, follows from the failure that the sentence cites. It must be
// the time of the failure plus a backoff for that many failures in a row, or for fewer, because an earlier backoff may
// still last. Or it is the failure plus the wait that the API server requested.
func (f *cronFacts) follows(s *explain.Sentence, at string) bool {
	m := backsOff.FindStringSubmatch(s.Text)
	if m == nil || m[2] != at || len(s.Records) != 1 {
		return false
	}
	r := f.all.at[events.Sequence(s.Records[0])]
	if r == nil || r.Time.Go().UTC().Format(dayAndClock) != m[4] {
		return false
	}
	ended, ok := r.Facts.(*events.CommandEnded)
	if !ok {
		return false
	}
	waits := []time.Duration{ended.RetryAfter}
	for wait, n := firstTry, 0; n < number(m[1]); n++ {
		waits, wait = append(waits, wait), min(2*wait, longestTry)
	}
	return slices.ContainsFunc(waits, func(d time.Duration) bool {
		return words.Span(d) == m[3] && r.Time.Add(d).Go().UTC().Format(dayAndClock) == at
	})
}

// cites reports whether a record that the sentence cites has the time at. The record may be about a Job of the CronJob.
func (f *cronFacts) cites(s *explain.Sentence, at string) bool {
	own := map[string]bool{}
	for _, n := range s.Records {
		if r := f.all.at[events.Sequence(n)]; r != nil {
			for _, t := range timesOf(r) {
				f.mark(own, t)
			}
		}
	}
	return own[at]
}
