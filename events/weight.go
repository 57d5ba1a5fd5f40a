package events

// Weight estimates the size of the record's stored form in bytes, at a tenth of the cost of encoding it. It counts the
// lengths of texts and lists; for the other fields it uses averages.
func Weight(r *Record) int {
	return 45 + 4*len(r.Causes) + evidenceWeight(&r.Evidence) + factsWeight(r.Facts)
}

const (
	saltWeight = 18 // bytes of the salt that comes with facts or evidence
	uidWeight  = 18
)

func evidenceWeight(e *Evidence) int {
	n := 0
	for _, s := range []string{e.Namespace, e.Name, e.Node, e.Reason, e.Message, e.Sentence, e.Owner} {
		n += textWeight(s)
	}
	for i := range e.Containers {
		c := &e.Containers[i]
		n += 18 + textWeight(c.Name) + textWeight(c.Reason) + textWeight(c.Message)
	}
	for i := range e.Conditions {
		c := &e.Conditions[i]
		n += 8 + textWeight(c.Type) + textWeight(c.Status) + textWeight(c.Reason) + textWeight(c.Message)
	}
	for i := range e.Waits {
		w := &e.Waits[i]
		n += 2 + textWeight(w.Name) + textWeight(w.Reason) + textWeight(w.Message)
	}
	for _, names := range [][]string{e.Finalizers, e.Gates, e.StillRun} {
		for _, name := range names {
			n += textWeight(name)
		}
	}
	for _, name := range e.Admitted {
		n += 3 + len(name)
	}
	if o := e.Origin; o != nil {
		n += uidWeight + len(o.Kind) + len(o.Name) + len(o.GenerateName) + len(o.Traceparent)
		for _, l := range o.Labels {
			n += 6 + len(l.Name) + len(l.Value)
		}
	}
	if e.Edit != nil {
		n += 10 + len(e.Edit.Manager) + len(e.Edit.Operation)
	}
	if n += len(e.Template) + len(e.State); n > 0 {
		n += saltWeight
	}
	return n
}

func textWeight(s string) int {
	if s == "" {
		return 0
	}
	return 2 + len(s)
}

// factsWeight returns the estimated size of the facts in bytes; an average for types without a method weight.
func factsWeight(f Facts) int {
	if f == nil {
		return 0
	}
	if own, ok := f.(interface{ weight() int }); ok {
		return own.weight()
	}
	return saltWeight + 25
}

func (*TimerFired) weight() int    { return 0 }
func (*JobResumed) weight() int    { return 0 }
func (f *StoredState) weight() int { return saltWeight + len(f.Encoded) }
func (f *Unknown) weight() int     { return saltWeight + len(f.Bytes) }
func (f *JobTemplate) weight() int { return saltWeight + 5 + len(f.Hash) }
func (f *ZoneRules) weight() int   { return saltWeight + 10 + len(f.Name) + len(f.TZif) }
func (f *RunSeen) weight() int     { return saltWeight + 60 + len(f.Name) }

func (f *JobRetired) weight() int {
	if *f == (JobRetired{}) {
		return 0
	}
	return saltWeight + 26 + len(f.Reason)
}

func (f *PodSeen) weight() int {
	n := saltWeight + 63 + uidWeight*len(f.Candidates) + len(f.Maker)/2 + textWeight(f.Waiting)
	for _, x := range f.Exits {
		n += 6 + textWeight(x.Name)
	}
	for _, c := range f.Conditions {
		n += 2 + textWeight(c.Type) + textWeight(c.Status)
	}
	return n
}

func (f *JobSeen) weight() int {
	return saltWeight + 40 + len(f.Spec) + textWeight(f.ManagedBy) + statusWeight(f.Status)
}

func (f *JobSpec) weight() int {
	return saltWeight + 40 + len(f.Hash) + len(f.Template) + textWeight(f.Selector) + textWeight(f.PodFailurePolicy) +
		textWeight(f.SuccessPolicy)
}

func (f *JobPolicies) weight() int {
	return saltWeight + 6 + len(f.Hash) + textWeight(f.Selector) + textWeight(f.PodFailurePolicy) +
		textWeight(f.SuccessPolicy)
}

func (f *Decision) weight() int {
	n := saltWeight + 10
	for i := range f.Steps {
		s := &f.Steps[i]
		n += 4 + textWeight(s.Stage) + textWeight(s.Rule) + textWeight(string(s.Reason)) + textWeight(s.Sentence)
		for _, c := range s.Commands {
			n += commandWeight(c)
		}
		n += cronWeight(s.Cron)
	}
	return n
}

func statusWeight(s *JobStatus) int {
	if s == nil {
		return 0
	}
	n := 20 + len(s.CompletedIndexes) + uidWeight*(len(s.UncountedSucceeded)+len(s.UncountedFailed))
	if s.FailedIndexes != nil {
		n += textWeight(*s.FailedIndexes)
	}
	return n + conditionsWeight(s.Conditions)
}

func conditionsWeight(all []JobCondition) int {
	n := 0
	for i := range all {
		c := &all[i]
		n += 24 + len(c.Type) + len(c.Status) + len(c.Reason) + len(c.Message)
	}
	return n
}

// commandWeight returns the estimated size of the command in bytes; an average for types without a method weight.
func commandWeight(c Command) int {
	if own, ok := c.(interface{ weight() int }); ok {
		return own.weight()
	}
	return 6 + uidWeight
}
