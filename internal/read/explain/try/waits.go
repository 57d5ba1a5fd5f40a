package try

import (
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/say/words"
)

// WaitText returns the reason for which the pod does not run now, such as "Unschedulable"; empty if it does not wait.
func (t *Try) WaitText() string {
	if n := len(t.Waits); n > 0 && t.Waits[n-1].Until.Record == 0 {
		return t.Waits[n-1].Reason
	}
	return ""
}

// WaitsText returns the reason for which the pod does not run now, and the message; empty if it does not wait.
func (t *Try) WaitsText() explain.Passage {
	if t.WaitText() == "" {
		return explain.Passage{}
	}
	return t.WaitWords()
}

// ToldWait reports whether to mention the wait of a pod that never started: its reason does not pass by itself, or it
// took at least 5 s (WaitTold).
func (t *Try) ToldWait() bool {
	return StuckWords[t.LastWait().Reason] || t.End().At.Sub(t.Seen.At) >= WaitTold
}

// WaitWords returns the reason of the pod's newest wait, with the message.
func (t *Try) WaitWords() explain.Passage {
	w := t.LastWait()
	return explain.Phrase("%s%s", w.Word(), explain.Colon(w.Message))
}

// StuckWords are the waiting reasons of the scheduler and the kubelet that do not pass by themselves.
var StuckWords = map[string]bool{
	"Unschedulable": true, "SchedulingGated": true,
	"ImagePullBackOff": true, "ErrImagePull": true, "InvalidImageName": true, "ErrImageNeverPull": true,
	"CrashLoopBackOff":           true,
	"CreateContainerConfigError": true, "CreateContainerError": true, "RunContainerError": true,
}

// StuckFrom returns the record since which the pod is stuck. Two alternating reasons for an image that cannot be pulled
// count as one wait. So do the backoffs of a crashing container, with its short runs between them.
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

// SaidBy returns the record that has the message of the wait; none if there is no message.
func (w *Waiting) SaidBy() explain.Mark {
	if w.Message == "" {
		return explain.Mark{}
	}
	return w.Said
}

// LastWait returns the newest wait of the try.
func (t *Try) LastWait() *Waiting { return &t.Waits[len(t.Waits)-1] }

// WaitWord says, as a phrase, what the pod waits for. If it is a scheduling gate, it names the gate.
func (t *Try) WaitWord() string {
	if w := t.LastWait(); len(w.By) > 0 {
		return List(w.By, "(scheduling gate) holds it", "(scheduling gates) hold it")
	}
	return WaitWord(t.LastWait().Reason)
}

// WaitWord returns a phrase for a reason of the scheduler or the kubelet.
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

// WaitAt returns the wait of the pod at record at; nil if it did not wait then.
func (t *Try) WaitAt(at explain.Mark) *Waiting {
	for i := range t.Waits {
		if w := &t.Waits[i]; w.From.Record < at.Record && (w.Until.Record == 0 || w.Until.Record >= at.Record) {
			return w
		}
	}
	return nil
}

// RunsAt reports whether the pod had started before record at, and had not ended.
func (t *Try) RunsAt(at explain.Mark) bool {
	return t.Started.Record != 0 && t.Started.Record < at.Record && (!t.Over() || t.End().Record >= at.Record)
}

// Waiting is a reason for which a pod did not run, and when this was seen.
type Waiting struct {
	Reason, Message string
	By              []string // names of scheduling gates
	From            explain.Mark
	Said            explain.Mark // record that has the message
	Until           explain.Mark // record with which it ended; none while it lasts
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

// Word returns the reason of the wait. For scheduling gates, it names them.
func (w *Waiting) Word() string {
	if len(w.By) == 0 {
		return w.Reason
	}
	return w.Reason + " by " + strings.Join(w.By, ", ")
}

// WaitTold is how long a wait must last to be reported if its reason usually passes by itself, such as
// ContainerCreating.
const WaitTold = 5 * time.Second
