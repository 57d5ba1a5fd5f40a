package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/duetimes"
	"github.com/jobledger/jobledger/internal/words"
)

func newWhyNot(c *cli) *cobra.Command {
	var f cronFlags
	cmd := &cobra.Command{
		Use:   "why-not cronjob/NAME TIME",
		Short: "Say what became of one instant of a CronJob",
		Long: `Say what became of an instant: whether it was a due time of the CronJob, whether a Job was started for
it, and if not, what held it back. TIME is a moment, a time of day, or how long ago, in UTC.

Each sentence ends with the number of the record that it follows from. Of an instant that is no due
time the nearest due times are named.`,
		Example: `  jobledger why-not cronjob/nightly 2026-01-02T03:00 --log DIR -n batch`,
		Args:    cobra.RangeArgs(2, 3),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.whyNot(cmd.Context(), &f, args) },
	}
	f.add(cmd, c)
	return cmd
}

// whyNotAnswer is the answer as a value.
type whyNotAnswer struct {
	Namespace string      `json:"namespace"`
	Name      string      `json:"name"`
	At        time.Time   `json:"at"`
	Due       bool        `json:"due"`
	Tick      *tickItem   `json:"tick,omitempty"`
	Nearest   []time.Time `json:"nearest,omitempty"`
	Sentences []string    `json:"sentences"`
}

func (c *cli) whyNot(ctx context.Context, f *cronFlags, args []string) error {
	last := len(args) - 1
	text := args[last]
	w, ok := parseWhen(text, words.Zone{})
	if !ok {
		return usage("%q is no time: write 2026-01-02T15:04, 15:04, or 5m for so long ago", text)
	}
	src, cronJob, err := f.read(ctx, c, args[:last])
	if src != nil {
		defer src.Close()
	}
	if err != nil {
		return err
	}
	s, err := settleOf(ctx, src, w)
	if err != nil {
		return err
	}
	at := w.before(s.now, s.end).Go().UTC().Truncate(time.Second)
	answer := verdictOn(cronJob, at)
	if f.output.document() {
		return c.value(&f.output, answer)
	}
	for _, sentence := range answer.Sentences {
		if _, err := fmt.Fprintln(c.out, words.Clean(sentence)); err != nil {
			return err
		}
	}
	return nil
}

// verdictOn says what became of an instant.
func verdictOn(cronJob *duetimes.CronJob, at time.Time) *whyNotAnswer {
	v := cronJob.At(at)
	a := &whyNotAnswer{Namespace: cronJob.Ref.Namespace, Name: cronJob.Ref.Name, At: at, Due: v.Due()}
	say := func(format string, args ...any) { a.Sentences = append(a.Sentences, fmt.Sprintf(format, args...)) }
	who, when := "cronjob/"+cronJob.Ref.Name, instant(at)+" UTC"
	switch {
	case v.Entry != nil:
		item := itemOf(cronJob, v.Entry)
		a.Tick = &item
		text := fateOf(&item)
		if item.Job != "" {
			text += ", as job/" + item.Job
		}
		say("%s was a due time of %s: %s (record %d)", when, who, text, uint64(v.Entry.Record))
		if !item.First.Equal(item.Last) {
			say("so were the others from %s to %s (%d times in all)", instant(item.First), instant(item.Last), item.Count)
		}
	case v.Open:
		say("%s is a due time of %s, and open: %s", when, who, words.HoldText(v.Hold))
	case v.Future:
		say("%s is a due time of %s by its schedule %q, and nothing was decided about it yet", when, who, cronJob.Seen.Schedule)
		if note := idle(cronJob); note != "" {
			say("%s", note)
		}
	default:
		say("%s is no due time of %s", when, who)
		var nearest []string
		for _, t := range []time.Time{v.Before, v.After} {
			if !t.IsZero() {
				a.Nearest, nearest = append(a.Nearest, t.UTC()), append(nearest, instant(t))
			}
		}
		if len(nearest) > 0 {
			say("the nearest that are known: %s", strings.Join(nearest, " and "))
		}
	}
	for _, hold := range cronJob.Holds {
		if hold.Due == events.At(at) {
			text := words.HoldText(hold.By)
			if hold.By == events.HeldForbid && len(hold.Active) > 0 {
				text += " (" + strings.Join(hold.Active, ", ") + ")"
			}
			say("from %s on it was %s (record %d)", instant(hold.At.Go()), text, uint64(hold.Record))
		}
	}
	return a
}
