package explain

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

// hold is what keeps a Job from going on: a reason of the scheduler or the kubelet, or a refusal of its pods.
type hold struct {
	reason string
	class  events.RefusalClass
	says   string // the message, after liken
}

// others are Jobs that the same obstacle held up in the hour before.
type others struct {
	held  int
	freed []release // Jobs that went on
	marks []Mark    // the records that show the holds of the others
}

// release is how a held-up Job went on.
type release struct {
	job         string
	from, until Mark
	node        string // the node of its pod; empty if unknown
}

// holding returns what keeps the Job from going on at the point of the case, if the same can hold up other Jobs. A
// crash loop is the Job's own problem and does not count.
func (c *Case) holding() (hold, bool) {
	if c.over() || c.runningNow() > 0 {
		return hold{}, false
	}
	for _, g := range c.waiting() {
		if r := g[0].wait0().Reason; r != "CrashLoopBackOff" && slices.Contains(stuckWords, r) {
			return hold{reason: r, says: c.likened(g[0].wait0().Message)}, true
		}
	}
	for _, x := range c.refusals {
		if x.Over.Record == 0 && x.Kind == events.CommandCreatePod {
			return hold{class: x.Class, says: c.likened(x.Says)}, true
		}
	}
	return hold{}, false
}

// findFreed reads how other Jobs with the same obstacle fared: for a quota, Jobs of the same namespace; for an image
// that cannot be pulled, Jobs with the same image.
func (c *compared) findFreed(ctx context.Context) error {
	by, is := c.holding()
	if !is {
		return nil
	}
	q := history.JobsQuery{
		Limit: mostPeers + 1, Since: events.Time(c.Job.AsOf.Time).Add(-peerWindow), Continue: strconv.FormatUint(c.Job.AsOf.Sequence+1, 10),
	}
	if by.class == events.RefusedQuota {
		q.Namespace = c.Job.Namespace
	}
	page, err := c.src.Jobs(ctx, q)
	if err != nil && !c.src.Beside(err) {
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

// follow reads whether the same obstacle held up another Job, and how that Job went on.
func (c *compared) follow(ctx context.Context, s *history.Summary, by hold) error {
	r := release{job: s.Namespace + "/" + s.Name}
	since, n := events.Time(c.Job.AsOf.Time).Add(-peerWindow), 0
	var waits types.UID
	for rec, err := range c.src.ReadStream(ctx, events.JobStream(types.UID(s.UID)), 0, store.Forward) {
		if c.src.Beside(err) || uint64(rec.Sequence) > c.Job.AsOf.Sequence || n == mostPeerRecords || r.until.Record != 0 {
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
				r.from, waits = markOf(&rec), f.UID
			case f.UID == waits && f.Waiting == "" && !f.Phase.Terminal() && f.Deleted == 0:
				r.until, r.node = markOf(&rec), rec.Evidence.Node
			}
		case *events.CommandEnded:
			switch {
			case by.class == 0 || rec.Time < since || f.Type != events.CommandCreatePod:
			case f.Ending == events.Refused && f.Class == by.class && r.from.Record == 0 && by.same(rec.Evidence.Message, s.Name):
				r.from = markOf(&rec)
			case f.Ending == events.Done && r.from.Record != 0:
				r.until = markOf(&rec)
			}
		}
	}
	switch {
	case r.from.Record == 0:
		return nil
	case r.until.Record != 0:
		c.others.freed = append(c.others.freed, r)
	case len(c.others.marks) < mostCited:
		c.others.marks = append(c.others.marks, r.from)
	}
	c.others.held++
	return nil
}

// same reports whether another Job waits with the same message. Waits for images match without the message, which names
// an image in many ways: sameImage compares the images.
func (h hold) same(says, job string) bool { return h.pulls() || liken(says, job) == h.says }

// pulls reports whether the hold is a wait for an image.
func (h hold) pulls() bool {
	switch h.reason {
	case "ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull":
		return true
	}
	return false
}

// sameImage reports whether the pod template of a stored spec has an image of this Job.
func (c *compared) sameImage(ctx context.Context, specAt events.Sequence) bool {
	_, mine := c.firstSpec()
	_, theirs := c.contents(ctx, specAt)
	own := images(mine)
	for _, image := range images(theirs) {
		for _, x := range own {
			if image == x {
				return true
			}
		}
	}
	return false
}

// freedText says how other Jobs with the same obstacle fared: what freed them may free this one.
func (c *compared) freedText() []Sentence {
	o := c.others
	if o == nil || o.held == 0 {
		return nil
	}
	what := words.Count(o.held, "other Job")
	if len(o.freed) == 0 {
		return []Sentence{say(o.marks, "%s waited for the same in the hour before, and none went on", what)}
	}
	last := slices.MaxFunc(o.freed, func(a, b release) int { return int(int64(a.until.Record) - int64(b.until.Record)) })
	text := fmt.Sprintf("%s waited for the same in the hour before, %d went on: last %s at %s, after %s", what, len(o.freed), last.job,
		c.clock(last.until.At), words.Span(max(last.until.At.Sub(last.from.At), time.Millisecond)))
	if last.node != "" {
		text += ", on " + last.node
	}
	return []Sentence{say(marks(last.from, last.until), "%s", text)}
}
