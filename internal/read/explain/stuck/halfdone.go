package stuck

import (
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
)

// Half is a running pod in which some containers have ended for good. The pod ends only when the other containers do.
// It may be fine, or wait for a sidecar that nobody stops: the log does not show which container does the work.
type Half struct {
	try  *try.Try
	Text string // "main ended with 0 at 22:42:43 and istio-proxy runs on"
	From []explain.Mark
}

// Halves returns the running pods of the Job in which some containers have ended for good.
func Halves(c *jobcase.Case) (out []Half) {
	for _, t := range c.Tries {
		if h, is := HalfDone(c, t); is {
			out = append(out, h)
		}
	}
	return out
}

// HalfDone reports whether a running pod has containers that have ended for good, and describes the pod.
func HalfDone(c *jobcase.Case, t *try.Try) (h Half, is bool) {
	waits := len(t.Waits) > 0 && t.Waits[len(t.Waits)-1].Until.Record == 0
	if t.Over() || t.AskedSeen.Record != 0 || t.Phase != events.PodRunning || waits {
		return h, false
	}
	var done, ended []string
	for _, k := range t.Containers {
		if k.Kind != events.RegularContainer || k.Again || k.Lost() {
			continue
		}
		ended = append(ended, k.Name)
		how := try.ExitOf(&k)
		if k.ExitCode == 0 {
			how = k.Name + " ended with 0"
		}
		done = append(done, how+c.AtClock(k.Finished))
	}
	on := runningBeside(c, t, ended)
	if len(done) == 0 || len(on) == 0 {
		return h, false
	}
	from := explain.Marks(t.Shown)
	if t.Newest != t.Shown { // if a newer record names the containers that still run, cite it, too
		from = append(from, t.Newest)
	}
	return Half{t, strings.Join(done, ", ") + " and " + try.List(on, "runs on", "run on"), from}, true
}

// runningBeside returns the containers of pod t that still run, other than those in ended. It takes them from the pod's
// record, or if that does not name them, from the Job's pod template.
func runningBeside(c *jobcase.Case, t *try.Try, ended []string) []string {
	if len(t.StillRun) > 0 {
		return t.StillRun
	}
	_, template := c.FirstSpec()
	return slices.DeleteFunc(jobcase.Regulars(template), func(name string) bool { return slices.Contains(ended, name) })
}
