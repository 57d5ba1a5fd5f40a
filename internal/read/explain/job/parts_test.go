package job

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/read/history"
)

// partCase is a Job that runs as of second 90.
func partCase(change func(*jobcase.Case)) *Case {
	c := &jobcase.Case{Misses: &explain.Misses{}, Src: &whentest.Log{}, Added: whentest.Seen(2, 2)}
	c.Job.Namespace, c.Job.Name, c.Job.State = "ns", "demo", history.StateRunning
	c.Job.Created, c.Job.AsOf.Time = whentest.Recorded(1), whentest.Recorded(90)
	change(c)
	return &Case{Case: c}
}

// says is what sentences say, with the records of each.
func says(all []explain.Sentence) string {
	var out []string
	for _, s := range all {
		out = append(out, fmt.Sprint(s.Text, " ", s.Records))
	}
	return strings.Join(out, " | ")
}

// TestWhoRanAJobWhen: each change of its controller until its end was settled.
func TestWhoRanAJobWhen(t *testing.T) {
	reigns := func(all ...jobcase.Hands) (out []jobcase.Reign) {
		for i, h := range all {
			n := 10 * (i + 1)
			out = append(out, jobcase.Reign{From: whentest.Seen(events.Sequence(n), float64(n)), Hands: h})
		}
		return out
	}
	const ours, other, unseen = jobcase.OurHands, jobcase.OtherHands, jobcase.UnseenHands
	settled := func(record events.Sequence) *jobcase.Settling {
		return &jobcase.Settling{Seen: whentest.Seen(record, 15)}
	}
	for _, row := range []struct {
		name    string
		reigns  []jobcase.Reign
		by      string
		settled *jobcase.Settling
		want    string
	}{
		{"one", reigns(ours), "", nil, ""}, {"another", reigns(other), "", nil, ""},
		{"ours from then on", reigns(other, ours), "", nil,
			"run by Jobledger since 20:27:00, before by the built-in controller, observed [20]"},
		{"ours, and what was before nobody saw", reigns(unseen, ours), "", nil,
			"run by Jobledger since 20:27:00, before by another controller, unseen [20]"},
		{"ours, by name", reigns(other, ours), events.ManagedBy, nil,
			"run by Jobledger since 20:27:00, before by another Jobledger [20]"},
		{"another's from then on", reigns(ours, other), "kueue", nil,
			"run by kueue, observed since 20:27:00, before by Jobledger [20]"},
		{"another's, unseen", reigns(ours, unseen), "kueue", nil,
			"run by another controller, unseen since 20:27:00, before by Jobledger [20]"},
		{"looked at", reigns(unseen, other), "", nil,
			"looked at since 20:27:00, not before: the built-in controller runs it [20]"},
		{"not looked at", reigns(other, unseen), "", nil,
			"not looked at since 20:27:00, but for its pods: the built-in controller runs it [20]"},
		{"there and back", reigns(ours, other, ours), "kueue", nil,
			"run by kueue, observed since 20:27:00, before by Jobledger [20]" +
				" | run by Jobledger since 20:27:10, before by kueue, observed [30]"},
		{"behind its end", reigns(other, ours), "", settled(19), ""},
		{"with its end", reigns(other, ours), "", settled(20),
			"run by Jobledger since 20:27:00, before by the built-in controller, observed [20]"},
		{"its end is not settled", reigns(other, ours), "", &jobcase.Settling{},
			"run by Jobledger since 20:27:00, before by the built-in controller, observed [20]"},
	} {
		c := partCase(func(c *jobcase.Case) { c.Reigns, c.Job.ManagedBy, c.Settled = row.reigns, row.by, row.settled })
		if got := says(c.changedHands()); got != row.want {
			t.Errorf("%s: %s\nwant %s", row.name, got, row.want)
		}
	}
}

// TestWhatWasRefused: what, why, from when on, and what followed: it was accepted, refused otherwise, or the Job was
// over before. What is retried under other terms is not told.
func TestWhatWasRefused(t *testing.T) {
	refusal := func(change func(*jobcase.Refusal)) *jobcase.Refusal {
		x := &jobcase.Refusal{Kind: events.CommandCreatePod, Class: events.RefusedQuota, Says: "full",
			First: whentest.Seen(10, 10), Last: whentest.Seen(12, 12)}
		if change != nil {
			change(x)
		}
		return x
	}
	verb := events.CommandCreatePod.Traits().Verb
	from := verb + " refused (Quota) from 20:26:50"
	for _, row := range []struct {
		name   string
		x      *jobcase.Refusal
		change func(*jobcase.Case)
		want   string
	}{
		{"it lasts", refusal(nil), nil, from + ": full; still refused [10 12]"},
		{"it is over", refusal(func(x *jobcase.Refusal) { x.Over = whentest.Seen(14, 14) }), nil,
			from + " to 20:26:54: full; then accepted [10 12 14]"},
		{"another one followed", refusal(func(x *jobcase.Refusal) {
			x.Then = &jobcase.Refusal{Class: events.RefusedForbidden, Last: whentest.Seen(20, 20)}
		}), nil, from + " to 20:26:52: full; then refused (Forbidden) [10 12 20]"},
		{"the Job was deleted", refusal(nil), func(c *jobcase.Case) { c.Gone = whentest.Seen(40, 40) },
			from + ": full; not accepted before the Job was deleted [10 12 40]"},
		{"the Job ended", refusal(nil), func(c *jobcase.Case) {
			c.Job.State, c.Settled = history.StateFailed, &jobcase.Settling{Stored: whentest.Seen(40, 40)}
		}, from + ": full; not accepted before the Job ended [10 12 40]"},
		{"the Job ended, and its status was refused",
			refusal(func(x *jobcase.Refusal) { x.Kind = events.CommandWriteStatus }), func(c *jobcase.Case) {
				c.Job.State, c.Settled = history.StateFailed, &jobcase.Settling{Stored: whentest.Seen(40, 40)}
			}, events.CommandWriteStatus.Traits().Verb + " refused (Quota) from 20:26:50: full; still refused [10 12]"},
		{"the server said nothing", refusal(func(x *jobcase.Refusal) { x.Says = "" }), nil,
			from + ": the log has no words of the server; still refused [10 12]"},
		{"a conflict", refusal(func(x *jobcase.Refusal) { x.Class = events.RefusedConflict }), nil, ""},
		{"it is not there", refusal(func(x *jobcase.Refusal) { x.Class = events.RefusedNotFound }), nil, ""},
	} {
		c := partCase(func(c *jobcase.Case) {
			c.Refusals = []*jobcase.Refusal{row.x}
			if row.change != nil {
				row.change(c)
			}
		})
		// A forged case has no newest record, so times of one that is over have their day.
		if got := strings.ReplaceAll(says(c.refusedText()), "28 May ", ""); got != row.want {
			t.Errorf("%s: %s\nwant %s", row.name, got, row.want)
		}
	}
}

// TestWhoseEditsAreKnown: that nobody is known is said of the first such edit alone.
func TestWhoseEditsAreKnown(t *testing.T) {
	edit := func(n events.Sequence, by string) jobcase.Edit {
		e := jobcase.Edit{Was: whentest.Seen(n-1, float64(n-1)), At: whentest.Seen(n, float64(n)), Before: &events.JobSpec{},
			After: &events.JobSpec{Suspend: true}}
		if by != "" {
			e.By = &events.Edit{Manager: by}
		}
		return e
	}
	const unknown = explain.ByWhom
	for _, row := range []struct {
		name  string
		edits []jobcase.Edit
		known []string // who is named of each
		said  int      // how often it is said that nobody is known
	}{
		{"one", []jobcase.Edit{edit(10, "helm")}, []string{"helm"}, 0}, {"by nobody known", []jobcase.Edit{edit(10, "")},
			[]string{""}, 1},
		{"two by nobody known", []jobcase.Edit{edit(10, ""), edit(20, "")}, []string{"", ""}, 1},
		{"both", []jobcase.Edit{edit(10, "helm"), edit(20, ""), edit(30, "kubectl")}, []string{"helm", "", "kubectl"}, 1},
	} {
		all := partCase(func(c *jobcase.Case) { c.Edits = row.edits }).edited()
		if len(all) != len(row.known) || strings.Count(says(all), unknown) != row.said {
			t.Errorf("%s: %s", row.name, says(all))
			continue
		}
		for i, s := range all {
			if !strings.Contains(s.Text, "suspend: false → true") || !strings.Contains(s.Text, row.known[i]) ||
				len(s.Records) != 2 {
				t.Errorf("%s: %+v", row.name, s)
			}
		}
	}
}

// TestWhatAdmissionChanged: pods that one record shows are told together, and others apart; as a detail if the Job had
// no trouble.
func TestWhatAdmissionChanged(t *testing.T) {
	pod := func(name string, record events.Sequence, fields ...string) *try.Try {
		return &try.Try{Pod: name, Admitted: fields, AdmittedAt: whentest.Seen(record, float64(record)),
			Phase: events.PodSucceeded, Ended: whentest.Seen(50, 50)}
	}
	const text = " from the Job's pod template: tolerations changed"
	for _, row := range []struct {
		name  string
		tries []*try.Try
		state history.State
		want  string
	}{
		{"none", []*try.Try{pod("a", 0)}, history.StateComplete, ""},
		{"one", []*try.Try{pod("a", 9, "tolerations")}, history.StateComplete, "a differs" + text + " [9]"},
		{"two of one record", []*try.Try{pod("a", 9, "tolerations"), pod("b", 9, "tolerations")}, history.StateFailed,
			"a and 1 other pod differ" + text + " [9]"},
		{"two of two records", []*try.Try{pod("a", 9, "tolerations"), pod("b", 10, "tolerations")}, history.StateRunning,
			"a differs" + text + " [9] | b differs" + text + " [10]"},
	} {
		c := partCase(func(c *jobcase.Case) { c.Tries, c.Job.State = row.tries, row.state })
		all := c.admission()
		if got := says(all); got != row.want {
			t.Errorf("%s: %s\nwant %s", row.name, got, row.want)
		}
		for _, s := range all {
			if s.Detail != (row.state == history.StateComplete) {
				t.Errorf("%s: it is a detail: %t", row.name, s.Detail)
			}
		}
	}
}
