package explain_test

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/subject/status"
)

// TestTheVerdictNamesWhyAKubeletEndedATry: the first line of an answer has the cause that the log has, of a pod that
// its node ended, for want of something or by a limit of the pod's own: the deadline with its value, if that is known.
func TestTheVerdictNamesWhyAKubeletEndedATry(t *testing.T) {
	const low = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 80Mi. "
	ended := func(reason, message string) func(p *scenePod, clock string) {
		return func(p *scenePod, clock string) {
			p.f.Finished, p.e.Running, p.e.Reason, p.e.Message = cronClock(clock), 0, reason, message
		}
	}
	disrupted := func(message string) func(p *scenePod, clock string) {
		return func(p *scenePod, clock string) {
			p.disrupted("TerminationByKubelet", message, clock)
			ended("Terminated", "")(p, clock)
		}
	}
	const template = `{"spec":{"activeDeadlineSeconds":5,"containers":[{"name":"main","image":"app:1"}]}}`
	const long = "Pod was active on the node longer than the specified deadline"
	type ends = []func(*scenePod, string)
	late := ends{ended("DeadlineExceeded", long)}
	for name, row := range map[string]struct {
		template  string
		admitted  []string
		ends      []func(p *scenePod, clock string) // of each try
		says, not []string
	}{
		"its node lacked memory": {template, nil, ends{disrupted(low)},
			[]string{"its only try was terminated by the kubelet of node-1 (The node was low on resource: memory); backoffLimit is 0"}, nil},
		"and nothing says so": {template, nil, ends{disrupted("")},
			[]string{"its only try was terminated by the kubelet of node-1 (Terminated); backoffLimit is 0"}, nil},
		"without a condition": {template, nil, ends{ended("Evicted", low)},
			[]string{"its only try failed on node-1 (Evicted: The node was low on resource: memory); backoffLimit is 0"}, nil},
		"two, for two reasons": {
			template, nil, ends{disrupted(low), disrupted("Pod was terminated in response to imminent node shutdown.")},
			[]string{"both tries were terminated by the kubelet (the first: The node was low on resource: memory); "}, nil,
		},
		"over a limit of its own": {
			template, nil, ends{ended("Evicted", "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ")},
			[]string{"failed (Evicted: Pod ephemeral local storage usage exceeds the total limit of containers 1Gi); "}, nil,
		},
		"by its own deadline": {template, nil, late,
			[]string{"its only try ran longer than its own activeDeadlineSeconds (5 s in its template); ",
				"FIRST the pod's own activeDeadlineSeconds passed (5 s in its template), after at most"}, nil},
		"by one of which nothing is known": {`{"spec":{"containers":[{"name":"main"}]}}`, nil,
			late,
			[]string{"its only try ran longer than its own activeDeadlineSeconds; backoffLimit is 0"}, nil},
		"by one that admission set": {template, []string{"activeDeadlineSeconds"},
			late,
			[]string{"its only try ran longer than its own activeDeadlineSeconds (admission changed it); "},
			[]string{"5 s in its template"}},
	} {
		for mode, ours := range map[string]bool{"ours": true, "observed": false} {
			t.Run(name+", "+mode, func(t *testing.T) {
				l := newScene(t, ours)
				j := l.job("09:00:00", "etl", row.template, func(j *sceneJob) {
					j.spec.BackoffLimit = new(int32(len(row.ends) - 1))
				})
				j.starts("09:00:01")
				for i, end := range row.ends {
					clocks := [][3]string{{"09:00:02", "09:00:03", "09:00:06"}, {"09:00:07", "09:00:08", "09:00:09"}}[i]
					p := j.pod(clocks[0], "x"+string(rune('1'+i)), func(p *scenePod) { p.e.Admitted = row.admitted })
					p.runs(clocks[1], "node-1")
					p.see(clocks[2], func(p *scenePod) {
						p.f.Phase = events.PodFailed
						end(p, clocks[2])
					})
					p.counted(clocks[2])
				}
				j.ends("09:00:11", status.Failed, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
				c, err := job.Read(t.Context(), l.source(), j.of, history.Point{})
				if err != nil {
					t.Fatal(err)
				}
				a := c.Answer()
				says := a.Verdict.Text
				for _, s := range a.Sections {
					for _, x := range s.Sentences {
						says += "\n" + s.Head + " " + x.Text
					}
				}
				hold(t, says, row.says, row.not)
				l.judged()
			})
		}
	}
}
