package job

import (
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/deletion"
	"github.com/jobledger/jobledger/internal/read/explain/failing"
	"github.com/jobledger/jobledger/internal/read/explain/late"
	"github.com/jobledger/jobledger/internal/read/explain/spent"
	"github.com/jobledger/jobledger/internal/read/explain/stuck"
	"github.com/jobledger/jobledger/internal/read/explain/verdicts"
)

// Answer explains the Job: it returns a verdict, and the sections that have sentences.
func (c *Case) Answer() explain.Answer {
	j := &c.Job
	a := explain.Answer{
		Kind: "job", Namespace: j.Namespace, Name: j.Name, UID: j.UID, AsOf: j.AsOf, Clock: j.Clock, LastRecord: j.LastRecord,
		State:   string(j.State),
		Created: j.Created, Finished: j.Finished, Lives: c.Lives, InPart: j.InPart(), Truncated: c.Truncated(),
		Damaged: uint64(c.Damage), Resumed: uint64(c.Resumed),
		Sections: []explain.Section{},
	}
	for _, g := range c.Touching() {
		a.Gaps = append(a.Gaps, *g)
	}
	a.PassedOver, a.Unrecorded = c.PassedOver(), c.Unrecorded.Versions
	a.Verdict, a.Begun = verdicts.Of(c.Case), c.BegunBefore()
	if s, ok := deletion.Removal(c.Case); ok {
		a.Deleted = &s
	}
	a.Add(headTick, c.tick()...)
	a.Add(explain.HeadWhy, c.why()...)
	if !c.Over() {
		a.Add(explain.HeadWaits, stuck.WaitsFor(c.Case, c.beside.FreedText())...)
	}
	a.Add(explain.HeadWaited, append(stuck.Lacked(c.Case, false), stuck.Waited(c.Case)...)...)
	a.Add(explain.HeadFirst, failing.First(c.Case, a.Verdict.Text)...)
	a.Add(explain.HeadAlike, failing.Alike(c.Case)...)
	a.Add(explain.HeadRefused, c.refusedText()...)
	a.Add(explain.HeadEdits, c.edited()...)
	deletion.AddPods(c.Case, &a)
	a.Add(explain.HeadAdmitted, c.admission()...)
	a.Add(explain.HeadChanged, c.beside.Changed()...)
	a.Add(explain.HeadAlso, c.beside.Also()...)
	a.Add(explain.HeadTime, append(spent.Section(c.Case), late.Of(c.Case)...)...)
	a.Add(explain.HeadClose, c.close()...)
	a.Add(explain.HeadRuledOut, c.ruledOut()...)
	a.Add(explain.HeadHistory, c.history()...)
	a.PutFirst(c.leads()...)
	return a
}
