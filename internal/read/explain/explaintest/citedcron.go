package explaintest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/cron"
	"github.com/jobledger/jobledger/internal/read/explain/whynot"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/say/words"
)

// mostInstants is the number of due times of each CronJob for which why-not is asked. They are spread over all its due
// times, and include the newest ones.
const mostInstants = 8

// cronQuestions returns what is asked about the CronJobs of a log: explain, the list of due times (ticks), and why-not
// for some due times.
func cronQuestions(ctx context.Context, src history.Source, all *everything) (asked []question, err error) {
	for _, s := range all.crons {
		asked = append(asked, func(src history.Source) ([]*explain.Answer, error) { return cronAnswer(ctx, src, s) })
		due, err := duetimes.Read(ctx, src, s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s, err)
		}
		if due.Seen == nil {
			continue
		}
		asked = append(asked, func(src history.Source) ([]*explain.Answer, error) { return ticksAnswer(ctx, src, s) })
		for _, at := range instantsOf(due) {
			asked = append(asked, func(src history.Source) ([]*explain.Answer, error) { return whyNotAnswer(ctx, src, s, at) })
		}
	}
	return asked, nil
}

// instantsOf returns due times of a CronJob, at most mostInstants of them, with any outcome.
func instantsOf(due *duetimes.CronJob) (out []events.Time) {
	all := due.All()
	for i := range min(len(all), mostInstants) {
		out = append(out, all[len(all)-1-i*len(all)/min(len(all), mostInstants)].First)
	}
	if open := due.Open(); open != nil {
		out = append(out, events.Time(open.At))
	}
	return out
}

func cronAnswer(ctx context.Context, src history.Source, s events.Stream) ([]*explain.Answer, error) {
	c, err := cron.Read(ctx, src, s, history.Point{})
	if errors.Is(err, history.ErrNoCronJob) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	a := c.Answer()
	return []*explain.Answer{&a}, nil
}

// ticksAnswer returns the list of due times of a CronJob as an answer, in which each line is a sentence.
func ticksAnswer(ctx context.Context, src history.Source, s events.Stream) ([]*explain.Answer, error) {
	due, err := duetimes.Read(ctx, src, s)
	if err != nil {
		return nil, err
	}
	a := &explain.Answer{Kind: "ticks", UID: s.ID, Namespace: due.Ref.Namespace, Name: due.Ref.Name,
		Sections: []explain.Section{{}}}
	add := func(cells []show.Cell, record uint64) {
		var text []string
		for _, c := range cells {
			text = append(text, c.Text)
		}
		line := explain.Sentence{Text: strings.Join(text, "  ")}
		if record != 0 {
			line.Records = []uint64{record}
		}
		a.Sections[0].Sentences = append(a.Sections[0].Sentences, line)
	}
	page := show.Page{Out: io.Discard}
	for i := range due.Entries {
		e := &due.Entries[i]
		item := history.TickOf(&e.Tick, e.Record)
		add(page.TickCells(&item), item.Record)
	}
	if open := due.Open(); open != nil {
		add(page.OpenCells(open), open.Record)
	}
	return []*explain.Answer{a}, nil
}

func whyNotAnswer(ctx context.Context, src history.Source, s events.Stream, at events.Time) ([]*explain.Answer, error) {
	w, err := whynot.Read(ctx, src, []events.Stream{s}, at.Go(), words.Zone{})
	if err != nil {
		return nil, err
	}
	return []*explain.Answer{{
		Kind: "why-not " + at.Go().UTC().Format("2006-01-02 15:04:05") + " of cronjob", UID: w.UID, Namespace: w.Namespace,
		Name:     w.Name,
		Sections: []explain.Section{{Sentences: w.Sentences}},
	}}, nil
}
