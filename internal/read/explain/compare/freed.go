package compare

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/stuck"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

// hold is the obstacle that keeps a Job's pods from running: a reason of the scheduler or the kubelet, or a refusal of
// the API server.
type hold struct {
	reason string
	class  events.RefusalClass
	says   string // the message, without names and numbers (explain.Liken)
}

// others are the Jobs that the same obstacle held up in the hour before the time of the answer.
type others struct {
	held  int
	freed []release      // those of them that could run in the end
	marks []explain.Mark // records that show the obstacle of these Jobs
}

// release says how a Job that was held up could run in the end.
type release struct {
	job         string
	from, until explain.Mark
	node        string // the node of its pod; empty if unknown
}

// holding returns the obstacle that keeps the Job's pods from running; false if there is none, or if other Jobs cannot
// have the same one, as with a crash loop.
func holding(c *jobcase.Case) (hold, bool) {
	if c.Over() || stuck.RunningNow(c) > 0 {
		return hold{}, false
	}
	for _, g := range stuck.Waiting(c) {
		if r := g[0].LastWait().Reason; r != "CrashLoopBackOff" && try.StuckWords[r] {
			return hold{reason: r, says: c.Likened(g[0].LastWait().Message)}, true
		}
	}
	for _, x := range c.Refusals {
		if x.Over.Record == 0 && x.Kind == events.CommandCreatePod {
			return hold{class: x.Class, says: c.Likened(x.Says)}, true
		}
	}
	return hold{}, false
}

// findFreed reads how other Jobs with the same obstacle went on. For a quota it reads Jobs in the same namespace; for
// an image that cannot be pulled, Jobs with the same image.
func (c *Jobs) findFreed(ctx context.Context) error {
	by, is := holding(c.Case)
	if !is {
		return nil
	}
	q := history.JobsQuery{
		Limit: mostPeers + 1, Since: events.Time(c.Job.AsOf.Time).Add(-peerWindow),
		Continue: strconv.FormatUint(c.Job.AsOf.Sequence+1, 10),
	}
	if by.class == events.RefusedQuota {
		q.Namespace = c.Job.Namespace
	}
	page, err := c.Src.Jobs(ctx, q)
	if err != nil && !c.Src.Beside(err) {
		return fmt.Errorf("look for Jobs that wait for the same: %w", err)
	}
	c.others = &others{}
	for i := range page.Items {
		s := &page.Items[i]
		if s.UID == c.Job.UID || i == mostPeers {
			continue
		}
		if err := c.follow(ctx, s, by); err != nil {
			return err
		}
	}
	return nil
}

// follow reads the records of another Job, s. It notes whether the same obstacle (parameter by) held that Job up, too,
// and how the Job could run in the end.
func (c *Jobs) follow(ctx context.Context, s *history.Summary, by hold) error {
	r := release{job: s.Namespace + "/" + s.Name}
	since, n := events.Time(c.Job.AsOf.Time).Add(-peerWindow), 0
	var waits types.UID
	for rec, err := range c.Src.ReadStream(ctx, events.JobStream(types.UID(s.UID)), 0, store.Forward) {
		if c.Src.Beside(err) || uint64(rec.Sequence) > c.Job.AsOf.Sequence || n == mostPeerRecords || r.until.Record != 0 {
			break
		}
		if err != nil {
			return err
		}
		n++
		switch f := rec.Facts.(type) {
		case *events.JobSeen:
			if by.pulls() && r.from.Record == 0 && f.SpecAt != 0 && !c.sameImage(ctx, f.SpecAt) {
				return nil
			}
		case *events.PodSeen:
			switch {
			case by.reason == "" || rec.Time < since:
			case f.Waiting == by.reason && r.from.Record == 0 && by.same(words.WaitMessage(f, &rec.Evidence), s.Name):
				r.from, waits = explain.MarkOf(&rec), f.UID
			case f.UID == waits && f.Waiting == "" && !f.Phase.Terminal() && f.Deleted == 0:
				r.until, r.node = explain.MarkOf(&rec), rec.Evidence.Node
			}
		case *events.CommandEnded:
			switch {
			case by.class == 0 || rec.Time < since || f.Type != events.CommandCreatePod:
			case f.Ending == events.Refused && f.Class == by.class && r.from.Record == 0 && by.same(rec.Evidence.Message,
				s.Name):
				r.from = explain.MarkOf(&rec)
			case f.Ending == events.Done && r.from.Record != 0:
				r.until = explain.MarkOf(&rec)
			}
		}
	}
	switch {
	case r.from.Record == 0:
		return nil
	case r.until.Record != 0:
		c.others.freed = append(c.others.freed, r)
	case len(c.others.marks) < explain.MostCited:
		c.others.marks = append(c.others.marks, r.from)
	}
	c.others.held++
	return nil
}

// same reports whether a message about another Job, job, is about the same obstacle: equal, apart from names and
// numbers. It does not compare messages about images, which can be worded in many ways; sameImage compares the images
// instead.
func (h hold) same(says, job string) bool { return h.pulls() || explain.Liken(says, job) == h.says }

// pulls reports whether the obstacle is an image that cannot be pulled.
func (h hold) pulls() bool {
	switch h.reason {
	case "ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull":
		return true
	}
	return false
}

// sameImage reports whether the spec in record specAt has one of this Job's images.
func (c *Jobs) sameImage(ctx context.Context, specAt events.Sequence) bool {
	_, mine := c.FirstSpec()
	_, theirs := c.Contents(ctx, specAt)
	own := jobcase.Images(mine)
	for _, image := range jobcase.Images(theirs) {
		for _, x := range own {
			if image == x {
				return true
			}
		}
	}
	return false
}

// FreedText says how other Jobs with the same obstacle could run in the end, because the same may help this Job.
func (c *Jobs) FreedText() []explain.Sentence {
	o := c.others
	if o == nil || o.held == 0 {
		return nil
	}
	what := words.Count(o.held, "other Job")
	if len(o.freed) == 0 {
		return []explain.Sentence{explain.Say(o.marks, "%s waited for the same in the hour before, and none went on", what)}
	}
	last := slices.MaxFunc(o.freed, func(a, b release) int { return int(int64(a.until.Record) - int64(b.until.Record)) })
	text := fmt.Sprintf("%s waited for the same in the hour before, %d went on: last %s at %s, after %s", what,
		len(o.freed), last.job,
		c.Clock(last.until.At), words.Span(max(last.until.At.Sub(last.from.At), time.Millisecond)))
	if last.node != "" {
		text += ", on " + last.node
	}
	return []explain.Sentence{explain.Say(explain.Marks(last.from, last.until), "%s", text)}
}
