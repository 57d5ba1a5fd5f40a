package loop

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// meetRival handles split brain: it records that another controller works on our Jobs. From then on no command is sent.
// A later run records that the other controller is gone, once it has seen no act of it for projector.RivalQuiet.
func (l *Loop) meetRival(b *batch) {
	if over := l.world.RivalOver(); over != 0 && b.time >= over {
		l.put(b, controllerDraft(events.KindRivalGone, &events.RivalGone{}))
		l.resume(b)
		return
	}
	acts := l.world.RivalProven()
	if acts == nil {
		return
	}
	d := controllerDraft(events.KindRivalFound, &events.RivalFound{Acts: acts})
	d.Evidence.Sentence = l.accuse(acts)
	l.put(b, d)
	l.rival = d.Evidence.Sentence
	l.giveBackWaiting(b) // the executor is stopped, and withdraws the tasks that it has
}

// Rival says, in words for the operator, why nothing is decided because of another controller that works on our Jobs;
// empty if none was found.
func (l *Loop) Rival() string {
	switch {
	case l.rival != "":
		return l.rival
	case l.world.Rival.Found:
		return "the last run found kube-controller-manager at work on the same Jobs: nothing is done until it has done nothing for a minute"
	}
	return ""
}

// Halted reports whether this run has found another controller, so that it may send no command any more.
func (l *Loop) Halted() bool { return l.rival != "" }

// accuse returns an error message for the operator, with the acts of the other controller.
func (l *Loop) accuse(acts []events.RivalAct) string {
	var parts []string
	for _, a := range acts {
		what := "it wrote the status of " + l.nameOf(a.Job)
		if a.Pod != "" {
			what = "it made a pod of " + l.nameOf(a.Job)
		}
		parts = append(parts, fmt.Sprintf("%s at %s", what, a.At.Go().UTC().Format("15:04:05Z")))
	}
	return "kube-controller-manager runs the same Jobs: " + strings.Join(parts, ", ") +
		". Two controllers make too many pods and count them twice, so nothing more is done here. " +
		"Turn off its job-controller, or run this with --manage=delegated; then restart"
}

func (l *Loop) nameOf(job types.UID) string {
	ref := l.world.RefOf(events.JobStream(job))
	if ref.Name == "" {
		return "Job " + string(job)
	}
	return "Job " + ref.Namespace + "/" + ref.Name
}
