package explain_test

import (
	"fmt"
	"testing"

	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/subject/status"
)

// TestWhatBefellOthersToo: the answer about a Job that failed says how many others its cause befell, whatever that was,
// and how many of those succeeded all the same.
func TestWhatBefellOthersToo(t *testing.T) {
	const failed, complete = status.Failed, status.Complete
	type goes func(j *sceneJob, at func(string) string, name, ends string)
	disrupted := func(reason string) goes {
		return func(j *sceneJob, at func(string) string, name, ends string) {
			p := j.pod(at("03"), name, nil).runs(at("04"), "node-1")
			p.see(at("10"), func(p *scenePod) { p.disrupted(reason, "said", at("10")) })
			p.deleted(at("10"), 1)
			p.fails(at("11"), 143, "")
			p.counted(at("12"))
			reasons := map[string]string{failed: "BackoffLimitExceeded", complete: "CompletionsReached"}
			j.ends(at("20"), ends, reasons[ends], "")
		}
	}
	waited := func(word string) goes {
		return func(j *sceneJob, at func(string) string, name, ends string) {
			p := j.pod(at("03"), name, waits(word, "main", "not found"))
			if ends == complete {
				p.runs(at("18"), "node-1").succeeds(at("19"))
				p.counted(at("19"))
				j.ends(at("20"), complete, "CompletionsReached", "")
				return
			}
			j.ends(at("20"), failed, "DeadlineExceeded", "Job was active longer than specified deadline")
		}
	}
	const evicts = "EvictionByEvictionAPI"
	for name, row := range map[string]struct {
		goes, others goes
		ends         []string // of the others
		says, not    []string
	}{
		"evicted, as others": {disrupted(evicts), disrupted(evicts), []string{failed, complete, complete},
			[]string{"of 3 other Jobs around then: eviction API in 3 of them; 2 of these succeeded"}, nil},
		"preempted, and nobody else": {disrupted("PreemptionByScheduler"), disrupted(evicts), []string{failed},
			nil, []string{"none of them", "eviction API in", "around then"}},
		"its node went, and all others survived that": {
			disrupted("DeletionByPodGC"), disrupted("DeletionByPodGC"), []string{complete, complete},
			[]string{"of 2 other Jobs around then: node gone in 2 of them, and none of these failed"}, nil,
		},
		"an image that is not there": {waited("ImagePullBackOff"), waited("ErrImagePull"), []string{failed, complete},
			[]string{"of 2 other Jobs around then: ImagePullBackOff in 2 of them; 1 of these succeeded"}, nil},
		"a configuration that is not there": {
			waited("CreateContainerConfigError"), waited("ErrImagePull"), []string{complete},
			nil, []string{"none of them", "around then"},
		},
	} {
		for mode, ours := range map[string]bool{"ours": true, "observed": false} {
			t.Run(name+", "+mode, func(t *testing.T) {
				l := newScene(t, ours)
				var j *sceneJob
				for i := range len(row.ends) + 1 { // the last is the one that is asked about
					at := func(second string) string { return fmt.Sprintf("09:%02d:%s", i, second) }
					j = l.job(at("00"), fmt.Sprint("job", i), "{}", func(j *sceneJob) {
						j.spec.ActiveDeadlineSeconds = new(int64(18))
					})
					j.starts(at("01"))
					if i == len(row.ends) {
						row.goes(j, at, "mine", failed)
					} else {
						row.others(j, at, fmt.Sprint("other", i), row.ends[i])
					}
				}
				c, err := job.Read(t.Context(), l.source(), j.of, history.Point{})
				if err != nil {
					t.Fatal(err)
				}
				if err := c.Compare(t.Context()); err != nil {
					t.Fatal(err)
				}
				a, says := c.Answer(), ""
				for _, s := range a.Sections {
					if s.Head == "ALSO" {
						says = s.Sentences[0].Text
					}
				}
				hold(t, says, row.says, row.not)
				l.judged()
			})
		}
	}
}
