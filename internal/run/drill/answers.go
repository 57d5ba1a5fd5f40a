package drill

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

// Live is the log from which the tested copy was made. A controller may be writing it.
type Live struct {
	history.Source
	// Ask asks the live log a question.
	Ask func(ctx context.Context, q *ask.Asked[explain.Answer]) (*explain.Answer, error)
}

// amongJobs is the number of newest Jobs among which those to explain are chosen.
const amongJobs = 2000

// What the report says about a Job's answer from the live log (the log that was copied).
const (
	liveSame    = "says the same"
	liveOther   = "says something else"
	liveGone    = "no longer has it"
	livePruned  = "says something else; it no longer keeps records that the copy has"
	liveNotRead = "was not asked"
)

// answers explains some of the newest Jobs from the restored log, and compares each answer with the live log's (the log
// that was copied). Both answer as of the copy's last record.
func (r *running) answers(ctx context.Context) (Check, error) {
	own := history.Local{Log: r.log, Lists: joblist.New(joblist.Config{
		Log: r.log, Files: store.FilesOf(r.log), Dir: r.space.log(), Keep: true,
	}), Damage: &r.damage}
	page, err := own.Jobs(ctx, history.JobsQuery{Limit: amongJobs})
	if err != nil {
		return Check{}, err
	}
	live, err := r.liveLog(ctx, own)
	if err != nil {
		return Check{}, err
	}
	c, counts := Check{}, map[string]int{}
	chosen := spread(page.Items, r.Jobs)
	for i := range chosen {
		job, differs, err := r.explained(ctx, own, live, &chosen[i])
		if err != nil {
			return Check{}, fmt.Errorf("job %s/%s (%s): %w", chosen[i].Namespace, chosen[i].Name, chosen[i].UID, err)
		}
		counts[job.Live]++
		r.report.Jobs = append(r.report.Jobs, job)
		c.Details = append(c.Details, differs...)
		r.Tell("explain", uint64(i+1), uint64(len(chosen)))
	}
	c.Text = fmt.Sprintf("%s explained", words.Count(len(chosen), "Job"))
	switch {
	case len(chosen) == 0:
		c.Outcome, c.Text = NotChecked, "the log has no Job"
	case r.Live == nil:
		c.Text += "; not compared, as no live log was named (--log or --server)"
	case counts[liveOther] > 0:
		c.Outcome = DoesNot
	}
	for _, what := range []string{liveSame, liveOther, livePruned, liveGone} {
		if n := counts[what]; n > 0 {
			c.Text += fmt.Sprintf("; of %d the live log %s", n, what)
		}
	}
	return c, nil
}

// liveSide is what the drill found out about the live log, from which the copy was made.
type liveSide struct {
	first  events.Sequence // the oldest record that the live log still has
	pruned bool            // the live log has deleted records that the copy has
}

// liveLog checks that the live log is the log that was copied, and has all records of the copy.
func (r *running) liveLog(ctx context.Context, own history.Local) (side liveSide, err error) {
	if r.Live == nil {
		return side, nil
	}
	m := r.plan.Copy
	id, head, err := r.Live.Head(ctx)
	switch {
	case err != nil:
		return side, fmt.Errorf("ask the live log: %w", err)
	case id.LogID != m.Identity.LogID:
		return side, fmt.Errorf("the copy is of log %s, and the live log is %s", m.Identity.LogID, id.LogID)
	case head.Sequence < m.Head.Sequence:
		return side, fmt.Errorf("the live log ends with record %d, and its copy with record %d: it has lost records (docs/operating.md, After records are lost)",
			head.Sequence, m.Head.Sequence)
	}
	side.first, err = firstOf(ctx, r.Live)
	if err != nil {
		return side, fmt.Errorf("ask the live log: %w", err)
	}
	ours, err := firstOf(ctx, own)
	side.pruned = side.first > ours
	return side, err
}

func firstOf(ctx context.Context, src history.Source) (events.Sequence, error) {
	for rec, err := range src.Read(ctx, 0) {
		return rec.Sequence, err
	}
	return 0, nil
}

// explained explains one Job from the restored log. It returns how the answer differs from that of the live log (the
// log that was copied).
func (r *running) explained(ctx context.Context, own history.Local, live liveSide, s *history.Summary) (job Job,
	differs []string, err error) {
	job = Job{Namespace: s.Namespace, Name: s.Name, UID: s.UID, Live: liveNotRead}
	q, err := r.question(s)
	if err != nil {
		return job, nil, err
	}
	quiet := func(string) {}
	answer, err := q.Ask(ctx, ask.Source{Source: own, Note: quiet, Behind: quiet, Clock: time.Now, Damage: &r.damage})
	if err != nil {
		return job, nil, err
	}
	job.Verdict = answer.Verdict.Text
	if r.Live == nil {
		return job, nil, nil
	}
	if q, err = r.question(s); err != nil {
		return job, nil, err
	}
	other, err := r.Live.Ask(ctx, q)
	var unknown *which.UnknownError
	switch {
	case errors.As(err, &unknown) && live.pruned:
		job.Live = liveGone
		return job, nil, nil
	case err != nil && ctx.Err() != nil:
		return job, nil, err
	case err != nil:
		job.Live = liveOther
		return job, []string{fmt.Sprintf("job %s/%s (%s): the live log: %s", s.Namespace, s.Name, s.UID,
			words.Clean(err.Error()))}, nil
	}
	differs, err = job.compare(answer, other, live)
	return job, differs, err
}

// compare returns how the answers of the restored and the live log about the Job differ. It sets j.Live, which says
// this in a word for the report.
func (j *Job) compare(restored, live *explain.Answer, side liveSide) (differs []string, err error) {
	a, err := ask.Write(restored, nil)
	if err != nil {
		return nil, err
	}
	b, err := ask.Write(live, nil)
	if err != nil {
		return nil, err
	}
	switch {
	case bytes.Equal(a, b):
		j.Live = liveSame
	case side.pruned:
		j.Live = livePruned
	default:
		j.Live = liveOther
		differs = append(differs, fmt.Sprintf("job %s/%s (%s): %s", j.Namespace, j.Name, j.UID, firstDifference(a, b)))
	}
	return differs, nil
}

// question returns the question to explain the Job s as of the copy's last record.
func (r *running) question(s *history.Summary) (*ask.Asked[explain.Answer], error) {
	q := ask.Explain.New()
	for flag, value := range map[string]string{"at": strconv.FormatUint(uint64(r.plan.Copy.Head.Sequence), 10),
		ask.FlagNamespace: s.Namespace} {
		if err := q.Flags.Set(flag, value); err != nil {
			return nil, err
		}
	}
	return q, q.Read([]string{"job/" + s.UID})
}

// firstDifference returns a short piece of both texts, around the first byte that differs.
func firstDifference(a, b []byte) string {
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	const around = 60
	cut := func(text []byte) string {
		return words.Clean(string(text[max(at-around, 0):min(at+around, len(text))]))
	}
	return fmt.Sprintf("restored …%s…, live …%s…", cut(a), cut(b))
}

// spread returns n of the jobs, evenly spaced: of 10 Jobs, n = 3 gives those with index 0, 3 and 6.
func spread(jobs []history.Summary, n int) (chosen []history.Summary) {
	n = min(n, len(jobs))
	for i := range n {
		chosen = append(chosen, jobs[i*len(jobs)/n])
	}
	return chosen
}
