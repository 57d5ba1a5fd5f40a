package drill

import (
	"context"
	"errors"
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler/replay"
	"github.com/jobledger/jobledger/store"
)

// decisions makes the newest decisions of the copy again, and compares them with the recorded ones. It begins with the
// newest file after whose beginning there are at least Config.Decisions decisions. That file begins with a checkpoint
// (the state so far); the checkpoints of later files are compared with the state that the records give.
func (r *running) decisions(ctx context.Context) (Check, error) {
	from, err := r.from(ctx)
	if err != nil {
		return Check{}, err
	}
	from = max(from, events.Sequence(r.report.Copy.First))
	player, head := replay.New(), r.log.Head()
	c := Check{}
	for rec, err := range r.log.Read(ctx, from) {
		if err != nil {
			return Check{}, err
		}
		found, err := player.Record(rec)
		if errors.Is(err, replay.ErrErased) {
			return Check{Outcome: NotChecked, Text: err.Error()}, nil
		}
		if err != nil {
			r.unfounded = errors.Is(err, replay.ErrUnfounded)
			return Check{}, err
		}
		for _, d := range found {
			if len(c.Details) < 10*mostDetails {
				c.Details = append(c.Details, d.String())
			}
		}
		if rec.Sequence%1024 == 0 {
			r.Tell("decide", uint64(rec.Sequence-from), uint64(head.Sequence-from))
		}
	}
	s := player.Summary()
	if s.Divergences > 0 {
		c.Outcome, c.Text = DoesNot, fmt.Sprintf("%d of the decisions and states from record %d on are not what the records before them give", s.Divergences, from)
		return c, nil
	}
	c.Text = fmt.Sprintf("%d were made again from record %d on, and are the same; %d stored states are what the records before them give", s.Decisions-s.Early,
		from, s.States)
	if s.OtherRules > 0 {
		c.Details = append(c.Details, fmt.Sprintf("%d decisions are by other versions of the rules; these rules decide %d of them otherwise", s.OtherRules, s.Otherwise))
	}
	if s.OtherStates > 0 {
		c.Details = append(c.Details, fmt.Sprintf("%d stored states are by other versions of the program, and were not compared", s.OtherStates))
	}
	if s.Early > 0 {
		c.Details = append(c.Details, fmt.Sprintf("%d decisions were not made again: the state of their Jobs is not whole yet where the replay begins", s.Early))
	}
	return c, nil
}

// from returns the first record of the newest file after which there are enough decisions, and at least one later file
// with a checkpoint to compare.
func (r *running) from(ctx context.Context) (events.Sequence, error) {
	files, err := store.FilesOf(r.log)()
	if err != nil || len(files) == 0 || r.Decisions == 0 {
		return 0, err
	}
	n := 0
	end := r.log.Head().Sequence
	for i := len(files) - 1; i > 0; i-- {
		for rec, err := range r.log.Read(ctx, files[i].First) {
			if err != nil {
				return 0, err
			}
			if rec.Sequence > end {
				break
			}
			if rec.Kind == events.KindDecided {
				n++
			}
		}
		end = files[i].First - 1
		if n >= r.Decisions && i < len(files)-1 {
			return files[i].First, nil
		}
	}
	return files[0].First, nil
}
