package jobcase

import (
	"context"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/projector"
)

// FirstSpec returns the spec with which the Job was created, and its pod template as redacted JSON.
func (c *Case) FirstSpec() (*events.JobSpec, []byte) {
	spec := c.specNow()
	if len(c.Edits) > 0 {
		spec = c.Edits[0].Before
	}
	_, template := c.Contents(c.Ctx, c.firstSpecAt)
	return spec, template
}

func Number(v *int32) int32 {
	if v == nil {
		return 1
	}
	return *v
}

// SpecAt returns the spec as it was at record m; nil if unknown.
func (c *Case) SpecAt(m explain.Mark) *events.JobSpec {
	is := c.specNow()
	for i := len(c.Edits) - 1; i >= 0 && c.Edits[i].At.Record > m.Record; i-- {
		is = c.Edits[i].Before
	}
	return is
}

// Terms returns the Terms of c.Spec.
func (c *Case) Terms() (t projector.Terms) {
	if c.Folded != nil {
		_, t, _ = c.Folded.LastSpec()
	}
	return t
}

// Judged reports whether c.Spec is known, and is the spec by which the Job ended if it has ended (projector.LastSpec).
func (c *Case) Judged() bool {
	known := true
	if c.Folded != nil {
		_, _, known = c.Folded.LastSpec()
	}
	return c.Spec != nil && known
}

// NewestTTL returns ttlSecondsAfterFinished of the newest spec, which counts also when it was edited after the Job's
// end; nil for none.
func (c *Case) NewestTTL() *int32 {
	if spec := c.specNow(); spec != nil {
		return spec.TTLSecondsAfterFinished
	}
	return nil
}

// specNow returns the newest spec. It differs from c.Spec if the Job was edited after its end.
func (c *Case) specNow() *events.JobSpec {
	if c.Folded != nil {
		return c.Folded.Spec
	}
	return c.Spec
}

// content is a spec and its pod template, as one record has them. Jobs with equal templates share the record.
type content struct {
	spec     *events.JobSpec
	template []byte // JSON without secret values
}

// Contents returns the spec in record at, and its pod template as redacted JSON; nil if the log lacks them. It caches
// the result.
func (c *Case) Contents(ctx context.Context, at events.Sequence) (*events.JobSpec, []byte) {
	known, ok := c.stored[at]
	if !ok {
		known = c.readContents(ctx, at)
		if c.stored == nil {
			c.stored = map[events.Sequence]content{}
		}
		c.stored[at] = known
	}
	return known.spec, known.template
}

func (c *Case) readContents(ctx context.Context, at events.Sequence) content {
	if at == 0 {
		return content{}
	}
	r, err := history.Record(ctx, c.Src, at)
	if c.Miss(c.Src, err); err != nil {
		return content{}
	}
	spec, _ := r.Facts.(*events.JobSpec)
	for _, cause := range r.Causes {
		t, err := history.Record(ctx, c.Src, cause)
		if c.Miss(c.Src, err); err == nil && t.Kind == events.KindTemplateStored {
			return content{spec, t.Evidence.Template}
		}
	}
	return content{spec: spec}
}

// TemplateFor returns the redacted pod template from which try t (a pod) was created, and the record that has it; nil
// if the log lacks it.
func (c *Case) TemplateFor(t *try.Try) (template []byte, at events.Sequence) {
	for _, s := range c.specs {
		if at == 0 || s.from <= t.Seen.Record {
			at = s.at
		}
	}
	if at == 0 {
		return nil, 0
	}
	spec, err := history.Record(c.Ctx, c.Src, at)
	c.Miss(c.Src, err)
	for _, cause := range spec.Causes {
		r, err := history.Record(c.Ctx, c.Src, cause)
		if c.Miss(c.Src, err); err == nil && r.Kind == events.KindTemplateStored {
			return r.Evidence.Template, cause
		}
	}
	return nil, 0
}

// specSeen says which spec the Job had: the one in record at, from record from on.
type specSeen struct{ from, at events.Sequence }

func (c *Case) seeSpec(r *events.Record, at events.Sequence) {
	if n := len(c.specs); at != 0 && (n == 0 || c.specs[n-1].at != at) {
		c.specs = append(c.specs, specSeen{r.Sequence, at})
	}
}

// Deletion returns the first record that shows the Job as being deleted, or else as gone; none if it is neither.
func (c *Case) Deletion() explain.Mark {
	if c.deletedSeen.Record != 0 {
		return c.deletedSeen
	}
	return c.Gone
}

// SuspendedAt reports whether the Job was suspended (spec.suspend) at record m.
func (c *Case) SuspendedAt(m explain.Mark) bool {
	is := c.FirstSuspended()
	for i := range c.Edits {
		if c.Edits[i].At.Record <= m.Record {
			is = c.Edits[i].After.Suspend
		}
	}
	return is
}

// FirstSuspended reports whether the Job was suspended (spec.suspend) when it was first seen.
func (c *Case) FirstSuspended() bool {
	if len(c.Edits) > 0 {
		return c.Edits[0].Before.Suspend
	}
	spec := c.specNow()
	return spec != nil && spec.Suspend
}

func BackoffLimit(spec *events.JobSpec) int32 {
	if spec.BackoffLimit == nil {
		return 6 // the API's default
	}
	return *spec.BackoffLimit
}
