package explaintest

import (
	"cmp"
	"regexp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
)

var (
	negative = regexp.MustCompile(`(^|[ (])-\d+(\.\d+)?(ms|s|m|h|d)`)
	clock    = regexp.MustCompile(`(?:\b(\d{1,2} [A-Z][a-z]{2}) )?\b(\d\d:\d\d:\d\d)`)
	untils   = regexp.MustCompile(`^(?:the next (?:look|create|status write|adoption)|a |an |\d+ pods? that).*, until [0-9A-Za-z: ]+$`)
	zoned    = regexp.MustCompile(`\d{1,2} [A-Z][a-z]{2} [0-9:]+ [A-Z]\w+/\w+`)
	quoted   = regexp.MustCompile(`"[^"]*"`)
	unwatch  = regexp.MustCompile(`GAP|watched|no controller|as the log is damaged`)
	backedUp = regexp.MustCompile(`backoff|next (pod|try)|not before|no pod came`)
	limited  = regexp.MustCompile(`[dD]eadline|TTL|ttlSeconds|ends it`)
)

// times checks that an answer has no negative duration, and that each time of day in it is justified: it is in a record
// that the sentence or its section cites, or it is a time of the object itself, such as its creation.
func times(a *explain.Answer, f *facts) (out []claim) {
	if a.Created == 0 {
		return nil
	}
	own := f.ownTimes(a)
	heads := append([]explain.Section{{Sentences: []explain.Sentence{a.Verdict}}}, a.Sections...)
	if a.Deleted != nil {
		heads[0].Sentences = append(heads[0].Sentences, *a.Deleted)
	}
	for _, x := range heads {
		var cited []uint64
		for _, s := range x.Sentences {
			cited = append(cited, s.Records...)
		}
		for _, s := range x.Sentences {
			// Remove times in another zone: the same time in UTC stands next to each.
			text := zoned.ReplaceAllString(quoted.ReplaceAllString(s.Text, ""), "")
			if untils.MatchString(text) {
				continue // the end of a wait is computed
			}
			if m := negative.FindString(text); m != "" {
				out = append(out, claim{s.Text, "a duration is negative:" + m})
			}
			for _, at := range clocks(text, events.Time(a.Created)) {
				if !f.knows(at, s.Text, s.Records, cited, own) {
					out = append(out, claim{x.Head + " " + s.Text, "no record that it cites, and none of its own, holds " + at})
				}
			}
		}
	}
	return out
}

const dayAndClock = "2 Jan 15:04:05"

// clocks returns the times of day in a text, each with its date. One without a date is on the day of the object's
// creation.
func clocks(text string, created events.Time) (all []string) {
	today := created.Go().UTC().Format("2 Jan")
	for _, m := range clock.FindAllStringSubmatch(text, -1) {
		all = append(all, cmp.Or(m[1], today)+" "+m[2])
	}
	return all
}

func (f *facts) knows(at, text string, sentence, section []uint64, own []events.Time) bool {
	is := func(t events.Time) bool { return t.Go().UTC().Format(dayAndClock) == at }
	for _, cited := range [][]uint64{sentence, section} {
		for _, n := range cited {
			if r := f.all.at[events.Sequence(n)]; r != nil && slices.ContainsFunc(f.follows(r, text), is) {
				return true
			}
		}
	}
	if backedUp.MatchString(text) && slices.ContainsFunc(f.records, func(r *events.Record) bool {
		pod := r.Object().Resource == events.ObjectPod // backoffs begin when pods end
		return pod && slices.ContainsFunc(f.follows(r, text), is)
	}) {
		return true
	}
	if limit := f.spec.ActiveDeadlineSeconds; limit != nil && limited.MatchString(text) {
		own = slices.Clone(own)
		for _, t := range own[:len(own):len(own)] {
			own = append(own, t.Add(time.Duration(min(*limit, 1<<31))*time.Second))
		}
	}
	return slices.ContainsFunc(own, is) || unwatch.MatchString(text) && slices.ContainsFunc(f.all.of[events.Controller],
		func(r *events.Record) bool {
			return slices.ContainsFunc(timesOf(r), is)
		})
}

// backoffs has the waits before the next pod after 1, 2, 3, … failures in a row, by the default settings.
var backoffs = []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second,
	160 * time.Second, 320 * time.Second, 600 * time.Second}

// follows returns the times that a text may show if it cites record r: the times in r, and if the text is about
// backoffs or the Job's deadline, the ends of those that began at these times.
func (f *facts) follows(r *events.Record, text string) []events.Time {
	all := timesOf(r)
	held := slices.Clone(all)
	if backedUp.MatchString(text) {
		for _, t := range held {
			for _, d := range backoffs {
				all = append(all, t.Add(d))
			}
		}
	}
	if limit := f.spec.ActiveDeadlineSeconds; limit != nil && limited.MatchString(text) {
		for _, t := range held {
			all = append(all, t.Add(time.Duration(min(*limit, 1<<31))*time.Second))
		}
	}
	return all
}

// ownTimes returns the times that an answer may show without a citation: for a pod all times in its records, for a Job
// the times in its object.
func (f *facts) ownTimes(a *explain.Answer) (all []events.Time) {
	for _, r := range f.records {
		switch x := r.Facts.(type) {
		case *events.JobSeen:
			for _, t := range timesOf(r) {
				if t != r.Time {
					all = append(all, t)
				}
			}
		case *events.PodSeen:
			if a.Kind == "pod" && x.UID == types.UID(a.UID) {
				all = append(all, timesOf(r)...)
			}
		}
	}
	all = append(all, events.Time(a.Created), events.Time(a.Finished), events.Time(a.AsOf.Time))
	if limit := f.spec.ActiveDeadlineSeconds; limit != nil {
		for _, t := range slices.Clone(all) {
			all = append(all, t.Add(time.Duration(min(*limit, 1<<31))*time.Second))
		}
	}
	return all
}
