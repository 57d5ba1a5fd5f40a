package explaintest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
)

// Finding is an error in an answer: a sentence that a record or another sentence contradicts.
type Finding struct {
	Rule   string // name of the checker
	Of     string // what the answer is about: "job prod/etl as of 120"
	Says   string // the sentence
	But    string // the record or sentence that contradicts it
	Answer *explain.Answer
}

func (f Finding) String() string {
	return fmt.Sprintf("%s: %s says %q, but %s", f.Rule, f.Of, f.Says, f.But)
}

// Report is the result of checking the answers of a log: the errors found, and how much was checked.
type Report struct {
	Answers   int
	Sentences int
	Findings  []Finding
}

// checker is a rule that answers about a Job or a pod must keep. check returns the sentences of an answer that break
// it.
type checker struct {
	rule  string
	check func(a *explain.Answer, f *facts) []claim
}

// claim is a sentence of an answer (says), and what contradicts it (but).
type claim struct{ says, but string }

var checkers = []checker{
	{"rules out what it says", ruledOut},
	{"counts other than the status", counts},
	{"lays our deeds on others", deeds},
	{"ends other than its status", endsAsSaid},
	{"waits for what will not come", waits},
	{"waited for one thing twice", waitedOnce},
	{"a time or duration that is none", times},
	{"gives a pod another time to stop", graces},
}

// most is the number of earlier points in the log at which each Job or CronJob is checked, besides the end of the log.
const most = 12

// Check checks the answers about all Jobs of a log, their pods, and all CronJobs. It returns an error only if a read
// fails: contradictions are in the Report.
func Check(ctx context.Context, src history.Source) (*Report, error) {
	all, err := readAll(ctx, src)
	if err != nil {
		return nil, err
	}
	if all.lists, err = readLists(ctx, src); err != nil {
		return nil, err
	}
	r := &Report{}
	for _, s := range all.crons {
		for _, at := range all.points(s) {
			if err := r.cronJob(ctx, src, all, s, at); err != nil {
				return nil, fmt.Errorf("%s as of %d: %w", s, at, err)
			}
		}
	}
	for _, s := range all.jobs {
		for _, at := range all.points(s) {
			if err := r.job(ctx, src, all, s, at); err != nil {
				return nil, fmt.Errorf("%s as of %d: %w", s, at, err)
			}
		}
	}
	return r, nil
}

func (r *Report) job(ctx context.Context, src history.Source, all *everything, s events.Stream,
	at events.Sequence) error {
	c, err := job.Read(ctx, src, s, history.Point{Sequence: at})
	if errors.Is(err, history.ErrNoJob) {
		return nil
	}
	if err != nil {
		return err
	}
	f, err := all.factsOf(s, at, &c.Job)
	if err != nil {
		return err
	}
	answer := c.Answer()
	r.look(&answer, f)
	rows, _ := c.Attempts(false, 0, 0)
	r.claims("counts other than the status", &answer, at, tries(rows, f))
	r.claims("spends time on what was not", &answer, at, took(&answer, rows, f))
	r.claims("ends other than its status", &answer, at, last(&answer, rows))
	r.claims("a try other than its records", &answer, at, attemptsAsSeen(rows, f))
	if at == 0 {
		r.claims("two answers differ", &answer, at, all.lists.job(&answer, &c.Job, rows, c.Sum()))
	}
	for _, t := range c.Tries {
		if pod, err := c.PodAnswer(string(t.UID)); err == nil {
			r.look(&pod, f)
		}
	}
	return nil
}

func (r *Report) look(a *explain.Answer, f *facts) {
	r.Answers++
	r.Sentences += len(sentences(a))
	for _, c := range checkers {
		r.claims(c.rule, a, f.at, c.check(a, f))
	}
}

func (r *Report) claims(rule string, a *explain.Answer, at events.Sequence, claims []claim) {
	for _, x := range claims {
		r.Findings = append(r.Findings, Finding{
			Rule: rule, Of: fmt.Sprintf("%s %s/%s as of %d", a.Kind, a.Namespace, a.Name, at), Says: x.says, But: x.but,
			Answer: a,
		})
	}
}

// points returns the points in the log at which a stream (the records of one object) is checked: 0, which means the end
// of the log, and up to 12 (const most) records of the stream, evenly spread.
func (e *everything) points(s events.Stream) []events.Sequence {
	own := e.of[s]
	out := []events.Sequence{0}
	for i := range min(len(own), most) {
		out = append(out, own[i*len(own)/min(len(own), most)].Sequence)
	}
	return slices.Compact(out)
}

// section returns the sentences of an answer under a head (title); none if there is no such section.
func section(a *explain.Answer, head string) []explain.Sentence {
	for _, s := range a.Sections {
		if s.Head == head {
			return s.Sentences
		}
	}
	return nil
}

// sentences returns all sentences of an answer.
func sentences(a *explain.Answer) []explain.Sentence {
	out := []explain.Sentence{a.Verdict}
	if a.Deleted != nil {
		out = append(out, *a.Deleted)
	}
	for _, s := range a.Sections {
		out = append(out, s.Sentences...)
	}
	return out
}
