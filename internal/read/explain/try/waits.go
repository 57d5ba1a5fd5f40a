package try

import (
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/say/words"
)

// WaitText returns the reason for which a try waits now; empty if it does not wait.
func (t *Try) WaitText() string {
	if n := len(t.Waits); n > 0 && t.Waits[n-1].Until.Record == 0 {
		return t.Waits[n-1].Reason
	}
	return ""
}

// WaitsText returns waitText with its message.
func (t *Try) WaitsText() explain.Passage {
	if t.WaitText() == "" {
		return explain.Passage{}
	}
	return t.WaitWords()
}

// ToldWait reports whether the wait of a try that never started is worth telling: its reason does not pass by itself,
// or it took at least waitTold.
func (t *Try) ToldWait() bool {
	return StuckWords[t.LastWait().Reason] || t.End().At.Sub(t.Seen.At) >= WaitTold
}

// WaitWords returns the newest wait of a try and its message.
func (t *Try) WaitWords() explain.Passage {
	w := t.LastWait()
	return explain.Phrase("%s%s", w.Word(), explain.Colon(w.Message))
}

// StuckWords are the waiting reasons of the scheduler and the kubelet that do not end by themselves.
var StuckWords = map[string]bool{
	"Unschedulable": true, "SchedulingGated": true,
	"ImagePullBackOff": true, "ErrImagePull": true, "InvalidImageName": true, "ErrImageNeverPull": true,
	"CrashLoopBackOff":           true,
	"CreateContainerConfigError": true, "CreateContainerError": true, "RunContainerError": true,
}

// StuckFrom returns since when the try is stuck. It covers the alternation of two reasons for an image that cannot be
// pulled, and the runs of a crashing container.
func (t *Try) StuckFrom() explain.Mark {
	if t.CrashedAt.Record != 0 {
		return t.CrashedAt
	}
	from := t.LastWait().From
	for i := len(t.Waits) - 2; i >= 0 && t.Waits[i].Until == from && StuckWords[t.Waits[i].Reason]; i-- {
		from = t.Waits[i].From
	}
	return from
}

// SaidBy returns the record that has the message; none without a message.
func (w *Waiting) SaidBy() explain.Mark {
	if w.Message == "" {
		return explain.Mark{}
	}
	return w.Said
}

// LastWait returns the newest wait of the try.
func (t *Try) LastWait() *Waiting { return &t.Waits[len(t.Waits)-1] }

// WaitWord says what the try waits for; it names a scheduling gate.
func (t *Try) WaitWord() string {
	if w := t.LastWait(); len(w.By) > 0 {
		return List(w.By, "(scheduling gate) holds it", "(scheduling gates) hold it")
	}
	return WaitWord(t.LastWait().Reason)
}

// WaitWord translates a reason of the scheduler or the kubelet for people.
func WaitWord(reason string) string {
	switch reason {
	case "Unschedulable":
		return "cannot be scheduled"
	case "SchedulingGated":
		return "a scheduling gate holds it"
	case "ImagePullBackOff", "ErrImagePull":
		return "the image cannot be pulled (" + reason + ")"
	case "PodInitializing":
		return "its init containers have not ended, or an image behind them is not there (PodInitializing)"
	case "CrashLoopBackOff":
		return "its container crashes again and again (CrashLoopBackOff)"
	}
	return reason
}

// WaitAt returns the recorded wait of the try at a record; nil for none.
func (t *Try) WaitAt(at explain.Mark) *Waiting {
	for i := range t.Waits {
		if w := &t.Waits[i]; w.From.Record < at.Record && (w.Until.Record == 0 || w.Until.Record >= at.Record) {
			return w
		}
	}
	return nil
}

// RunsAt reports whether the try had started before a record and was not over then.
func (t *Try) RunsAt(at explain.Mark) bool {
	return t.Started.Record != 0 && t.Started.Record < at.Record && (!t.Over() || t.End().Record >= at.Record)
}

// Waiting is a reason for which a pod did not run, and the period in which it was seen.
type Waiting struct {
	Reason, Message string
	By              []string // names of scheduling gates
	From            explain.Mark
	Said            explain.Mark // the record that has the message
	Until           explain.Mark // none while it lasts
	Sandbox         events.Sandbox
}

func (t *Try) wait(r *events.Record, f *events.PodSeen) {
	last := len(t.Waits) - 1
	open := last >= 0 && t.Waits[last].Until.Record == 0
	if open && t.Waits[last].Reason == f.Waiting {
		w := &t.Waits[last]
		if m := words.WaitMessage(f, &r.Evidence); m != "" && m != w.Message || f.Sandbox != w.Sandbox {
			w.Message, w.Said, w.Sandbox = m, explain.MarkOf(r), f.Sandbox
		}
		return
	}
	if open {
		t.Waits[last].Until = explain.MarkOf(r)
	}
	if f.Waiting != "" {
		t.Waits = append(t.Waits, Waiting{
			Reason: f.Waiting, Message: words.WaitMessage(f, &r.Evidence), By: r.Evidence.Gates, From: explain.MarkOf(r),
			Said: explain.MarkOf(r), Sandbox: f.Sandbox,
		})
	}
}

// Word returns the reason, with the names of scheduling gates.
func (w *Waiting) Word() string {
	if len(w.By) == 0 {
		return w.Reason
	}
	return w.Reason + " by " + strings.Join(w.By, ", ")
}

// WaitTold is the minimum length of a wait that is reported for a reason that usually passes by itself, such as
// ContainerCreating.
const WaitTold = 5 * time.Second
