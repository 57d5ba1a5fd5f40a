package explain

import (
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
)

// half is a running pod with containers that have ended for good. It does not end before the others do. The pod may be
// well, or wait for a sidecar that nobody stops: the log does not show which container does the work.
type half struct {
	try  *Try
	text string // "main ended with 0 at 22:42:43 and istio-proxy runs on"
	from []Mark
}

// halves returns the pods of the Job that are half done.
func (c *Case) halves() (out []half) {
	for _, t := range c.Tries {
		if h, is := c.halfDone(t); is {
			out = append(out, h)
		}
	}
	return out
}

// halfDone reports whether a pod is half done, and describes it.
func (c *Case) halfDone(t *Try) (h half, is bool) {
	waits := len(t.Waits) > 0 && t.Waits[len(t.Waits)-1].Until.Record == 0
	if t.over() || t.AskedSeen.Record != 0 || t.Phase != events.PodRunning || waits {
		return h, false
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
		return h, false
	}
	from := marks(t.Shown)
	if t.Newest != t.Shown { // the newest record names the containers that run on
		from = append(from, t.Newest)
	}
	return half{t, strings.Join(done, ", ") + " and " + list(on, "runs on", "run on"), from}, true
}

// runningBeside returns the containers that still run, from the pod's record, otherwise from the Job's pod template.
func (c *Case) runningBeside(t *Try, ended []string) []string {
	if len(t.StillRun) > 0 {
		return t.StillRun
	}
	_, template := c.firstSpec()
	return slices.DeleteFunc(regulars(template), func(name string) bool { return slices.Contains(ended, name) })
}
