package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
)

// halfDone says of a pod that goes on that containers of it have ended, and for which it runs on: a container that failed beside others that
// run, or, in a log that does not name the ones that run, any. (What has ended with 0 beside others is told by outlivedText.)
func (c *Case) halfDone(t *Try) (text string, is bool) {
	waits := len(t.Waits) > 0 && t.Waits[len(t.Waits)-1].Until.Record == 0
	if t.over() || t.AskedSeen.Record != 0 || t.Phase != events.PodRunning || waits || len(t.StillRun) > 0 && t.ended0() != nil {
		return "", false
	}
	var done, ended []string
	for _, k := range t.Containers {
		if k.Kind != events.RegularContainer || k.Again || k.Lost() {
			continue
		}
		ended = append(ended, k.Name)
		how := exitOf(&k)
		if k.ExitCode == 0 {
			how = k.Name + " ended with 0"
		}
		done = append(done, how+c.atClock(k.Finished))
	}
	on := c.runningBeside(t, ended)
	if len(done) == 0 || len(on) == 0 {
		return "", false
	}
	return fmt.Sprintf("%s; the pod runs on for %s", strings.Join(done, ", "), strings.Join(on, ", ")), true
}

// runningBeside are the containers that run beside those that have ended, as the pod's record or else the Job's pod template has them.
func (c *Case) runningBeside(t *Try, ended []string) []string {
	if len(t.StillRun) > 0 {
		return t.StillRun
	}
	_, template := c.firstSpec()
	return slices.DeleteFunc(regulars(template), func(name string) bool { return slices.Contains(ended, name) })
}

// halvesDone are the pods that go on for some of their containers.
func (c *Case) halvesDone() (out []Sentence) {
	for _, t := range c.Tries {
		if text, is := c.halfDone(t); is {
			out = append(out, say(marks(t.Shown), "%s: %s", t.Pod, text))
		}
	}
	return out
}
