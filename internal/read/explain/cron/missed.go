package cron

import (
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// missedRun is a group of consecutive due times that did not start, all for the same reason.
type missedRun struct {
	first, last duetimes.Entry
	n           int    // number of due times
	text        string // what became of the last of them, and why
	from        []explain.Mark
	alike       string // text without numbers, to compare reasons
	same        bool   // all of them have exactly this text
}

// missedText lists the due times that did not start, and why, the newest first. Consecutive ones with the same reason
// share one sentence: "3 due times from 10:00 to 12:00: the CronJob was suspended".
func (c *Case) missedText() (out []explain.Sentence) {
	var runs []*missedRun
	row := false // whether the due time before this one did not start, either
	for _, e := range c.dues() {
		young := e.Fate == 0 && c.young(&e)
		held := e.Fate == 0 && (e.First == c.open() || young) && c.State.State == history.CronHeld
		if e.Job != "" || e.Fate == events.TickStarted || held || young {
			row = false
			continue
		}
		x := c.missedRun(&e)
		if n := len(runs); row && n > 0 && runs[n-1].joins(x) {
			runs[n-1].join(x)
		} else {
			runs = append(runs, x)
		}
		row = true
	}
	for _, x := range slices.Backward(runs) {
		out = append(out, c.missedSentence(x))
	}
	return explain.Fewer(out, 4)
}

func (c *Case) missedRun(e *duetimes.Entry) *missedRun {
	text, from := c.Became(e)
	n, known := c.Due.Count(e)
	if !known {
		n = 0
	}
	return &missedRun{first: *e, last: *e, n: n, text: text, from: from, alike: explain.Liken(text, ""), same: true}
}

// joins reports whether two groups of due times that did not start, one right after the other, have the same reason.
func (x *missedRun) joins(next *missedRun) bool {
	return x.n > 0 && next.n > 0 && x.alike == next.alike
}

func (x *missedRun) join(next *missedRun) {
	x.same = x.same && x.text == next.text
	x.n += next.n
	x.from = append(slices.Clone(next.from), x.from[:min(len(x.from), 1)]...)
	x.last, x.text = next.last, next.text
}

func (c *Case) missedSentence(x *missedRun) explain.Sentence {
	if x.first.Last == x.last.Last {
		return c.Fate(&x.last)
	}
	newest := ": "
	if !x.same {
		newest = "; the newest: "
	}
	return explain.Say(x.from[:min(len(x.from), explain.MostCited)], "%s from %s to %s%s%s", words.Count(x.n, "due time"),
		c.Short(x.first.First), c.At(x.last.Last), newest, x.text)
}
